import EspalierCharts
import EspalierLMDB
import EspalierRecords
import EspalierStore
import Foundation

/// One feed read by the library, by hand over LMDB and by JSONDecoder, turn by turn; then one node.
struct ReadingSuite {
    let folder: String
    let time: Allotment

    private static let floorName = "floor: by hand over LMDB"

    func run() throws -> SuiteResult {
        let feeds = time.isTrial ? 1 : 20
        let raw = try FeedCache.filled(folder + "/raw", compression: .none, feeds: feeds)
        let compressed = try FeedCache.filled(
            folder + "/compressed", compression: .standard, feeds: feeds)
        defer {
            raw.close()
            compressed.close()
        }
        let floor = try floorReader(of: raw)
        let codable = try raw.readOutcome(
            CodableFeed.self, FeedCache.identifier, consistency: .snapshot
        ).hit()
        let blob = try JSONEncoder().encode(codable)
        try check(floor, [raw, compressed], blob)

        let trees = try Rounds(seconds: time.left * 0.85, isShuffled: true).run([
            feed(Self.floorName) { try floor.read().posts.count },
            feed("hand-written models, raw") {
                try Self.posts(HandWrittenFeed.self, of: raw, \.posts.count)
            },
            feed("hand-written models, compressed") {
                try Self.posts(HandWrittenFeed.self, of: compressed, \.posts.count)
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
        ])
        let (statistics, packed) = (try raw.statistics(), try compressed.statistics())
        return SuiteResult(
            suite: .reading, timings: trees + nodes, baseline: Self.floorName,
            figures: [
                ("bytesPerRecord", "bytes a record, raw", Self.mean(statistics)),
                ("compressedBytesPerRecord", "bytes a record, compressed", Self.mean(packed)),
                ("blobBytes", "bytes of the blob", .count(blob.count)),
            ],
            chart: .medians(
                "Reading a feed of 601 nodes", "Median time, page cache warm; × is to the floor",
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

    private static func mean(_ statistics: CacheStatistics) -> Cell {
        .real(
            Double(statistics.recordBytes.bytes) / Double(max(1, statistics.records)), decimals: 1)
    }

    /// The cache's own record bytes in an environment of their own.
    private func floorReader(of cache: NormalizedCache) throws -> FloorReader {
        let path = folder + "/floor"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let environment = try Environment.open(
            directory: path, guardedBy: GuardFile(path: folder + "/floor.guard", create: true),
            keyspaces: ["nodes"],
            options: .init(mapSize: 1 << 30, durability: .noMetaSync))
        let nodes = environment.keyspace("nodes")
        let entry = try cache.inspect { inspection in
            try environment.write { transaction in
                try inspection.forEachRecord { handle, _ in
                    try transaction.append(
                        nodes, handle.rawValue, inspection.bytes(of: handle) ?? [])
                    return true
                }
            }
            return try inspection.handle(of: FeedCache.identifier, in: .node)
        }
        guard let entry else { throw BenchError.floorLacksRecord }
        return FloorReader(environment: environment, nodes: nodes, entry: entry.rawValue)
    }

    /// What is fast must be right as well.
    private func check(_ floor: FloorReader, _ caches: [NormalizedCache], _ blob: Data) throws {
        let written = "\(FeedCache.feed(1))"
        guard "\(try floor.read())" == written else { throw BenchError.differs("the floor") }
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
