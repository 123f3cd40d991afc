#if CommandLine
import EspalierCharts
import EspalierFixtures
import EspalierStore

/// Fills a small cache: its hit rate beside that of simulations, and the cost of evicting.
struct EvictionSuite {
    let folder: String
    let time: Allotment

    func run() throws -> SuiteResult {
        let budget = ByteCount.mebibytes(time.isTrial ? 1 : 4)
        let cycles = ByteCount.mebibytes(1)
        // These come first: they take the same time, however much is left.
        let besideTrees =
            time.isTrial
            ? nil : try StaleCycles(folder: folder, budget: cycles).hitRate(cyclic: false)
        let besideCycles =
            time.isTrial
            ? nil : try StaleCycles(folder: folder, budget: cycles).hitRate(cyclic: true)
        var bench = EvictionWorkload(path: folder + "/feeds", budget: budget)
        bench.turnover = time.isTrial ? 0.1 : 1
        // The rest is for verifying and simulating.
        bench.seconds = time.left * 0.9
        let result = try bench.run()
        let lru = result.trace.hitRate(
            ExactLRU(capacity: result.feeds).hits(of: result.trace.accesses))
        let optimum = result.trace.hitRate(
            OfflineOptimum(capacity: result.feeds).hits(of: result.trace.accesses))
        let evictions = result.statistics.evictions
        let perRecord = evictions.timeSpent / .nanoseconds(1) / Double(max(1, evictions.records))
        var figures: [SuiteFigure] = [
            .init("budget", "budget", .bytes(budget.bytes)),
            .init("mostBytes", "most that the directory took", .bytes(result.mostBytes)),
            .init("feeds", "feeds in the cache at the end", .count(result.feeds)),
            .init("reads", "reads since it was full", .count(result.counted.reads)),
            .init("hitRate", "of which hits", .share(result.hitRate)),
            .init("lruHitRate", "hits of an exact LRU of as many feeds", .share(lru)),
            .init("optimalHitRate", "hits of the offline optimum", .share(optimum)),
            .init("evictedRecords", "records evicted", .count(evictions.records)),
            .init("evictionNanoseconds", "time per evicted record", .nanoseconds(Int(perRecord))),
            .init(
                "longestPause", "longest part of a commit that evicted",
                .nanoseconds(Self.nanoseconds(evictions))),
            .init("brokenReads", "reads of broken trees", .count(result.brokenReads)),
            .init("failedWrites", "writes that failed", .count(result.failedWrites)),
            .init("isClean", "verify finds no problem", .flag(result.isClean)),
        ]
        if let besideTrees, let besideCycles {
            figures.append(
                .init(
                    "hitRateBesideTrees", "hits of hot trees beside stale ones", .share(besideTrees)
                ))
            figures.append(
                .init("hitRateBesideCycles", "the same beside stale cycles", .share(besideCycles)))
        }
        return SuiteResult(
            suite: .eviction, timings: [result.writes, result.reads], baseline: result.writes.name,
            figures: figures,
            chart: .bars(
                BarChart(
                    title: "Hit rate of a full cache",
                    subtitle:
                        "Of \(result.counted.reads.grouped) reads, with room for \(result.feeds) feeds of 601 nodes",
                    unit: .share,
                    sections: [
                        .init(bars: [
                            .init("Espalier", result.hitRate, isEmphasised: true),
                            .init("exact LRU", lru),
                            .init("offline optimum", optimum),
                        ])
                    ])))
    }

    private static func nanoseconds(_ evictions: EvictionStatistics) -> Int {
        Int(evictions.longestPause / .nanoseconds(1))
    }
}

/// The feeds that were asked for, in order. A feed that was not there was fetched, so that it was
/// there afterwards.
struct FeedTrace: Sendable {
    var accesses: [Int] = []
    /// The first access that counts: when it came, the cache was full. Nil while the cache is not.
    var firstCounted: Int?

    /// Whether each access is one that a cache can hit: no cache has a feed that is asked for the
    /// first time.
    private var isRepeated: [Bool] {
        var seen: Set<Int> = []
        return accesses.map { !seen.insert($0).inserted }
    }

    /// Returns the share of hits, given which accesses hit.
    func hitRate(_ isHit: [Bool]) -> Double {
        let counted = zip(isRepeated, isHit).dropFirst(firstCounted ?? 0).filter(\.0)
        return Double(counted.count(where: \.1)) / Double(max(1, counted.count))
    }
}
#endif
