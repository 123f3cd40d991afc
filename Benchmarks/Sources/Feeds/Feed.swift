package import Espalier
package import EspalierFixtures

/// Feeds under one root: a tree of any size whose records all fit a page.
@Normalized
package struct Timeline: Codable, Sendable {
    package let id: String
    package let feeds: [Feed]

    package init(id: String, feeds: [Feed]) {
        self.id = id
        self.feeds = feeds
    }
}

/// Posts with their comments and authors.
@Normalized
package struct Feed: Codable, Sendable {
    package let id, title: String
    package let posts: [Post]

    package init(id: String, title: String, posts: [Post]) {
        self.id = id
        self.title = title
        self.posts = posts
    }
}

@Normalized
package struct Post: Codable, Sendable {
    package let id, text: String
    package let createdAt: Double
    package let likesCount, repliesCount: Int
    package let isPinned: Bool
    package let author: Person
    package let comments: [Comment]

    package init(
        id: String, text: String, createdAt: Double, likesCount: Int, repliesCount: Int,
        isPinned: Bool,
        author: Person, comments: [Comment]
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
}

@Normalized
package struct Comment: Codable, Sendable {
    package let id, text: String
    package let createdAt: Double
    package let likesCount: Int
    package let isEdited: Bool
    package let author: Person

    package init(
        id: String, text: String, createdAt: Double, likesCount: Int, isEdited: Bool, author: Person
    ) {
        self.id = id
        self.text = text
        self.createdAt = createdAt
        self.likesCount = likesCount
        self.isEdited = isEdited
        self.author = author
    }
}

@Normalized
package struct Person: Codable, Sendable {
    package let id, name, handle, headline, avatar: String
    package let followersCount, followingCount: Int
    package let isVerified: Bool

    package init(
        id: String, name: String, handle: String, headline: String, avatar: String,
        followersCount: Int,
        followingCount: Int, isVerified: Bool
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

/// The same timeline as a type without the macro, which is stored through its `Codable`
/// conformance.
package struct CodableTimeline: Codable, NormalizedModel, Sendable {
    package let id: String
    package let feeds: [CodableFeed]
    package var modelIdentifier: String? { "Timeline:\(id)" }
    package var projectionIdentifier: String { "Timeline" }
}
