/// A result as rows of values: the table for a person, the JSON and the CSV for a program are all
/// made from it.
///
///     var report = Report(.list, columns: [.left("identifier"), .right("bytes", "size")])
///     report.append([.text("User:1", .name), .size(131)])
struct Report: Sendable {
    enum Layout: Sendable {
        /// Any number of rows: an array of objects in JSON.
        case list
        /// One row: an object in JSON.
        case single
        /// One row, shown with a line for each column. A name with a dot in it is a member of an
        /// object in JSON.
        case facts
    }

    /// What programs call a column, and what people read above it.
    struct Column: Sendable {
        let name: String
        let title: String
        let alignment: TableColumn.Alignment

        static func left(_ name: String, _ title: String? = nil) -> Column {
            Column(name: name, title: title ?? name, alignment: .left)
        }

        static func right(_ name: String, _ title: String? = nil) -> Column {
            Column(name: name, title: title ?? name, alignment: .right)
        }
    }

    typealias Fact = (name: String, title: String, cell: Cell)

    let layout: Layout
    let columns: [Column]
    private(set) var rows: [[Cell]] = []
    /// What stands above facts, by the index of the first one below it.
    private var headings: [Int: String] = [:]

    init(_ layout: Layout, columns: [Column]) {
        self.layout = layout
        self.columns = columns
    }

    /// What is said once of one thing.
    init(facts: [Fact]) {
        self.init(.facts, columns: facts.map { .right($0.name, $0.title) })
        append(facts.map(\.cell))
    }

    /// The same in groups, each under its title. Titles are for people only.
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
}

extension Report {
    var table: Table {
        guard layout != .facts else { return factTable }
        var table = Table(
            columns: columns.map { TableColumn(title: $0.title, alignment: $0.alignment) })
        for row in rows { table.append(row.map { Table.Cell($0.shown, $0.style) }) }
        return table
    }

    private var factTable: Table {
        let cells = rows.first ?? []
        let hasText = cells.contains { if case .text = $0 { true } else { false } }
        var table = Table(columns: [
            .left(headings[0] ?? "what"), hasText ? .left("value") : .right("value"),
        ])
        for (index, (column, cell)) in zip(columns, cells).enumerated() {
            if index > 0, let heading = headings[index] {
                table.append(["", ""])
                table.append([Table.Cell(heading, .title), ""])
            }
            let value = if case .nothing = cell { "-" } else { cell.shown }
            table.append([Table.Cell(column.title), Table.Cell(value, cell.style)])
        }
        return table
    }

    var json: JSONValue {
        let objects = rows.map { row in
            JSONValue.object(
                Self.nested(zip(columns, row).map { (path: $0.name[...], value: $1.json) }))
        }
        return layout == .list ? .array(objects) : objects.first ?? .object([])
    }

    /// `a.b` and `a.c` are members `b` and `c` of `a`.
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

    /// Rows of RFC 4180 under a row of names, with this system's newlines.
    var csv: String {
        ([columns.map(\.name)] + rows.map { $0.map(\.csv) }).map(CSV.line).joined(separator: "\n")
    }
}
