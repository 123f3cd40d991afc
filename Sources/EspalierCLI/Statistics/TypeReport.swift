import EspalierStore

/// The types of nodes, most records first; then those that were only asked for in vain, most misses
/// first.
struct TypeReport: Printable {
    let statistics: CacheStatistics
    /// Of each type by its name; empty where records were not walked.
    var bytes: [String: TypeBytes] = [:]

    private struct Row {
        let name: String
        let records: Int
        let share: Double
        let misses: [(reason: String, count: Int)]

        var missCount: Int { misses.reduce(0) { $0 + $1.count } }
    }

    /// The shares come to more than 1 where several types have written the same records.
    private var rows: [Row] {
        var misses = statistics.missesByType
        let stored = statistics.types.map {
            row(of: $0.name, records: $0.records, misses.removeValue(forKey: $0.name))
        }
        let others = misses.map { row(of: $0.key, records: 0, $0.value) }
        return stored + others.sorted { ($1.missCount, $0.name) < ($0.missCount, $1.name) }
    }

    private func row(of name: String, records: Int, _ misses: [String: Int]?) -> Row {
        Row(
            name: name, records: records, share: Double(records) / Double(max(statistics.nodes, 1)),
            misses: (misses ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                ($0.key, $0.value)
            })
    }

    var report: Report {
        var columns: [Report.Column] = [.left("name", "type"), .right("records"), .right("share")]
        if !bytes.isEmpty {
            columns += [.right("bytes", "size"), .right("rawBytes", "raw"), .right("ratio")]
        }
        var report = Report(.list, columns: columns + [.left("misses")])
        for row in rows {
            var cells: [Cell] = [.text(row.name, .name), .count(row.records), .share(row.share)]
            if !bytes.isEmpty { cells += Self.cells(bytes[row.name]) }
            report.append(cells + [.texts(row.misses.map { "\($0.count) \($0.reason)" })])
        }
        return report
    }

    /// With the misses as an object: their reasons are names.
    var json: JSONValue {
        .array(
            rows.map { row in
                var members = [
                    JSONMember(name: "name", value: .string(row.name)),
                    JSONMember(name: "records", value: .number(JSONNumber(row.records))),
                    JSONMember(name: "share", value: .number(.double(row.share))),
                ]
                if let bytes = bytes[row.name] {
                    members += zip(["bytes", "rawBytes", "ratio"], Self.cells(bytes)).map {
                        JSONMember(name: $0, value: $1.json)
                    }
                }
                return .object(
                    members + [JSONMember(name: "misses", value: Self.object(row.misses))])
            })
    }

    private static func object(_ counts: [(reason: String, count: Int)]) -> JSONValue {
        .object(counts.map { JSONMember(name: $0.reason, value: .number(JSONNumber($0.count))) })
    }

    private static func cells(_ bytes: TypeBytes?) -> [Cell] {
        guard let bytes else { return [.nothing, .nothing, .nothing] }
        return [
            .size(bytes.stored), .size(bytes.raw), .ratio(raw: bytes.raw, stored: bytes.stored),
        ]
    }
}
