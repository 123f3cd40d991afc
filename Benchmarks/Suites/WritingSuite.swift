#if CommandLine
import EspalierCharts
import EspalierFixtures
import EspalierStore

/// Times writes, each until its ticket says that it is committed.
struct WritingSuite {
    let folder: String
    let time: Allotment

    private static let newFeed = "a new feed, 601 nodes"
    private static let collection = "people"
    private static let appended = 20

    func run() throws -> SuiteResult {
        let length = time.isTrial ? 500 : 10_000
        let cache = try FeedCache.filled(folder + "/feeds", compression: .standard, feeds: 1)
        // Nothing is ever deleted in this cache. Where something was deleted, an edit looks through
        // the collection for it.
        let untouched = try FeedCache.filled(folder + "/people", compression: .standard, feeds: 1)
        defer {
            cache.close()
            untouched.close()
        }
        // Each round writes a feed of its own, which all ways of the round change.
        var number = 1
        var feed = FeedCache.feed(number)
        func readAgain(posts: Int) throws {
            let read = try cache.readOutcome(HandWrittenFeed.self, "Feed:\(feed.id)").hit()
            guard read.posts.count == posts else {
                throw BenchError.differs("a feed that was written")
            }
        }
        func writeFeed() throws { try cache.set(feed).wait() }
        var person = feed.posts[0].author
        let timings = try Rounds(seconds: time.left).run([
            Rounds.Way(Self.newFeed) {
                number += 1
                feed = FeedCache.feed(number)
            } body: {
                try writeFeed()
            },
            Rounds.Way("the same feed again", body: writeFeed),
            Rounds.Way("6 of its nodes changed, 1 %") {
                feed = feed.liked(posts: 6)
            } body: {
                try writeFeed()
            },
            Rounds.Way("one person changed, and the feed read again") {
                person = feed.posts[number % FeedCache.posts].author.renamed("Somebody \(number)")
            } body: {
                try cache.set(person).wait()
                try readAgain(posts: FeedCache.posts)
            },
            Rounds.Way("one person deleted, and the feed read again") {
                person = feed.posts[0].author
            } body: {
                try cache.delete("Person:\(person.id)").wait()
                try readAgain(posts: FeedCache.posts - 1)
            },
            try append(
                to: untouched, length,
                "\(Self.appended) appended to a collection of \(length.grouped)"),
            try append(to: cache, length, "the same where nodes were deleted"),
        ])
        let perSecond = timings[0].median.map { Double(FeedCache.nodes) * 1e6 / $0 } ?? 0
        return SuiteResult(
            suite: .writing, timings: timings, baseline: Self.newFeed,
            figures: [
                .init(
                    "recordsPerSecond", "records a second, of new feeds",
                    .number(perSecond, decimals: 0))
            ],
            chart: .medians(
                "Writing", "Median time from the call to the commit; × is to a new feed",
                sections: [(nil, timings)], baseline: timings[0], emphasised: Self.newFeed))
    }

    /// Returns a way that appends to a collection. Before each turn, it removes as many elements
    /// from the front, so that the collection is as long each time.
    private func append(to cache: NormalizedCache, _ length: Int, _ name: String) throws
        -> Rounds.Way
    {
        try cache.setCollection(
            (0..<length).map { CollectionPeople.person($0) }, forKey: Self.collection
        ).wait()
        var next = length
        var batch: [HandWrittenPerson] = []
        return Rounds.Way(name) {
            if !batch.isEmpty {
                try cache.remove(0..<Self.appended, fromCollection: Self.collection).wait()
            }
            batch = (next..<next + Self.appended).map { CollectionPeople.person($0) }
            next += Self.appended
        } body: {
            try cache.append(batch, toCollection: Self.collection).wait()
        }
    }
}
#endif
