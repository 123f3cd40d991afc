import EspalierStore

/// What a cache did between two looks at it.
struct WatchLine {
    let before: CacheStatistics
    let after: CacheStatistics
    let elapsed: Duration

    /// How wide each column is at least: figures of a large cache fit, so that lines stand below
    /// one another.
    static let columns: [(column: Report.Column, width: Int)] = [
        (.right("records"), 10), (.right("roots"), 8), (.right("fill"), 7),
        (.right("hitRate", "hit rate"), 8),
        (.right("hitsPerSecond", "hits/s"), 9), (.right("missesPerSecond", "misses/s"), 8),
        (.right("writesPerSecond", "writes/s"), 8), (.right("evictedPerSecond", "evicted/s"), 9),
        (.right("commitP99Nanoseconds", "commit p99"), 10),
        (.right("directoryBytes", "directory"), 10),
    ]

    /// Counts of what was done are a rate; of what there is, how it stands now.
    func cells() throws -> [Cell] {
        let hits = grown { $0.hits }
        let misses = grown { $0.misses.values.reduce(0, +) }
        let rate = hits + misses == 0 ? Cell.nothing : .share(Double(hits) / Double(hits + misses))
        return [
            .count(after.records), .count(after.roots), .share(after.fill), rate, perSecond(hits),
            perSecond(misses),
            perSecond(grown { $0.writes }), perSecond(grown { $0.evictions.records }),
            .nanoseconds(try after.commitLatencies.since(before.commitLatencies).quantile(0.99)),
            .size(after.directoryBytes.bytes),
        ]
    }

    /// Some counts begin anew when the cache is emptied.
    private func grown(_ count: (CacheStatistics) -> Int) -> Int {
        let (before, after) = (count(before), count(after))
        return after < before ? after : after - before
    }

    private func perSecond(_ count: Int) -> Cell {
        let seconds =
            Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return .count(seconds > 0 ? Int((Double(count) / seconds).rounded()) : 0)
    }
}
