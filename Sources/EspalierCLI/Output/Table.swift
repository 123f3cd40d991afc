/// Plain text in aligned columns, two spaces apart, under a line of titles.
///
///     var table = Table(columns: [.left("shape"), .right("records")])
///     table.append(["Status", "1,204"])
///     print(table.text)
///
/// Cells may hold text from a cache, so control characters are made visible: a terminal would obey them.
struct Table: Sendable {
    let columns: [TableColumn]
    private(set) var rows: [[String]] = []

    init(columns: [TableColumn]) {
        self.columns = columns
    }

    /// - Precondition: one cell for each column.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row needs one cell for each column")
        rows.append(cells.map(\.withVisibleControls))
    }

    /// The lines of the table, none with trailing spaces, joined by newlines.
    var text: String {
        let lines = [columns.map(\.title.withVisibleControls)] + rows
        let widths = columns.indices.map { column in
            lines.map { $0[column].terminalColumns }.max() ?? 0
        }
        return lines.map { line($0, widths: widths) }.joined(separator: "\n")
    }

    private func line(_ cells: [String], widths: [Int]) -> String {
        let padded = zip(columns, zip(cells, widths)).map { column, cell in
            column.alignment.pad(cell.0, to: cell.1)
        }
        let line = padded.joined(separator: "  ")
        return String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
    }
}

extension String {
    /// With control characters replaced by the pictures Unicode has for them.
    var withVisibleControls: String {
        guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
        var visible = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x00..<0x20: visible.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: visible.append("\u{2421}")
            case 0x80..<0xA0: visible.append("\u{FFFD}")
            default: visible.append(scalar)
            }
        }
        return String(visible)
    }
}
