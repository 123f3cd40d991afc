import Foundation

/// The tables of `docs/SCHEMA.md`.
struct SchemaDocument {
    private let lines: [String]

    init(text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    static func current() throws -> SchemaDocument {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/SCHEMA.md")
        return SchemaDocument(text: try String(contentsOf: file, encoding: .utf8))
    }

    /// The rows below all headers that begin with the column `first`, in order.
    func rows(below first: String) -> [String] {
        var rows: [String] = []
        var isInside = false
        for line in lines {
            if line.hasPrefix("| \(first) |") {
                isInside = true
            } else if !line.hasPrefix("|") {
                isInside = false
            } else if isInside, !line.hasPrefix("|---") {
                rows.append(line)
            }
        }
        return rows
    }

    static func firstCell(of row: String) -> String {
        row.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) ?? ""
    }
}
