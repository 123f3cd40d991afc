import EspalierStore

/// What an eviction took, from the statistics before and after it.
struct EvictionSummary: Printable {
    let before: CacheStatistics
    let after: CacheStatistics

    /// As far as other processes leave that to be told: what they store meanwhile counts against
    /// it.
    private var records: Int {
        max(0, before.records - after.records, evicted { $0.explicit.records })
    }

    private var bytes: Int {
        max(
            0, before.recordBytes.bytes - after.recordBytes.bytes,
            evicted { $0.explicit.bytes.bytes })
    }

    private func evicted(_ count: (EvictionStatistics) -> Int) -> Int {
        count(after.evictions) - count(before.evictions)
    }

    private var timeSpent: Duration { after.evictions.timeSpent - before.evictions.timeSpent }

    var report: Report {
        Report(facts: [
            ("records", "records", .count(records)),
            ("bytes", "their bytes", .size(bytes)),
            (
                "collections", "collections among them",
                .count(max(0, before.collections - after.collections))
            ),
            ("bytesInUse", "in use before", .size(before.bytesInUse.bytes)),
            ("bytesLeft", "in use now", .size(after.bytesInUse.bytes)),
            ("timeSpentNanoseconds", "time spent", .nanoseconds(timeSpent)),
        ])
    }
}
