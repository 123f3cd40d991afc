/// A table as GitHub shows it: the first column to the left, the others to the right.
struct MarkdownTable {
    let header: [String]
    private(set) var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    mutating func append(_ row: [String]) { rows.append(row) }

    var text: String {
        let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
        return ([header, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(
            separator: "\n") + "\n"
    }
}
