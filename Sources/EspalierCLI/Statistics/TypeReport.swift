import EspalierStore

/// The types of nodes, most records first.
struct TypeReport: Printable {
    let statistics: CacheStatistics
    /// Of each type by its name; empty where records were not walked.
    var bytes: [String: TypeBytes] = [:]

    /// The shares come to more than 1 where several types have written the same records.
    var report: Report {
        var columns: [Report.Column] = [.left("name", "type"), .right("records"), .right("share")]
        if !bytes.isEmpty { columns += [.right("bytes", "size"), .right("rawBytes", "raw"), .right("ratio")] }
        var report = Report(.list, columns: columns)
        for type in statistics.types {
            let share = Double(type.records) / Double(max(statistics.nodes, 1))
            var cells: [Cell] = [.text(type.name, .name), .count(type.records), .share(share)]
            if !bytes.isEmpty { cells += Self.cells(bytes[type.name]) }
            report.append(cells)
        }
        return report
    }

    private static func cells(_ bytes: TypeBytes?) -> [Cell] {
        guard let bytes else { return [.nothing, .nothing, .nothing] }
        return [.size(bytes.stored), .size(bytes.raw), .ratio(raw: bytes.raw, stored: bytes.stored)]
    }
}
