import Espalier

/// Feeds under one root: a tree of any size whose records all fit a page.
@Normalized
struct Timeline: Codable {
    let id: String
    let feeds: [Feed]
}

/// Posts with their comments and people.
@Normalized
struct Feed: Codable {
    let id, title: String
    let posts: [Post]
}

@Normalized
struct Post: Codable {
    let id, text: String
    let createdAt: Double
    let likesCount, repliesCount: Int
    let isPinned: Bool
    let author: Person
    let comments: [Comment]
}

@Normalized
struct Comment: Codable {
    let id, text: String
    let createdAt: Double
    let likesCount: Int
    let isEdited: Bool
    let author: Person
}

@Normalized
struct Person: Codable {
    let id, name, handle, headline, avatar: String
    let followersCount, followingCount: Int
    let isVerified: Bool
}
