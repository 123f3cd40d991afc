import EspalierStore

/// The statistics of a cache, to be printed.
struct StatisticsReport: Printable {
    let statistics: CacheStatistics

    private var figures: [(name: String, label: String, figure: Cell)] {
        [
            ("nodes", "nodes", .count(statistics.nodes)),
            ("roots", "roots", .count(statistics.roots)),
            ("keys", "keys", .count(statistics.keys)),
            ("collections", "collections", .count(statistics.collections)),
            ("segments", "segments", .count(statistics.segments)),
            ("tombstones", "tombstones", .count(statistics.tombstones)),
            ("shapes", "shapes", .count(statistics.shapes)),
            ("recordBytes", "records", .size(statistics.recordBytes.bytes)),
            ("pageSize", "page", .size(statistics.pageSize.bytes)),
            ("pagesUsed", "pages used", .count(statistics.pagesUsed)),
            ("pageCapacity", "pages at most", .count(statistics.pageCapacity)),
            ("fill", "fill", .share(statistics.fill)),
            ("directoryBytes", "directory", .size(statistics.directoryBytes.bytes)),
            ("budget", "budget", .size(statistics.budget.bytes)),
            ("commits", "commits", .count(statistics.commits)),
            ("writes", "writes", .count(statistics.writes)),
            ("deletes", "deletes", .count(statistics.deletes)),
            ("recordsWritten", "records written", .count(statistics.recordsWritten)),
            ("recordsUnchanged", "records unchanged", .count(statistics.recordsUnchanged)),
            ("hits", "hits of this process", .count(statistics.hits)),
        ]
    }

    private var misses: [(reason: String, count: Int)] {
        statistics.misses.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    var report: Report {
        Report(
            facts: figures.map { ($0.name, $0.label, $0.figure) }
                + misses.map { ("misses.\($0.reason)", "misses, \($0.reason)", .count($0.count)) })
    }

    /// With an object of misses even if there are none.
    var json: JSONValue {
        guard case .object(let members) = report.json, misses.isEmpty else { return report.json }
        return .object(members + [JSONMember(name: "misses", value: .object([]))])
    }
}
