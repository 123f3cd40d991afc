import EspalierLMDB
import EspalierRecords
import EspalierStore
import Foundation

/// Reads one feed through four ways, interleaved in one process, and takes medians.
struct FeedBench {
    struct Row {
        let name: String
        let microseconds: Double
    }

    struct Result {
        /// The floor first, JSONDecoder last.
        let rows: [Row]
        let nodes: Int
        let recordBytes: Int
        let blobBytes: Int
    }

    let posts: Int
    let rounds: Int

    /// Builds the feed in a temporary directory, checks that all ways read the same, and measures.
    func run() throws -> Result {
        let directory = NSTemporaryDirectory() + "espalier-bench-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let cache = try NormalizedCache(
            directory: directory + "/cache",
            configuration: Configuration(budget: .gibibytes(1), durability: .noSync, compression: .none))
        defer { cache.close() }
        let written = HandWrittenFeed(FeedData(seed: 1, posts: posts))
        try cache.set(written).wait()
        let identifier = "Feed:\(written.id)"
        let floor = try floorReader(of: cache, identifier, in: directory)
        let codable: CodableFeed = try value(cache.readOutcome(CodableFeed.self, identifier, consistency: .snapshot))
        let blob = try JSONEncoder().encode(codable)

        let ways: [(String, () throws -> Int)] = [
            ("floor: by hand over LMDB", { try floor.read().posts.count }),
            (
                "hand-written NormalizedModel",
                {
                    try value(cache.readOutcome(HandWrittenFeed.self, identifier, consistency: .snapshot)).posts.count
                }
            ),
            (
                "Codable through the bridge",
                {
                    try value(cache.readOutcome(CodableFeed.self, identifier, consistency: .snapshot)).posts.count
                }
            ),
            ("JSONDecoder on one blob", { try JSONDecoder().decode(CodableFeed.self, from: blob).posts.count }),
        ]
        try check(written, floor: floor, cache: cache, identifier, blob)
        let statistics = try cache.statistics()
        return Result(
            rows: try measure(ways), nodes: statistics.nodes, recordBytes: statistics.recordBytes.bytes,
            blobBytes: blob.count)
    }

    private func measure(_ ways: [(String, () throws -> Int)]) throws -> [Row] {
        var times = Array(repeating: [Double](), count: ways.count)
        let clock = ContinuousClock()
        for round in 0..<rounds + 3 {
            for (index, way) in ways.enumerated() {
                var count = 0
                let time = try clock.measure { count = try way.1() }
                guard count == posts else { throw BenchError.differs(way.0) }
                // The first rounds warm caches and plans.
                if round >= 3 {
                    times[index].append(
                        Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
                }
            }
        }
        return zip(ways, times).map { way, times in Row(name: way.0, microseconds: times.sorted()[times.count / 2]) }
    }

    /// The cache's own record bytes in an environment of their own.
    private func floorReader(of cache: NormalizedCache, _ identifier: String, in directory: String) throws
        -> FloorReader
    {
        let path = directory + "/floor"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let environment = try Environment.open(
            directory: path, guardedBy: GuardFile(path: directory + "/floor.guard", create: true), keyspaces: ["nodes"],
            options: .init(mapSize: 1 << 30, durability: .noSync))
        let nodes = environment.keyspace("nodes")
        let entry = try cache.inspect { inspection in
            try environment.write { transaction in
                try inspection.forEachRecord { handle, _ in
                    try transaction.append(nodes, handle.rawValue, inspection.bytes(of: handle) ?? [])
                    return true
                }
            }
            return try inspection.handle(of: identifier, in: .node)
        }
        guard let entry else { throw BenchError.floorLacksRecord }
        return FloorReader(environment: environment, nodes: nodes, entry: entry.rawValue)
    }

    private func check(
        _ written: HandWrittenFeed, floor: FloorReader, cache: NormalizedCache, _ identifier: String, _ blob: Data
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        func blobOf(_ feed: HandWrittenFeed, _ name: String) throws {
            guard "\(feed)" == "\(written)" else { throw BenchError.differs(name) }
        }
        try blobOf(try floor.read(), "the floor")
        try blobOf(try value(cache.readOutcome(HandWrittenFeed.self, identifier)), "the hand-written model")
        let decoded = try JSONDecoder().decode(CodableFeed.self, from: blob)
        let bridged = try value(cache.readOutcome(CodableFeed.self, identifier))
        guard try encoder.encode(decoded) == encoder.encode(bridged) else { throw BenchError.differs("the bridge") }
    }

    private func value<Value>(_ outcome: ReadOutcome<Value>) throws -> Value {
        switch outcome {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw BenchError.miss("\(reason)")
        }
    }
}
