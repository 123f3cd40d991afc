import Foundation

/// A document with places for tables: replaces the text between `<!-- table NAME -->` and `<!-- end
/// -->`.
enum MarkedDocument {
    static func update(_ path: String, with report: MarkdownReport) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let updated = try replaced(
            text, with: Dictionary(report.sections.map { ($0.name, $0.text) }) { first, _ in first }
        )
        try updated.write(toFile: path, atomically: true, encoding: .utf8)
    }

    static func replaced(_ text: String, with tables: [String: String]) throws -> String {
        var result: [Substring] = []
        var isSkipping = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if isSkipping, line != "<!-- end -->" { continue }
            isSkipping = false
            result.append(line)
            guard line.hasPrefix("<!-- table "), line.hasSuffix(" -->") else { continue }
            let name = String(line.dropFirst("<!-- table ".count).dropLast(" -->".count))
            guard let table = tables[name] else {
                throw ComparisonError.missing("a table named \(name)")
            }
            result.append(Substring(table.hasSuffix("\n") ? String(table.dropLast()) : table))
            isSkipping = true
        }
        guard !isSkipping else { throw ComparisonError.missing("the end of a table") }
        return result.joined(separator: "\n")
    }
}
