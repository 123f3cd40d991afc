public import EspalierModels
public import EspalierRecords

// The feed as models whose conformance to `NormalizedModel` is written by hand, as `@Normalized`
// would write it: the tool must not depend on the macro. Only conversions use that they are
// `Codable`.

/// A feed as the benchmarks store it: 601 nodes if it has 100 posts.
public struct HandWrittenFeed: NormalizedModel, Codable, Sendable {
    public let id, title: String
    public let posts: [HandWrittenPost]
    public var modelIdentifier: String? { "Feed:\(id)" }
    public var projectionIdentifier: String { "Feed" }

    public init(id: String, title: String, posts: [HandWrittenPost]) {
        self.id = id
        self.title = title
        self.posts = posts
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "title", "posts"])
        try encoder.encode(id, forKey: "id")
        try encoder.encode(title, forKey: "title")
        try encoder.encode(posts, forKey: "posts")
    }
}

extension HandWrittenFeed {
    public init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "title", "posts"])
        id = try decoder.decode(forKey: "id")
        title = try decoder.decode(forKey: "title")
        posts = try decoder.decode(forKey: "posts")
    }
}

/// A post with its author and its comments.
public struct HandWrittenPost: NormalizedModel, Codable, Sendable {
    public let id, text: String
    public let createdAt: Double
    public let likesCount, repliesCount: Int
    public let isPinned: Bool
    public let author: HandWrittenPerson
    public let comments: [HandWrittenComment]
    public var modelIdentifier: String? { "Post:\(id)" }
    public var projectionIdentifier: String { "Post" }

    public init(
        id: String, text: String, createdAt: Double, likesCount: Int, repliesCount: Int,
        isPinned: Bool, author: HandWrittenPerson, comments: [HandWrittenComment]
    ) {
        self.id = id
        self.text = text
        self.createdAt = createdAt
        self.likesCount = likesCount
        self.repliesCount = repliesCount
        self.isPinned = isPinned
        self.author = author
        self.comments = comments
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(
            Self.self,
            fields: [
                "id", "text", "createdAt", "likesCount", "repliesCount", "isPinned", "author",
                "comments",
            ])
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(createdAt, forKey: "createdAt")
        try encoder.encode(likesCount, forKey: "likesCount")
        try encoder.encode(repliesCount, forKey: "repliesCount")
        try encoder.encode(isPinned, forKey: "isPinned")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comments, forKey: "comments")
    }
}

extension HandWrittenPost {
    public init(from decoder: inout RecordDecoder) throws {
        decoder.expect(
            Self.self,
            fields: [
                "id", "text", "createdAt", "likesCount", "repliesCount", "isPinned", "author",
                "comments",
            ])
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        createdAt = try decoder.decode(forKey: "createdAt")
        likesCount = try decoder.decode(forKey: "likesCount")
        repliesCount = try decoder.decode(forKey: "repliesCount")
        isPinned = try decoder.decode(forKey: "isPinned")
        author = try decoder.decode(forKey: "author")
        comments = try decoder.decode(forKey: "comments")
    }
}

/// A comment with its author.
public struct HandWrittenComment: NormalizedModel, Codable, Sendable {
    public let id, text: String
    public let createdAt: Double
    public let likesCount: Int
    public let isEdited: Bool
    public let author: HandWrittenPerson
    public var modelIdentifier: String? { "Comment:\(id)" }
    public var projectionIdentifier: String { "Comment" }

    public init(
        id: String, text: String, createdAt: Double, likesCount: Int, isEdited: Bool,
        author: HandWrittenPerson
    ) {
        self.id = id
        self.text = text
        self.createdAt = createdAt
        self.likesCount = likesCount
        self.isEdited = isEdited
        self.author = author
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(
            Self.self, fields: ["id", "text", "createdAt", "likesCount", "isEdited", "author"])
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(createdAt, forKey: "createdAt")
        try encoder.encode(likesCount, forKey: "likesCount")
        try encoder.encode(isEdited, forKey: "isEdited")
        try encoder.encode(author, forKey: "author")
    }
}

extension HandWrittenComment {
    public init(from decoder: inout RecordDecoder) throws {
        decoder.expect(
            Self.self, fields: ["id", "text", "createdAt", "likesCount", "isEdited", "author"])
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        createdAt = try decoder.decode(forKey: "createdAt")
        likesCount = try decoder.decode(forKey: "likesCount")
        isEdited = try decoder.decode(forKey: "isEdited")
        author = try decoder.decode(forKey: "author")
    }
}

/// An author of posts and comments.
public struct HandWrittenPerson: NormalizedModel, Codable, Sendable {
    public let id, name, handle, headline, avatar: String
    public let followersCount, followingCount: Int
    public let isVerified: Bool
    public var modelIdentifier: String? { "Person:\(id)" }
    public var projectionIdentifier: String { "Person" }

    public init(
        id: String, name: String, handle: String, headline: String, avatar: String,
        followersCount: Int, followingCount: Int, isVerified: Bool
    ) {
        self.id = id
        self.name = name
        self.handle = handle
        self.headline = headline
        self.avatar = avatar
        self.followersCount = followersCount
        self.followingCount = followingCount
        self.isVerified = isVerified
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(
            Self.self,
            fields: [
                "id", "name", "handle", "headline", "avatar", "followersCount", "followingCount",
                "isVerified",
            ])
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(handle, forKey: "handle")
        try encoder.encode(headline, forKey: "headline")
        try encoder.encode(avatar, forKey: "avatar")
        try encoder.encode(followersCount, forKey: "followersCount")
        try encoder.encode(followingCount, forKey: "followingCount")
        try encoder.encode(isVerified, forKey: "isVerified")
    }
}

extension HandWrittenPerson {
    public init(from decoder: inout RecordDecoder) throws {
        decoder.expect(
            Self.self,
            fields: [
                "id", "name", "handle", "headline", "avatar", "followersCount", "followingCount",
                "isVerified",
            ])
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        handle = try decoder.decode(forKey: "handle")
        headline = try decoder.decode(forKey: "headline")
        avatar = try decoder.decode(forKey: "avatar")
        followersCount = try decoder.decode(forKey: "followersCount")
        followingCount = try decoder.decode(forKey: "followingCount")
        isVerified = try decoder.decode(forKey: "isVerified")
    }
}
