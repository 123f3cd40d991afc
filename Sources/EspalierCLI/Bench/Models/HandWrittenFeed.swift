import EspalierModels
import EspalierRecords

/// The feed as models whose conformance is written by hand.
struct HandWrittenFeed: NormalizedModel {
    let id, title: String
    let posts: [HandWrittenPost]
    var modelIdentifier: String? { "Feed:\(id)" }
    var projectionIdentifier: String { "Feed" }

    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "title", "posts"])
        try encoder.encode(id, forKey: "id")
        try encoder.encode(title, forKey: "title")
        try encoder.encode(posts, forKey: "posts")
    }
}

extension HandWrittenFeed {
    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "title", "posts"])
        id = try decoder.decode(forKey: "id")
        title = try decoder.decode(forKey: "title")
        posts = try decoder.decode(forKey: "posts")
    }
}

struct HandWrittenPost: NormalizedModel {
    let id, text: String
    let createdAt: Double
    let likesCount, repliesCount: Int
    let isPinned: Bool
    let author: HandWrittenPerson
    let comments: [HandWrittenComment]
    var modelIdentifier: String? { "Post:\(id)" }
    var projectionIdentifier: String { "Post" }

    func encode(to encoder: inout RecordEncoder) throws {
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
    init(from decoder: inout RecordDecoder) throws {
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

struct HandWrittenComment: NormalizedModel {
    let id, text: String
    let createdAt: Double
    let likesCount: Int
    let isEdited: Bool
    let author: HandWrittenPerson
    var modelIdentifier: String? { "Comment:\(id)" }
    var projectionIdentifier: String { "Comment" }

    func encode(to encoder: inout RecordEncoder) throws {
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
    init(from decoder: inout RecordDecoder) throws {
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

struct HandWrittenPerson: NormalizedModel {
    let id, name, handle, headline, avatar: String
    let followersCount, followingCount: Int
    let isVerified: Bool
    var modelIdentifier: String? { "Person:\(id)" }
    var projectionIdentifier: String { "Person" }

    func encode(to encoder: inout RecordEncoder) throws {
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
    init(from decoder: inout RecordDecoder) throws {
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

extension HandWrittenFeed {
    init(_ data: FeedData) {
        id = data.id
        title = data.title
        posts = data.posts.map(HandWrittenPost.init)
    }
}

extension HandWrittenPost {
    init(_ data: FeedData.Post) {
        id = data.id
        text = data.text
        createdAt = data.createdAt
        likesCount = data.likesCount
        repliesCount = data.repliesCount
        isPinned = data.isPinned
        author = HandWrittenPerson(data.author)
        comments = data.comments.map(HandWrittenComment.init)
    }
}

extension HandWrittenComment {
    init(_ data: FeedData.Comment) {
        id = data.id
        text = data.text
        createdAt = data.createdAt
        likesCount = data.likesCount
        isEdited = data.isEdited
        author = HandWrittenPerson(data.author)
    }
}

extension HandWrittenPerson {
    init(_ data: FeedData.Person) {
        id = data.id
        name = data.name
        handle = data.handle
        headline = data.headline
        avatar = data.avatar
        followersCount = data.followersCount
        followingCount = data.followingCount
        isVerified = data.isVerified
    }
}
