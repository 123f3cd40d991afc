#if CommandLine
/// A result as rows of values, from which the table for a person and the JSON and CSV for a program
/// are made.
///
///     Report(
///         .list, columns: [.left("identifier"), .right("bytes", "size")],
///         rows: [[.text("User:1", .name), .size(131)]])
struct Report: Sendable {
    enum Layout: Sendable {
        /// Any number of rows: an array of objects in JSON.
        case list
        /// One row: an object in JSON.
        case single
        /// One row, printed with a line per column. A name with a dot makes a nested object in
        /// JSON.
        case facts
    }

    typealias Fact = (name: String, title: String, cell: Cell)

    let layout: Layout
    let columns: [TableColumn]
    private(set) var rows: [[Cell]] = []
    /// The names of the columns that a table lacks. Programs get them all the same.
    var omitted: Set<String> = []
    /// The headings of groups of facts, by the index of the first fact below.
    private var headings: [Int: String] = [:]

    init(_ layout: Layout, columns: [TableColumn], rows: [[Cell]] = []) {
        self.layout = layout
        self.columns = columns
        for row in rows { append(row) }
    }

    /// Creates a report of one row.
    init(facts: [Fact]) {
        self.init(
            .facts, columns: facts.map { .right($0.name, $0.title) }, rows: [facts.map(\.cell)])
    }

    /// Creates a report of one row, in groups with a title each. Titles are for people only.
    init(groups: [(title: String, facts: [Fact])]) {
        self.init(facts: groups.flatMap(\.facts))
        var start = 0
        for (title, facts) in groups where !facts.isEmpty {
            headings[start] = title
            start += facts.count
        }
    }

    /// - Precondition: one cell for each column, and one row unless it is a list.
    mutating func append(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row needs one cell for each column")
        precondition(layout == .list || rows.isEmpty, "there is one row only")
        rows.append(cells)
    }

    var table: Table {
        guard layout != .facts else { return factTable }
        let shown = columns.indices.filter { !omitted.contains(columns[$0].name) }
        return Table(
            columns: shown.map { columns[$0] },
            rows: rows.map { row in
                shown.map { StyledLine(row[$0].shown, row[$0].style) }
            })
    }

    private var factTable: Table {
        let cells = rows.first ?? []
        let hasText = cells.contains { if case .text = $0 { true } else { false } }
        var table = Table(columns: [
            .left(headings[0] ?? "what"), hasText ? .left("value") : .right("value"),
        ])
        for (index, (column, cell)) in zip(columns, cells).enumerated()
        where !omitted.contains(column.name) {
            if index > 0, let heading = headings[index] {
                table.append(["", ""])
                table.append([StyledLine(heading, .title), ""])
            }
            let value = if case .nothing = cell { "-" } else { cell.shown }
            table.append([StyledLine(column.title), StyledLine(value, cell.style)])
        }
        return table
    }

    var json: JSONValue {
        let objects = rows.map { row in
            JSONValue.object(
                Self.nested(
                    zip(columns, row).compactMap { column, cell in
                        cell.json.map { (path: column.name[...], value: $0) }
                    }))
        }
        return layout == .list ? .array(objects) : objects.first ?? .object([])
    }

    /// Returns members in which `a.b` and `a.c` are the members `b` and `c` of `a`.
    private static func nested(_ values: [(path: Substring, value: JSONValue)]) -> [JSONMember] {
        var members: [JSONMember] = []
        var groups: [String: [(path: Substring, value: JSONValue)]] = [:]
        for (path, value) in values {
            guard let dot = path.firstIndex(of: ".") else {
                members.append(JSONMember(name: String(path), value: value))
                continue
            }
            let name = String(path[..<dot])
            if groups[name] == nil { members.append(JSONMember(name: name, value: .null)) }
            groups[name, default: []].append((path[path.index(after: dot)...], value))
        }
        return members.map { member in
            guard let group = groups[member.name] else { return member }
            return JSONMember(name: member.name, value: .object(nested(group)))
        }
    }

    /// The rows as in RFC 4180 under a row of names, with the newlines of this system.
    var csv: String { csv(forTerminal: false) }

    /// The rows as in `csv`. For a terminal, escapes what the terminal would obey.
    func csv(forTerminal isTerminal: Bool) -> String {
        ([columns.map(\.name)] + rows.map { $0.map(\.csv) })
            .map { CSV.line($0, forTerminal: isTerminal) }.joined(separator: "\n")
    }
}

/// A result that can be printed as a table, JSON and CSV.
protocol Printable {
    var report: Report { get }
    /// The report for a person, unless it is the same.
    var shown: Report { get }
    /// The JSON of the report, unless its rows of cells cannot express the result.
    var json: JSONValue { get }
}

extension Printable {
    var shown: Report { report }
    var json: JSONValue { report.json }
}

extension Report: Printable {
    var report: Report { self }
}

/// Comma-separated values as in RFC 4180.
enum CSV {
    /// Returns a row. For a terminal, escapes what the terminal would obey as JSON does.
    static func line(_ fields: [String], forTerminal isTerminal: Bool = false) -> String {
        fields.map { quoted(isTerminal ? $0.withEscapedControls : $0) }.joined(separator: ",")
    }

    private static func quoted(_ field: String) -> String {
        let special: Set<Unicode.Scalar> = [",", "\"", "\n", "\r"]
        guard field.unicodeScalars.contains(where: special.contains) else { return field }
        return "\""
            + String(
                String.UnicodeScalarView(
                    field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }))
            + "\""
    }
}
#endif
