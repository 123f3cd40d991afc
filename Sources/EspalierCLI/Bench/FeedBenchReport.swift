/// The times of one run, with their ratios to the floor and to JSONDecoder.
struct FeedBenchReport: Printable {
    let result: FeedBench.Result

    var report: Report {
        var report = Report(
            .list,
            columns: [
                .left("name", "reading the feed"), .right("medianMicroseconds", "median us"),
                .right("toFloor", "to the floor"), .right("toJSONDecoder", "to JSONDecoder"),
            ])
        for row in result.rows {
            report.append([
                .text(row.name), .real(row.microseconds, decimals: 0),
                .real(ratio(row, result.rows[0]), decimals: 2),
                .real(ratio(row, result.rows[result.rows.count - 1]), decimals: 2),
            ])
        }
        return report
    }

    /// What was read.
    var note: String {
        "\(result.nodes) nodes of \(result.recordBytes / max(result.nodes, 1)) bytes, blob of \(result.blobBytes)"
    }

    var json: JSONValue {
        let rows = result.rows.map { row in
            JSONValue.object([
                JSONMember(name: "name", value: .string(row.name)),
                JSONMember(name: "medianMicroseconds", value: .number(.double(row.microseconds))),
                JSONMember(name: "toFloor", value: .number(.double(ratio(row, result.rows[0])))),
            ])
        }
        return .object([
            JSONMember(name: "nodes", value: .number(JSONNumber(result.nodes))),
            JSONMember(name: "recordBytes", value: .number(JSONNumber(result.recordBytes))),
            JSONMember(name: "blobBytes", value: .number(JSONNumber(result.blobBytes))),
            JSONMember(name: "reading", value: .array(rows)),
        ])
    }

    private func ratio(_ row: FeedBench.Row, _ base: FeedBench.Row) -> Double {
        row.microseconds / base.microseconds
    }
}
