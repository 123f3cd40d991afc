import Espalier

struct Timeline: Codable, NormalizedModel, Equatable {
    var id: String
    var feeds: [Feed]
    var modelIdentifier: String? { "Timeline:\(id)" }
    func copy(_ c: (inout Self) -> Void) -> Self { var s = self; c(&s); return s }
}

extension Timeline {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "feeds"])
        try encoder.encode(self.id, forKey: "id")
        try encoder.encode(self.feeds, forKey: "feeds")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "feeds"])
        let _id: String = try decoder.decode(forKey: "id")
        let _feeds: [Feed] = try decoder.decode(forKey: "feeds")
        self.id = _id
        self.feeds = _feeds
    }
}

struct Feed: Codable, NormalizedModel, Equatable {
    var id, title: String
    var posts: [Post]
    var modelIdentifier: String? { "Feed:\(id)" }
    func copy(_ c: (inout Self) -> Void) -> Self { var s = self; c(&s); return s }
}

extension Feed {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "title", "posts"])
        try encoder.encode(self.id, forKey: "id")
        try encoder.encode(self.title, forKey: "title")
        try encoder.encode(self.posts, forKey: "posts")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "title", "posts"])
        let _id: String = try decoder.decode(forKey: "id")
        let _title: String = try decoder.decode(forKey: "title")
        let _posts: [Post] = try decoder.decode(forKey: "posts")
        self.id = _id
        self.title = _title
        self.posts = _posts
    }
}

struct Post: Codable, NormalizedModel, Equatable {
    var id, text: String
    var createdAt: Double
    var likesCount, repliesCount: Int
    var isPinned: Bool
    var author: Person
    var comments: [Comment]
    var modelIdentifier: String? { "Post:\(id)" }
    func copy(_ c: (inout Self) -> Void) -> Self { var s = self; c(&s); return s }
}

extension Post {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "text", "createdAt", "likesCount", "repliesCount", "isPinned", "author", "comments"])
        try encoder.encode(self.id, forKey: "id")
        try encoder.encode(self.text, forKey: "text")
        try encoder.encode(self.createdAt, forKey: "createdAt")
        try encoder.encode(self.likesCount, forKey: "likesCount")
        try encoder.encode(self.repliesCount, forKey: "repliesCount")
        try encoder.encode(self.isPinned, forKey: "isPinned")
        try encoder.encode(self.author, forKey: "author")
        try encoder.encode(self.comments, forKey: "comments")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "text", "createdAt", "likesCount", "repliesCount", "isPinned", "author", "comments"])
        let _id: String = try decoder.decode(forKey: "id")
        let _text: String = try decoder.decode(forKey: "text")
        let _createdAt: Double = try decoder.decode(forKey: "createdAt")
        let _likesCount: Int = try decoder.decode(forKey: "likesCount")
        let _repliesCount: Int = try decoder.decode(forKey: "repliesCount")
        let _isPinned: Bool = try decoder.decode(forKey: "isPinned")
        let _author: Person = try decoder.decode(forKey: "author")
        let _comments: [Comment] = try decoder.decode(forKey: "comments")
        self.id = _id
        self.text = _text
        self.createdAt = _createdAt
        self.likesCount = _likesCount
        self.repliesCount = _repliesCount
        self.isPinned = _isPinned
        self.author = _author
        self.comments = _comments
    }
}

struct Comment: Codable, NormalizedModel, Equatable {
    var id, text: String
    var createdAt: Double
    var likesCount: Int
    var isEdited: Bool
    var author: Person
    var modelIdentifier: String? { "Comment:\(id)" }
    func copy(_ c: (inout Self) -> Void) -> Self { var s = self; c(&s); return s }
}

extension Comment {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "text", "createdAt", "likesCount", "isEdited", "author"])
        try encoder.encode(self.id, forKey: "id")
        try encoder.encode(self.text, forKey: "text")
        try encoder.encode(self.createdAt, forKey: "createdAt")
        try encoder.encode(self.likesCount, forKey: "likesCount")
        try encoder.encode(self.isEdited, forKey: "isEdited")
        try encoder.encode(self.author, forKey: "author")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "text", "createdAt", "likesCount", "isEdited", "author"])
        let _id: String = try decoder.decode(forKey: "id")
        let _text: String = try decoder.decode(forKey: "text")
        let _createdAt: Double = try decoder.decode(forKey: "createdAt")
        let _likesCount: Int = try decoder.decode(forKey: "likesCount")
        let _isEdited: Bool = try decoder.decode(forKey: "isEdited")
        let _author: Person = try decoder.decode(forKey: "author")
        self.id = _id
        self.text = _text
        self.createdAt = _createdAt
        self.likesCount = _likesCount
        self.isEdited = _isEdited
        self.author = _author
    }
}

struct Person: Codable, NormalizedModel, Equatable {
    var id, name, handle, headline, avatar: String
    var followersCount, followingCount: Int
    var isVerified: Bool
    var modelIdentifier: String? { "Person:\(id)" }
    func copy(_ c: (inout Self) -> Void) -> Self { var s = self; c(&s); return s }
}

extension Person {
    func encode(to encoder: inout RecordEncoder) throws {
        encoder.expect(Self.self, fields: ["id", "name", "handle", "headline", "avatar", "followersCount", "followingCount", "isVerified"])
        try encoder.encode(self.id, forKey: "id")
        try encoder.encode(self.name, forKey: "name")
        try encoder.encode(self.handle, forKey: "handle")
        try encoder.encode(self.headline, forKey: "headline")
        try encoder.encode(self.avatar, forKey: "avatar")
        try encoder.encode(self.followersCount, forKey: "followersCount")
        try encoder.encode(self.followingCount, forKey: "followingCount")
        try encoder.encode(self.isVerified, forKey: "isVerified")
    }

    init(from decoder: inout RecordDecoder) throws {
        decoder.expect(Self.self, fields: ["id", "name", "handle", "headline", "avatar", "followersCount", "followingCount", "isVerified"])
        let _id: String = try decoder.decode(forKey: "id")
        let _name: String = try decoder.decode(forKey: "name")
        let _handle: String = try decoder.decode(forKey: "handle")
        let _headline: String = try decoder.decode(forKey: "headline")
        let _avatar: String = try decoder.decode(forKey: "avatar")
        let _followersCount: Int = try decoder.decode(forKey: "followersCount")
        let _followingCount: Int = try decoder.decode(forKey: "followingCount")
        let _isVerified: Bool = try decoder.decode(forKey: "isVerified")
        self.id = _id
        self.name = _name
        self.handle = _handle
        self.headline = _headline
        self.avatar = _avatar
        self.followersCount = _followersCount
        self.followingCount = _followingCount
        self.isVerified = _isVerified
    }
}

