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
