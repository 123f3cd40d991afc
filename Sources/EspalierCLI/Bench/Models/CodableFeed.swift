import EspalierModels

/// The same feed as Codable types: through the bridge, and through JSONDecoder.
struct CodableFeed: Codable, NormalizedModel {
    let id, title: String
    let posts: [CodablePost]
    var modelIdentifier: String? { "Feed:\(id)" }
    var projectionIdentifier: String { "Feed" }
}

struct CodablePost: Codable, NormalizedModel {
    let id, text: String
    let createdAt: Double
    let likesCount, repliesCount: Int
    let isPinned: Bool
    let author: CodablePerson
    let comments: [CodableComment]
    var modelIdentifier: String? { "Post:\(id)" }
    var projectionIdentifier: String { "Post" }
}

struct CodableComment: Codable, NormalizedModel {
    let id, text: String
    let createdAt: Double
    let likesCount: Int
    let isEdited: Bool
    let author: CodablePerson
    var modelIdentifier: String? { "Comment:\(id)" }
    var projectionIdentifier: String { "Comment" }
}

struct CodablePerson: Codable, NormalizedModel {
    let id, name, handle, headline, avatar: String
    let followersCount, followingCount: Int
    let isVerified: Bool
    var modelIdentifier: String? { "Person:\(id)" }
    var projectionIdentifier: String { "Person" }
}
