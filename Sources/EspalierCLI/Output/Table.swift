/// Text in aligned columns, two spaces apart, under a line of titles.
///
///     var table = Table(columns: [.left("shape"), .right("records")])
///     table.append(["Status", "1204"])
///     print(table.text(width: 80))
///
/// Where the terminal is narrower than the table, the widest columns of text give way, names last:
/// their cells end in an ellipsis. Cells may hold text from a cache, so control characters are made
/// visible: a terminal would obey them.
struct Table: Sendable {
    struct Cell: Sendable, Equatable, ExpressibleByStringLiteral {
        let text: String
        let style: TextStyle

        init(_ text: String, _ style: TextStyle = .plain) {
            self.text = text.withVisibleControls
            self.style = style
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    let columns: [TableColumn]
    private(set) var rows: [[Cell]] = []

    private static let gap = 2
    /// Text is not cut shorter than this.
    private static let leastWidth = 8

    init(columns: [TableColumn]) {
        self.columns = columns
    }

    /// - Precondition: one cell for each column.
    mutating func append(_ cells: [Cell]) {
        precondition(cells.count == columns.count, "a row needs one cell for each column")
        rows.append(cells)
    }

    /// The lines of the table, none with trailing spaces, joined by newlines. Without a width
    /// nothing is cut.
    func text(width: Int? = nil, palette: Palette = .plain) -> String {
        let lines = [columns.map { Cell($0.title, .title) }] + rows
        let widths = fitted(lines, to: width)
        return lines.map { line($0, widths: widths, palette) }.joined(separator: "\n")
    }

    private func line(_ cells: [Cell], widths: [Int], _ palette: Palette) -> String {
        var line = ""
        // Spaces are held back until something follows them.
        var pending = 0
        for (column, cell) in cells.enumerated() {
            let text = cell.text.cut(to: widths[column])
            let spaces = max(0, widths[column] - text.terminalColumns)
            let (before, after) = columns[column].alignment == .left ? (0, spaces) : (spaces, 0)
            pending += before
            if !text.isEmpty {
                line += String(repeating: " ", count: pending) + palette.paint(text, cell.style)
                pending = 0
            }
            pending += after + Self.gap
        }
        return line
    }

    /// The columns' widths, cut down to what is there.
    private func fitted(_ lines: [[Cell]], to limit: Int?) -> [Int] {
        var widths = columns.indices.map { column in
            lines.map { $0[column].text.terminalColumns }.max() ?? 0
        }
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap * max(0, widths.count - 1) - limit
        let flexible = columns.indices.filter { columns[$0].alignment == .left }
        // Names last: cut off they can't be copied.
        let named = flexible.filter { column in rows.contains { $0[column].style == .name } }
        shrink(flexible.filter { !named.contains($0) }, of: &widths, by: &excess)
        shrink(named, of: &widths, by: &excess)
        return widths
    }

    /// Takes what is too much from the widest of some columns, down to a least width.
    private func shrink(_ shrinking: [Int], of widths: inout [Int], by excess: inout Int) {
        while excess > 0, let widest = shrinking.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.leastWidth
        {
            // Down to the second widest at once; columns of one width take turns.
            let next = shrinking.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
            let cut = min(excess, max(1, widths[widest] - max(next, Self.leastWidth)))
            widths[widest] -= cut
            excess -= cut
        }
    }
}

extension String {
    /// Its beginning and an ellipsis where it is wider than `columns`.
    fileprivate func cut(to columns: Int) -> String {
        guard terminalColumns > columns else { return self }
        var left = columns - 1
        let kept = prefix { character in
            left -= character.terminalColumns
            return left >= 0
        }
        return kept + "…"
    }

    /// With control characters replaced by the pictures Unicode has for them, and with none that
    /// break lines or turn the direction of what follows.
    var withVisibleControls: String {
        guard unicodeScalars.contains(where: \.isDisruptive) else { return self }
        var visible = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x00..<0x20: visible.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: visible.append("\u{2421}")
            default: visible.append(scalar.isDisruptive ? "\u{FFFD}" : scalar)
            }
        }
        return String(visible)
    }
}

extension Unicode.Scalar {
    fileprivate var isDisruptive: Bool {
        switch value {
        case 0x00..<0x20, 0x7F..<0xA0: true
        case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
