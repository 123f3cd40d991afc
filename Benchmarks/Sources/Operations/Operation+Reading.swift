import Espalier
import Feeds

extension Operation {
    static let reading = [
        readFeed("read-feed", Feed.self),
        readFeed("read-feed-codable", CodableFeed.self),
        readFeed("read-feed-compressed", Feed.self, compression: .standard),
        readFeed("read-feed-expiring") { stage, feed in
            try stage.cache.set(feed, maxAge: .hours(24)).wait()
        },
        readFeed("read-feed-changed") { try Self.change($1, of: $0.cache) },
        readFeed("read-feed-confirmed") { stage, feed in
            try Self.change(feed, of: stage.cache)
            for change in try stage.cache.optimisticChanges() { try change.change.confirm().wait() }
        },
        Operation("json-of-feed") {
            let stage = try Stage(feeds: 1)
            let identifier = "Feed:\(Stage.feed(0).id)"
            return { _ in
                {
                    let json = stage.cache.json(of: identifier, consistency: .snapshot)
                    guard json != nil else { throw OperationError.miss("json") }
                }
            }
        },
        readPosts("read-posts", Feed.self, Post.self),
        readPosts("read-posts-codable", CodableFeed.self, CodablePost.self),
        Operation("read-people") {
            let stage = try Stage(feeds: 1)
            let people = Stage.feed(0).posts.map { "Person:\($0.author.id)" }
            return { _ in { for person in people { _ = try stage.read(Person.self, person) } } }
        },
    ]

    private static func readFeed<Shown: FeedModel>(
        _ name: String, _ type: Shown.Type, compression: Compression = .none
    ) -> Operation {
        Operation(name, tolerance: compression == .none ? 0.03 : trained) {
            let stage = try Stage(compression: compression, feeds: 1, as: type)
            let identifier = "Feed:\(Stage.feed(0).id)"
            guard try stage.read(type, identifier).plain == Stage.feed(0) else {
                throw OperationError.differs(name)
            }
            return { _ in { _ = try stage.read(type, identifier) } }
        }
    }

    /// Reads a feed with which something was done before.
    private static func readFeed(
        _ name: String, after prepare: @escaping @Sendable (Stage, Feed) throws -> Void
    ) -> Operation {
        Operation(name) {
            let stage = try Stage(feeds: 1)
            let feed = Stage.feed(0)
            try prepare(stage, feed)
            return { _ in { _ = try stage.read(Feed.self, "Feed:\(feed.id)") } }
        }
    }

    /// Makes 1,000 optimistic changes of the people of a feed.
    private static func change(_ feed: Feed, of cache: NormalizedCache) throws {
        let people = feed.posts.map(\.author)
        for number in 0..<1_000 {
            let person = people[number % people.count].edited(number)
            try cache.optimistically { $0.set(person) }.applied.wait()
        }
    }

    /// Reads a hundred trees of six nodes, one at a time.
    private static func readPosts<Shown: FeedModel, Single: NormalizedModel & Sendable>(
        _ name: String, _ type: Shown.Type, _ single: Single.Type
    ) -> Operation {
        Operation(name) {
            let stage = try Stage(feeds: 1, as: type)
            let posts = Stage.feed(0).posts.map { "Post:\($0.id)" }
            return { _ in { for post in posts { _ = try stage.read(single, post) } } }
        }
    }
}
