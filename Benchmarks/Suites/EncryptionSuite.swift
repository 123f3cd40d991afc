#if CommandLine && Encryption
import EspalierCharts
import EspalierEncryption
import EspalierFixtures
import EspalierRecords
import EspalierStore

/// Times the same reads and writes with and without encryption, turn by turn.
struct EncryptionSuite {
    let folder: String
    let time: Allotment

    /// A cache, and the feed that a turn writes.
    private final class Side {
        let name: String
        let path: String
        let configuration: Configuration
        private(set) var cache: NormalizedCache
        private var number = 1
        private(set) var feed = FeedCache.feed(1)

        init(_ name: String, _ path: String, _ configuration: Configuration) throws {
            self.name = name
            self.path = path
            self.configuration = configuration
            cache = try NormalizedCache(directory: path, configuration: configuration)
            try cache.set(feed).wait()
            if configuration.compression != .none { try cache.compact().wait() }
        }

        /// Forgets what this process has read of the cache.
        func reopen() throws {
            cache.close()
            cache = try NormalizedCache(directory: path, configuration: configuration)
        }

        func read() throws {
            let feed = try cache.readOutcome(
                HandWrittenFeed.self, FeedCache.identifier, consistency: .snapshot
            ).hit()
            guard feed.posts.count == FeedCache.posts else { throw BenchError.differs(name) }
        }

        func readNode() throws {
            _ = try cache.readOutcome(
                HandWrittenPerson.self, FeedCache.person, consistency: .snapshot
            ).hit()
        }

        func makeFeed() {
            number += 1
            feed = FeedCache.feed(number)
        }

        func like() { feed = feed.liked(posts: 6) }

        func write() throws { try cache.set(feed).wait() }
    }

    func run() throws -> SuiteResult {
        let key = Encryption(key: .random())
        var sides: [Side] = []
        for (name, compression) in [("raw", Compression.none), ("compressed", .standard)] {
            for (kind, encryption) in [("plain", nil), ("encrypted", key)] {
                sides.append(
                    try Side(
                        "\(name), \(kind)", folder + "/\(name)-\(kind)",
                        Configuration(
                            budget: .gibibytes(1), durability: FeedCache.durability,
                            compression: compression, encryption: encryption,
                            memoryBudget: ByteCount(0))))
            }
        }
        defer { for side in sides { side.cache.close() } }
        func ways(
            _ name: String, prepare: @escaping (Side) throws -> Void = { _ in },
            _ body: @escaping (Side) throws -> Void
        ) -> [Rounds.Way] {
            sides.map { side in
                Rounds.Way("\(name), \(side.name)") {
                    try prepare(side)
                } body: {
                    try body(side)
                }
            }
        }
        let reads = try Rounds(seconds: time.left * 0.4, isShuffled: true).run(
            ways("read a feed") { try $0.read() } + ways("read a node") { try $0.readNode() })
        let first = try Rounds(seconds: time.left * 0.3).run(
            ways("first read of a feed", prepare: { try $0.reopen() }) { try $0.read() })
        let writes = try Rounds(seconds: time.left).run(
            ways("write a new feed", prepare: { $0.makeFeed() }) { try $0.write() }
                + ways("write it again") { try $0.write() }
                + ways("write 1 % of it", prepare: { $0.like() }) { try $0.write() })
        let timings = reads + first + writes
        return SuiteResult(
            suite: .encryption, timings: timings, baseline: timings[0].name, figures: [],
            chart: .medians(
                "Encryption", "Median time; × is to reading a feed of 601 nodes, raw and plain",
                sections: [("Reads", reads), ("First reads", first), ("Writes", writes)],
                baseline: timings[0], emphasised: timings[1].name))
    }
}
#endif
