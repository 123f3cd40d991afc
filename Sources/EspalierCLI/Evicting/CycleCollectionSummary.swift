import EspalierStore

/// What a sweep found, from the statistics before and after it.
struct CycleCollectionSummary: Printable {
    let before: CacheStatistics
    let after: CacheStatistics

    var report: Report {
        Report(facts: [
            ("records", "records looked at", .count(after.records)),
            (
                "cycleRecordsFound", "on cycles, not known before",
                .count(after.evictions.cycleRecordsFound - before.evictions.cycleRecordsFound)
            ),
            ("roots", "may be evicted now", .count(after.roots)),
            ("rootsBefore", "might be before", .count(before.roots)),
        ])
    }
}
