import EspalierStore

/// The types of nodes, most records first.
struct TypeReport: Printable {
    let statistics: CacheStatistics

    /// The shares come to more than 1 where several types have written the same records.
    var report: Report {
        var report = Report(.list, columns: [.left("name", "type"), .right("records"), .right("share")])
        for type in statistics.types {
            let share = Double(type.records) / Double(max(statistics.nodes, 1))
            report.append([.text(type.name, .name), .count(type.records), .share(share)])
        }
        return report
    }
}
