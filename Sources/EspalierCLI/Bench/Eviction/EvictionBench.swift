import EspalierRecords
import EspalierStore
import Foundation

/// Feeds without end into a cache with a budget, until several budgets' worth has been evicted; after each, some feeds are read,
/// recent ones more often.
///
/// The workload of the design's figures: 601 nodes a feed, 2,000 people drawn by Zipf 0.99, three roots read per feed.
struct EvictionBench {
    static let people = 2_000
    static let readsPerFeed = 3
    /// A tree of reads: how many feeds back they reach, by Zipf.
    static let memory = 4_096

    var budget: ByteCount
    /// Budgets' worth of records to evict.
    var turnover = 5.0
    var seed: UInt64 = 1
    var durability = Durability.noSync
    var compression = Compression.standard

    struct Result {
        var budget = ByteCount(0)
        var feeds = 0
        var hits = 0
        var notFound = 0
        /// Reads that were neither: a broken tree.
        var otherMisses: [String: Int] = [:]
        var failedWrites = 0
        var mostBytes = 0
        var looks = 0
        var isClean = false
        /// Of the pages, in the second half of the run: where it was least and most.
        var leastFill = 1.0
        var mostFill = 0.0
        var seconds = 0.0
        var statistics = CacheStatistics()
        var sizes: [TypeSizes] = []

        /// What a record takes in the file beyond its own bytes.
        var overhead: Double {
            let records = Double(max(1, statistics.records))
            return (Double(statistics.fileBytes.bytes) - Double(statistics.recordBytes.bytes)) / records
        }
    }

    func run() throws -> Result {
        let path = NSTemporaryDirectory() + "espalier-eviction-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = Configuration(budget: budget, durability: durability, compression: compression)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        defer { cache.close() }
        let watcher = DirectoryWatcher(path: path)
        var result = Result(budget: budget)
        var random = SplitMix64(state: seed)
        let people = ZipfTable(count: Self.people, exponent: 0.99)
        let recency = ZipfTable(count: Self.memory, exponent: 0.99)
        let start = ContinuousClock.now
        let goal = Double(budget.bytes) * turnover
        while true {
            let feed = WorkloadFeed(id: result.feeds) { WorkloadPerson(id: people.draw(&random)) }
            do { try cache.set(feed).wait() } catch { result.failedWrites += 1 }
            result.feeds += 1
            for _ in 0..<Self.readsPerFeed {
                let id = result.feeds - 1 - recency.draw(&random)
                if id >= 0 { read(id, of: cache, into: &result) }
            }
            guard result.feeds % 16 == 0 else { continue }
            let statistics = try cache.statistics()
            if Double(statistics.evictions.bytes.bytes) >= goal { break }
            if Double(statistics.evictions.bytes.bytes) >= goal / 2 {
                result.leastFill = min(result.leastFill, statistics.fill)
                result.mostFill = max(result.mostFill, statistics.fill)
            }
        }
        let time = ContinuousClock.now - start
        result.seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        result.statistics = try cache.statistics()
        (result.mostBytes, result.looks) = watcher.stop()
        result.sizes = try cache.inspect { try TypeSizes.measure($0) }
        result.isClean = try cache.verify().isClean
        return result
    }

    private func read(_ id: Int, of cache: NormalizedCache, into result: inout Result) {
        switch cache.readOutcome(WorkloadFeed.self, WorkloadFeed.identifier(id)) {
        case .hit: result.hits += 1
        case .miss(.notFound): result.notFound += 1
        case .miss(let reason): result.otherMisses[reason.name, default: 0] += 1
        }
    }
}
