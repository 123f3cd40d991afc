import EspalierLMDB
import EspalierStore

/// A cache's budget, and what of it is used.
struct BudgetReport: Printable {
    let statistics: CacheStatistics
    let condition: CacheCondition
    let pinnedBytes: ByteCount

    var report: Report {
        // As much as the files beside the records take.
        let sideFiles = statistics.bytesInUse.bytes - statistics.pageBytes.bytes
        let high = condition.usablePages * statistics.pageSize.bytes + sideFiles
        return Report(facts: [
            ("budget", "budget", .size(statistics.budget.bytes)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes.bytes)),
            ("bytesInUse", "in use", .size(statistics.bytesInUse.bytes)),
            ("evictsAboveBytes", "evicts above", .size(high)),
            ("pinnedBytes", "pinned, at most", .size(pinnedBytes.bytes)),
            ("pinLimitBytes", "may be pinned", .size(statistics.budget.bytes / 2)),
        ])
    }
}
