import Feeds
import Foundation

extension Operation {
    static let decodeJSON = Operation("json-decode-feed") {
        let blob = try JSONEncoder().encode(Operation.feed(0))
        return { _ in { _ = try JSONDecoder().decode(Feed.self, from: blob) } }
    }

    static let encodeJSON = Operation("json-encode-feed") {
        let feed = Operation.feed(0)
        return { _ in { _ = try JSONEncoder().encode(feed) } }
    }

    /// Returns a feed of 601 nodes. Feeds of two numbers share no node. All identifiers are equally
    /// long, because one of more than 15 bytes is an allocation.
    static func feed(_ number: Int, posts: Int = FeedGenerator.postsPerFeed) -> Feed {
        var sample = Sample(seed: UInt64(number + 10_000))
        return sample.feed(posts: posts)
    }
}
