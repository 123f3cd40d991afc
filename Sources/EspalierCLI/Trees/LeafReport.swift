/// A tree as rows, one for each value that is not made of others: `entities.media[0].url`.
struct LeafReport: Printable {
    let tree: JSONValue

    var report: Report {
        var report = Report(.list, columns: [.left("path"), .left("value")])
        tree.forEachLeaf { path, value in
            report.append([.text(path.description, .name), Self.cell(value)])
        }
        return report
    }

    var json: JSONValue { tree }

    private static func cell(_ value: JSONValue) -> Cell {
        switch value {
        case .string(let text): .text(text)
        case .null, .array, .object: .text(JSONWriter().string(from: value), .faint)
        case .bool, .number: .text(JSONWriter().string(from: value))
        }
    }
}
