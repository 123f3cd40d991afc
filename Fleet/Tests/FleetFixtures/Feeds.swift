public import EspalierModels
public import EspalierRecords

// A feed of 601 nodes if it has 100 posts: itself, its posts, two comments for each of them, and
// the 300 authors. The types are records by hand, and JSON by `Codable`.

/// A feed with its posts.
public struct Feed: NormalizedModel, Codable, Sendable, Equatable {
    public var id, title: String
    public var posts: [FeedPost]
    public var modelIdentifier: String? { "Feed:\(id)" }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        title = try decoder.decode(forKey: "title")
        posts = try decoder.decode(forKey: "posts")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(title, forKey: "title")
        try encoder.encode(posts, forKey: "posts")
    }

    init(id: String, posts: [FeedPost]) {
        self.id = id
        title = "Feed \(id)"
        self.posts = posts
    }

    /// Makes a feed, the same in every run. Feeds with other numbers have other nodes.
    public static func sample(posts count: Int, number: Int = 1) -> Feed {
        var random = SeededRandom(seed: UInt64(number))
        var next = 1_000_000 * number
        let words = [
            "the", "cache", "holds", "every", "tree", "once", "and", "a", "person", "that", "many",
            "posts", "share", "is", "one", "record", "of", "its", "own",
        ]
        func text(_ count: Int) -> String {
            (0..<count).map { _ in words.randomElement(using: &random) ?? "" }
                .joined(separator: " ")
        }
        func person() -> FeedPerson {
            next += 1
            return FeedPerson(id: "\(next)", name: text(2), headline: text(5))
        }
        let posts = (0..<count).map { _ in
            let comments = (0..<2).map { _ in
                next += 1
                return FeedComment(id: "\(next)", text: text(8), author: person())
            }
            next += 1
            return FeedPost(id: "\(next)", text: text(18), author: person(), comments: comments)
        }
        return Feed(id: "\(number)", posts: posts)
    }

    /// The identifiers of all nodes.
    public var identifiers: [String] {
        let posts = posts.flatMap { post in
            [post.modelIdentifier, post.author.modelIdentifier]
                + post.comments.flatMap { [$0.modelIdentifier, $0.author.modelIdentifier] }
        }
        return ([modelIdentifier] + posts).compactMap(\.self)
    }
}

/// A post with its author and its comments.
public struct FeedPost: NormalizedModel, Codable, Sendable, Equatable {
    public var id, text: String
    public var author: FeedPerson
    public var comments: [FeedComment]
    public var modelIdentifier: String? { "Post:\(id)" }

    init(id: String, text: String, author: FeedPerson, comments: [FeedComment]) {
        self.id = id
        self.text = text
        self.author = author
        self.comments = comments
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
        comments = try decoder.decode(forKey: "comments")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comments, forKey: "comments")
    }
}

/// A comment with its author.
public struct FeedComment: NormalizedModel, Codable, Sendable, Equatable {
    public var id, text: String
    public var author: FeedPerson
    public var modelIdentifier: String? { "Comment:\(id)" }

    init(id: String, text: String, author: FeedPerson) {
        self.id = id
        self.text = text
        self.author = author
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
    }
}

/// An author of posts and comments.
public struct FeedPerson: NormalizedModel, Codable, Sendable, Equatable {
    public var id, name, headline, avatar: String
    public var followers: Int
    public var modelIdentifier: String? { "Person:\(id)" }

    init(id: String, name: String, headline: String) {
        self.id = id
        self.name = name
        self.headline = headline
        avatar = "https://img.example/\(id).jpg"
        followers = name.utf8.count * 1_003
    }

    public init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        headline = try decoder.decode(forKey: "headline")
        avatar = try decoder.decode(forKey: "avatar")
        followers = try decoder.decode(forKey: "followers")
    }

    public func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(headline, forKey: "headline")
        try encoder.encode(avatar, forKey: "avatar")
        try encoder.encode(followers, forKey: "followers")
    }
}
