internal import Espalier

// The same trees as types without the macro, which are stored through their Codable conformances.

package struct CodableTimeline: Codable, NormalizedModel {
    package let id: String
    package let feeds: [CodableFeed]
    package var modelIdentifier: String? { "Timeline:\(id)" }
    package var projectionIdentifier: String { "Timeline" }
}

package struct CodableFeed: Codable, NormalizedModel {
    package let id, title: String
    package let posts: [CodablePost]
    package var modelIdentifier: String? { "Feed:\(id)" }
    package var projectionIdentifier: String { "Feed" }
}

package struct CodablePost: Codable, NormalizedModel {
    package let id, text: String
    package let createdAt: Double
    package let likesCount, repliesCount: Int
    package let isPinned: Bool
    package let author: CodablePerson
    package let comments: [CodableComment]
    package var modelIdentifier: String? { "Post:\(id)" }
    package var projectionIdentifier: String { "Post" }
}

package struct CodableComment: Codable, NormalizedModel {
    package let id, text: String
    package let createdAt: Double
    package let likesCount: Int
    package let isEdited: Bool
    package let author: CodablePerson
    package var modelIdentifier: String? { "Comment:\(id)" }
    package var projectionIdentifier: String { "Comment" }
}

package struct CodablePerson: Codable, NormalizedModel {
    package let id, name, handle, headline, avatar: String
    package let followersCount, followingCount: Int
    package let isVerified: Bool
    package var modelIdentifier: String? { "Person:\(id)" }
    package var projectionIdentifier: String { "Person" }
}
