public import EspalierModels
import EspalierRecords

// The same feed as types that are stored through their `Codable` conformances, the Codable bridge.
// `JSONDecoder` reads them too, and is the only one that makes feeds, posts and comments of them.

/// A feed as the benchmarks store it: 601 nodes if it has 100 posts.
public struct CodableFeed: Codable, NormalizedModel, Sendable {
    public let id, title: String
    public let posts: [CodablePost]
    public var modelIdentifier: String? { "Feed:\(id)" }
    public var projectionIdentifier: String { "Feed" }
}

/// A post with its author and its comments.
public struct CodablePost: Codable, NormalizedModel, Sendable {
    public let id, text: String
    public let createdAt: Double
    public let likesCount, repliesCount: Int
    public let isPinned: Bool
    public let author: CodablePerson
    public let comments: [CodableComment]
    public var modelIdentifier: String? { "Post:\(id)" }
    public var projectionIdentifier: String { "Post" }
}

/// A comment with its author.
public struct CodableComment: Codable, NormalizedModel, Sendable {
    public let id, text: String
    public let createdAt: Double
    public let likesCount: Int
    public let isEdited: Bool
    public let author: CodablePerson
    public var modelIdentifier: String? { "Comment:\(id)" }
    public var projectionIdentifier: String { "Comment" }
}

/// An author of posts and comments.
public struct CodablePerson: Codable, NormalizedModel, Sendable {
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
}
