package import EspalierFixtures
import Foundation

// Conversions between the ways to declare a feed.

extension Decodable {
    /// Creates a model from another way to declare it, by way of JSON: the fields have the same
    /// names. Never part of what is timed.
    package init(converting model: some Encodable) {
        // `try!` because text and finite numbers always become JSON, and the same fields a model.
        self = try! JSONDecoder().decode(Self.self, from: JSONEncoder().encode(model))
    }
}

extension CodableFeed {
    package init(_ feed: Feed) { self.init(converting: feed) }
    package var plain: Feed { Feed(converting: self) }
}

// People are converted by hand, because some measured operations convert a person.
extension CodablePerson {
    package init(_ person: Person) {
        self.init(
            id: person.id, name: person.name, handle: person.handle, headline: person.headline,
            avatar: person.avatar, followersCount: person.followersCount,
            followingCount: person.followingCount, isVerified: person.isVerified)
    }

    package var plain: Person {
        Person(
            id: id, name: name, handle: handle, headline: headline, avatar: avatar,
            followersCount: followersCount, followingCount: followingCount, isVerified: isVerified)
    }
}

// Feeds of the generator as well, because streams have thousands of them.
extension Feed {
    init(_ feed: HandWrittenFeed) {
        self.init(id: feed.id, title: feed.title, posts: feed.posts.map { Post($0) })
    }
}

extension Post {
    fileprivate init(_ post: HandWrittenPost) {
        self.init(
            id: post.id, text: post.text, createdAt: post.createdAt, likesCount: post.likesCount,
            repliesCount: post.repliesCount, isPinned: post.isPinned, author: Person(post.author),
            comments: post.comments.map { comment in
                Comment(
                    id: comment.id, text: comment.text, createdAt: comment.createdAt,
                    likesCount: comment.likesCount, isEdited: comment.isEdited,
                    author: Person(comment.author))
            })
    }
}

extension Person {
    init(_ person: HandWrittenPerson) {
        self.init(
            id: person.id, name: person.name, handle: person.handle, headline: person.headline,
            avatar: person.avatar, followersCount: person.followersCount,
            followingCount: person.followingCount, isVerified: person.isVerified)
    }
}
