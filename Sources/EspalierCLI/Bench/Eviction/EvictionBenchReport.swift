import EspalierStore

/// What filling caches came to, a row for each budget.
struct EvictionBenchReport: Printable {
    let results: [EvictionBench.Result]

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .right("budget"), .right("mostBytes", "most bytes"), .right("looks"), .right("feeds"),
                .right("failedWrites", "failed"), .right("hits"), .right("notFound", "not found"),
                .right("otherMisses", "other misses"), .left("isClean", "clean"), .right("leastFill", "least fill"),
                .right("mostFill", "most fill"), .right("records"), .right("meanBytes", "mean bytes"),
                .right("overhead", "file bytes on top"), .right("evictedRecords", "evicted"),
                .right("mapFull", "map full"), .right("microsecondsPerFeed", "us a feed"),
                .right("microsecondsPerEviction", "us an eviction"), .right("longestPause", "longest pause us"),
            ])
        for result in results { report.append(cells(result)) }
        return report
    }

    private func cells(_ result: EvictionBench.Result) -> [Cell] {
        let statistics = result.statistics
        let evictions = statistics.evictions
        return [
            .size(result.budget.bytes), .count(result.mostBytes), .count(result.looks), .count(result.feeds),
            .count(result.failedWrites), .count(result.hits), .count(result.notFound),
            .count(result.otherMisses.values.reduce(0, +)), .flag(result.isClean),
            .real(result.leastFill, decimals: 3), .real(result.mostFill, decimals: 3), .count(statistics.records),
            .real(Double(statistics.recordBytes.bytes) / Double(max(1, statistics.records)), decimals: 1),
            .real(result.overhead, decimals: 1), .count(evictions.records), .count(statistics.mapFullRecoveries),
            .real(result.seconds * 1e6 / Double(max(1, result.feeds)), decimals: 0),
            .real(evictions.timeSpent / .microseconds(1) / Double(max(1, evictions.records)), decimals: 2),
            .real(evictions.longestPause / .microseconds(1), decimals: 0),
        ]
    }
}

/// The hit rate of what is hot, beside stale cycles and beside stale trees.
struct CycleBenchReport: Printable {
    let budget: ByteCount
    let trees: Double
    let cycles: Double

    init(budget: ByteCount) throws {
        self.budget = budget
        trees = try CycleBench(budget: budget).hitRate(cyclic: false)
        cycles = try CycleBench(budget: budget).hitRate(cyclic: true)
    }

    var report: Report {
        Report(facts: [
            ("hitRateBesideTrees", "hit rate beside stale trees", .real(trees, decimals: 4)),
            ("hitRateBesideCycles", "hit rate beside stale cycles", .real(cycles, decimals: 4)),
        ])
    }
}

/// Reads while feeds are written, with eviction and without.
struct ReadLatencyBenchReport: Printable {
    private let rows: [(name: String, result: ReadLatencyBench.Result)]

    /// Turn by turn, so that what else the machine does falls on both; the median of the turns counts.
    init(small: ByteCount, large: ByteCount) throws {
        var evicting: [ReadLatencyBench.Result] = []
        var keeping: [ReadLatencyBench.Result] = []
        for _ in 0..<5 {
            evicting.append(try ReadLatencyBench().run(budget: small))
            keeping.append(try ReadLatencyBench().run(budget: large))
        }
        let middle = { (results: [ReadLatencyBench.Result]) in results.sorted { $0.p999 < $1.p999 }[2] }
        rows = [("with eviction", middle(evicting)), ("without", middle(keeping))]
    }

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .left("name", "reading a feed"), .right("medianMicroseconds", "median us"),
                .right("p999Microseconds", "p99.9 us"), .right("toWithout", "p99.9 to without"),
                .right("writes"), .right("evictedRecords", "evicted"),
            ])
        for (name, result) in rows {
            report.append([
                .text(name), .real(result.median / .microseconds(1), decimals: 0),
                .real(result.p999 / .microseconds(1), decimals: 0),
                .real(result.p999 / rows[1].result.p999, decimals: 2),
                .count(result.writes), .count(result.evicted),
            ])
        }
        return report
    }
}
