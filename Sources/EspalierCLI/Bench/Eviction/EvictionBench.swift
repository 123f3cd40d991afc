import EspalierRecords
import EspalierStore
import Foundation

/// Feeds without end into a cache with a budget; after each, some are read, recent ones more often,
/// and fetched again where they are not found.
///
/// The workload of the design's figures: 601 nodes a feed, 2,000 people drawn by Zipf 0.99, three
/// roots read per feed.
struct EvictionBench {
    static let people = 2_000
    static let readsPerFeed = 3
    /// How many feeds back reads reach, by Zipf.
    static let memory = 4_096

    let path: String
    var budget: ByteCount
    /// Budgets' worth of records to evict at least, and for how long to go on.
    var turnover = 1.0
    var seconds = 0.0
    var compression = Compression.standard

    struct Result {
        /// All reads and writes, in order.
        var trace = FeedTrace()
        var writes = Timing(name: "a feed written, others evicted")
        /// Of feeds that were there.
        var reads = Timing(name: "a feed read that is there")
        /// Counted from the first eviction on.
        var counted = (hits: 0, reads: 0)
        /// Reads that were neither hit nor not found: a broken tree.
        var brokenReads = 0
        var failedWrites = 0
        var mostBytes = 0
        var isClean = false
        var statistics = CacheStatistics()
        var sizes: [TypeSizes] = []

        var hitRate: Double { Double(counted.hits) / Double(max(1, counted.reads)) }
        /// What the cache holds at the end.
        var feeds: Int { sizes.first { $0.type == "WorkloadFeed" }?.records ?? 0 }
    }

    private struct Workload {
        var random = SplitMix64(state: 1)
        let people = ZipfTable(count: EvictionBench.people, exponent: 0.99)
        let recency = ZipfTable(count: EvictionBench.memory, exponent: 0.99)

        mutating func feed(_ id: Int) -> WorkloadFeed {
            WorkloadFeed(id: id) { WorkloadPerson(id: people.draw(&random)) }
        }
    }

    func run() throws -> Result {
        let configuration = Configuration(
            budget: budget, durability: FeedCache.durability, compression: compression)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        defer { cache.close() }
        let watcher = DirectoryWatcher(path: path)
        defer { watcher.stop() }
        var result = Result()
        var workload = Workload()
        let end = ContinuousClock.now + .seconds(seconds)
        let goal = Double(budget.bytes) * turnover
        var feeds = 0
        while true {
            try write(feeds, to: cache, &workload, &result)
            feeds += 1
            for _ in 0..<Self.readsPerFeed {
                let id = feeds - 1 - workload.recency.draw(&workload.random)
                if id >= 0 { try read(id, of: cache, &workload, &result) }
            }
            guard feeds % 8 == 0 else { continue }
            let evicted = try cache.statistics().evictions.bytes.bytes
            if evicted > 0, result.trace.firstCounted == nil {
                result.trace.firstCounted = result.trace.accesses.count
            }
            if Double(evicted) >= goal, ContinuousClock.now >= end { break }
        }
        result.statistics = try cache.statistics()
        result.mostBytes = watcher.stop()
        result.sizes = try cache.inspect { try TypeSizes.measure($0) }
        result.isClean = try cache.verify().isClean
        return result
    }

    private func write(
        _ id: Int, to cache: NormalizedCache, _ workload: inout Workload, _ result: inout Result
    ) throws {
        let feed = workload.feed(id)
        result.trace.accesses.append(id)
        do {
            let time = try ContinuousClock().measure { try cache.set(feed).wait() }
            if result.trace.firstCounted != nil { result.writes.latencies.record(time) }
        } catch let error as CacheError where error.code != .diskFull && error.code != .storage {
            result.failedWrites += 1
        }
    }

    private func read(
        _ id: Int, of cache: NormalizedCache, _ workload: inout Workload, _ result: inout Result
    ) throws {
        let start = ContinuousClock.now
        let outcome = cache.readOutcome(WorkloadFeed.self, WorkloadFeed.identifier(id))
        let time = ContinuousClock.now - start
        let isCounted = result.trace.firstCounted != nil
        if isCounted { result.counted.reads += 1 }
        switch outcome {
        case .hit:
            result.trace.accesses.append(id)
            guard isCounted else { break }
            result.counted.hits += 1
            result.reads.latencies.record(time)
        case .miss(let reason):
            if reason != .notFound { result.brokenReads += 1 }
            // The write is the access.
            try write(id, to: cache, &workload, &result)
        }
    }
}
