import Foundation

/// The times of one run, with their ratios to the floor and to JSONDecoder.
struct FeedBenchReport: Printable {
    let result: FeedBench.Result

    var table: Table {
        var table = Table(columns: [
            .left("reading the feed"), .right("median us"), .right("to the floor"), .right("to JSONDecoder"),
        ])
        for row in result.rows {
            table.append([
                row.name, String(format: "%.0f", row.microseconds), String(format: "%.2f", ratio(row, result.rows[0])),
                String(format: "%.2f", ratio(row, result.rows[result.rows.count - 1])),
            ])
        }
        table.append([
            "\(result.nodes) nodes of \(result.recordBytes / max(result.nodes, 1)) bytes, blob of \(result.blobBytes)",
            "", "", "",
        ])
        return table
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
