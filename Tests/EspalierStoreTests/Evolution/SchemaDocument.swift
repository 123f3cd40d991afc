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

    /// Returns the rows below all headers whose first column is `first`, in order.
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

/// The detail of a miss as the document shows it: an ellipsis stands for text that depends on the
/// type.
struct DetailTemplate: Hashable {
    private let text: String

    /// - Parameter cell: the template in backquotes.
    init(_ cell: String) { text = cell.trimmingCharacters(in: CharacterSet(charactersIn: "`")) }

    func matches(_ detail: String) -> Bool {
        let pattern = text.components(separatedBy: "\u{2026}").map(
            NSRegularExpression.escapedPattern(for:)
        )
        .joined(separator: ".+")
        return detail.range(of: "^\(pattern)$", options: .regularExpression) != nil
    }
}
