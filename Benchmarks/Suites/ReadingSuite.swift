#if CommandLine
import EspalierCharts
import EspalierFixtures
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation

/// Reads one feed by the library, by the hand-written baseline and by `JSONDecoder`, turn by turn;
/// then one node.
struct ReadingSuite {
    let folder: String
    let time: Allotment

    private static let baselineName = "hand-written baseline over LMDB"

    func run() throws -> SuiteResult {
        let feeds = time.isTrial ? 1 : 20
        let raw = try FeedCache.filled(folder + "/raw", compression: .none, feeds: feeds)
        let compressed = try FeedCache.filled(
            folder + "/compressed", compression: .standard, feeds: feeds)
        let remembered = try FeedCache.filled(
            folder + "/memory", compression: .standard, feeds: feeds, memory: .mebibytes(8))
        defer {
            raw.close()
            compressed.close()
            remembered.close()
        }
        let (baseline, root) = try baseline(of: raw)
        let codable = try raw.readOutcome(
            CodableFeed.self, FeedCache.identifier, consistency: .snapshot
        ).hit()
        let blob = try JSONEncoder().encode(codable)
        try check(try baseline.feed(root), [raw, compressed], blob)

        let trees = try Rounds(seconds: time.left * 0.85, isShuffled: true).run([
            feed(Self.baselineName) { try baseline.feed(root).posts.count },
            feed("hand-written models, raw") {
                try Self.posts(HandWrittenFeed.self, of: raw, \.posts.count)
            },
            feed("hand-written models, compressed") {
                try Self.posts(HandWrittenFeed.self, of: compressed, \.posts.count)
            },
            feed("hand-written models, in memory") {
                try Self.posts(HandWrittenFeed.self, of: remembered, \.posts.count)
            },
            feed("Codable bridge, raw") {
                try Self.posts(CodableFeed.self, of: raw, \.posts.count)
            },
            feed("Codable bridge, compressed") {
                try Self.posts(CodableFeed.self, of: compressed, \.posts.count)
            },
            feed("JSONDecoder, one blob") {
                try JSONDecoder().decode(CodableFeed.self, from: blob).posts.count
            },
        ])
        let nodes = try Rounds(seconds: time.left, isShuffled: true).run([
            Rounds.Way("one node, raw") { try Self.node(of: raw) },
            Rounds.Way("one node, compressed") { try Self.node(of: compressed) },
            Rounds.Way("one node, in memory") { try Self.node(of: remembered) },
        ])
        let (statistics, packed) = (try raw.statistics(), try compressed.statistics())
        return SuiteResult(
            suite: .reading, timings: trees + nodes, baseline: Self.baselineName,
            figures: [
                .init("bytesPerRecord", "bytes a record, raw", Self.mean(statistics)),
                .init("compressedBytesPerRecord", "bytes a record, compressed", Self.mean(packed)),
                .init("blobBytes", "bytes of the blob", .count(blob.count)),
            ],
            chart: .medians(
                "Reading a feed of 601 nodes",
                "Median time, page cache warm; × is to the hand-written baseline",
                sections: [("One feed", trees), ("One node", nodes)], baseline: trees[0],
                emphasised: "hand-written models, raw"))
    }

    private func feed(_ name: String, _ posts: @escaping () throws -> Int) -> Rounds.Way {
        Rounds.Way(name) {
            guard try posts() == FeedCache.posts else { throw BenchError.differs(name) }
        }
    }

    private static func posts<Feed: IdentifiedModel>(
        _ type: Feed.Type, of cache: NormalizedCache, _ count: (Feed) -> Int
    ) throws -> Int {
        count(try cache.readOutcome(type, FeedCache.identifier, consistency: .snapshot).hit())
    }

    private static func node(of cache: NormalizedCache) throws {
        _ = try cache.readOutcome(HandWrittenPerson.self, FeedCache.person, consistency: .snapshot)
            .hit()
    }

    private static func mean(_ statistics: CacheStatistics) -> SuiteFigure.Value {
        .number(
            Double(statistics.recordBytes.bytes) / Double(max(1, statistics.records)), decimals: 1)
    }

    /// Copies the cache's own record bytes to an environment of their own.
    ///
    /// - Returns: The baseline over the copy, and the handle of the feed that suites read.
    private func baseline(of cache: NormalizedCache) throws -> (HandWrittenBaseline, UInt64) {
        let records = try RawRecords(copying: cache)
        let root = try records.handle(of: FeedCache.identifier)
        let environment = try RawEnvironment(directory: folder + "/baseline")
        try environment.write(records)
        return (HandWrittenBaseline(environment), root)
    }

    /// Throws unless everything that is timed reads what was written.
    private func check(_ read: HandWrittenFeed, _ caches: [NormalizedCache], _ blob: Data) throws {
        let written = "\(FeedCache.feed(1))"
        guard "\(read)" == written else { throw BenchError.differs(Self.baselineName) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let decoded = try encoder.encode(JSONDecoder().decode(CodableFeed.self, from: blob))
        for cache in caches {
            let feed = try cache.readOutcome(HandWrittenFeed.self, FeedCache.identifier).hit()
            guard "\(feed)" == written else { throw BenchError.differs("the hand-written model") }
            let bridged = try cache.readOutcome(CodableFeed.self, FeedCache.identifier).hit()
            guard try encoder.encode(bridged) == decoded else {
                throw BenchError.differs("the bridge")
            }
        }
    }
}
#endif
