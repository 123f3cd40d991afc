import EspalierCharts
import EspalierStore

/// A small cache that is full: what its hit rate is beside that of simulations, and what evicting
/// costs.
struct EvictionSuite {
    let folder: String
    let time: Allotment

    func run() throws -> SuiteResult {
        let budget = ByteCount.mebibytes(time.isTrial ? 1 : 4)
        let cycles = ByteCount.mebibytes(1)
        // Hot trees beside stale ones first: they take the same time whatever there is.
        let besideTrees =
            time.isTrial
            ? nil : try CycleBench(folder: folder, budget: cycles).hitRate(cyclic: false)
        let besideCycles =
            time.isTrial
            ? nil : try CycleBench(folder: folder, budget: cycles).hitRate(cyclic: true)
        var bench = EvictionBench(path: folder + "/feeds", budget: budget)
        bench.turnover = time.isTrial ? 0.1 : 1
        // Verifying and simulating come after.
        bench.seconds = time.left * 0.9
        let result = try bench.run()
        let lru = result.trace.hitRate(ExactLRU(capacity: result.feeds).hits(of: result.trace))
        let optimum = result.trace.hitRate(
            OfflineOptimum(capacity: result.feeds).hits(of: result.trace))
        let evictions = result.statistics.evictions
        let perRecord = evictions.timeSpent / .nanoseconds(1) / Double(max(1, evictions.records))
        var figures: [Report.Fact] = [
            ("budget", "budget", .size(budget.bytes)),
            ("mostBytes", "most that the directory took", .size(result.mostBytes)),
            ("feeds", "feeds in the cache at the end", .count(result.feeds)),
            ("reads", "reads since it was full", .count(result.counted.reads)),
            ("hitRate", "of which hits", .share(result.hitRate)),
            ("lruHitRate", "hits of an exact LRU of as many feeds", .share(lru)),
            ("optimalHitRate", "hits of the offline optimum", .share(optimum)),
            ("evictedRecords", "records evicted", .count(evictions.records)),
            ("evictionNanoseconds", "time per evicted record", .nanoseconds(Int(perRecord))),
            (
                "longestPause", "longest part of a commit that evicted",
                .nanoseconds(Self.nanoseconds(evictions))
            ),
            ("brokenReads", "reads of broken trees", .count(result.brokenReads)),
            ("failedWrites", "writes that failed", .count(result.failedWrites)),
            ("isClean", "verify finds no problem", .flag(result.isClean)),
        ]
        if let besideTrees, let besideCycles {
            figures.append(
                ("hitRateBesideTrees", "hits of hot trees beside stale ones", .share(besideTrees)))
            figures.append(
                ("hitRateBesideCycles", "the same beside stale cycles", .share(besideCycles)))
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
