#if CommandLine
/// Text in aligned columns, two spaces apart, under a line of titles.
///
///     var table = Table(columns: [.left("shape"), .right("records")])
///     table.append(["Status", "1204"])
///     print(table.text(width: 80))
///
/// If the terminal is narrower than the table, the table cuts the cells of the widest text columns
/// with an ellipsis, those of names last. Cells may hold text from a cache, so the table makes
/// control characters visible: a terminal would obey them.
struct Table: Sendable {
    let columns: [TableColumn]
    private(set) var rows: [[StyledLine]]

    private static let gap = 2
    /// The least width to which a text column is cut.
    private static let leastWidth = 8

    init(columns: [TableColumn], rows: [[StyledLine]] = []) {
        self.columns = columns
        self.rows = rows
    }

    /// - Precondition: one cell for each column.
    mutating func append(_ cells: [StyledLine]) {
        precondition(cells.count == columns.count, "a row needs one cell for each column")
        rows.append(cells)
    }

    /// Returns the lines of the table, without trailing spaces, joined by newlines.
    ///
    /// - Parameter width: The width to which columns are cut; nil for no limit.
    func text(width: Int? = nil, palette: Palette = .plain) -> String {
        let lines = [columns.map { StyledLine($0.title, .title) }] + rows
        let widths = fitted(lines, to: width)
        return lines.map { line($0, widths: widths, palette) }.joined(separator: "\n")
    }

    private func line(_ cells: [StyledLine], widths: [Int], _ palette: Palette) -> String {
        var line = ""
        // Spaces are written only when text follows them.
        var pending = 0
        for (column, cell) in cells.enumerated() {
            let text = cell.cut(to: widths[column])
            let spaces = max(0, widths[column] - text.columns)
            let (before, after) = columns[column].alignment == .left ? (0, spaces) : (spaces, 0)
            pending += before
            if !text.pieces.isEmpty {
                line += String(repeating: " ", count: pending) + text.painted(palette)
                pending = 0
            }
            pending += after + Self.gap
        }
        return line
    }

    /// Returns the widths of the columns, cut to fit into `limit`.
    private func fitted(_ lines: [[StyledLine]], to limit: Int?) -> [Int] {
        var widths = columns.indices.map { column in
            lines.map { $0[column].columns }.max() ?? 0
        }
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap * max(0, widths.count - 1) - limit
        let flexible = columns.indices.filter { columns[$0].alignment == .left }
        // Names come last, because a cut name cannot be copied.
        let named = flexible.filter { column in
            rows.contains { $0[column].pieces.first?.style == .name }
        }
        shrink(flexible.filter { !named.contains($0) }, of: &widths, by: &excess)
        shrink(named, of: &widths, by: &excess)
        return widths
    }

    /// Shrinks the widest of the given columns until `excess` is 0 or all have the least width.
    private func shrink(_ shrinking: [Int], of widths: inout [Int], by excess: inout Int) {
        while excess > 0, let widest = shrinking.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.leastWidth
        {
            // Cuts to the second widest at once; columns of equal width take turns.
            let next = shrinking.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
            let cut = min(excess, max(1, widths[widest] - max(next, Self.leastWidth)))
            widths[widest] -= cut
            excess -= cut
        }
    }
}

/// A line made of pieces that look different on a terminal.
///
/// Example: `StyledLine("├ ", .faint) + StyledLine("Person:1", .name)`.
struct StyledLine: Sendable, Equatable, ExpressibleByStringLiteral {
    struct Piece: Sendable, Equatable {
        let text: String
        let style: TextStyle
    }

    private(set) var pieces: [Piece]

    /// Makes control characters visible: a terminal would obey them.
    init(_ text: String = "", _ style: TextStyle = .plain) {
        pieces = text.isEmpty ? [] : [Piece(text: text.withVisibleControls, style: style)]
    }

    init(stringLiteral text: String) { self.init(text) }

    static func + (a: StyledLine, b: StyledLine) -> StyledLine {
        var line = a
        line.pieces += b.pieces
        return line
    }

    var text: String { pieces.map(\.text).joined() }

    var columns: Int { pieces.reduce(0) { $0 + $1.text.terminalColumns } }

    /// Returns the line with spaces behind it up to `width` columns, or its beginning and an
    /// ellipsis if it is wider.
    func fitted(to width: Int) -> StyledLine {
        let line = cut(to: width)
        // The ellipsis may replace a character of two columns.
        return line + StyledLine(String(repeating: " ", count: max(0, width - line.columns)))
    }

    /// Returns the line, or its beginning and an ellipsis if it is wider than `width` columns.
    func cut(to width: Int) -> StyledLine {
        guard columns > width else { return self }
        var left = width - 1
        var line = StyledLine()
        for piece in pieces {
            let kept = piece.text.prefix { character in
                left -= character.terminalColumns
                return left >= 0
            }
            line.pieces.append(Piece(text: kept + (left < 0 ? "…" : ""), style: piece.style))
            guard left >= 0 else { break }
        }
        return line
    }

    func painted(_ palette: Palette) -> String {
        pieces.map { palette.paint($0.text, $0.style) }.joined()
    }
}

/// A column: its name for programs, its title for people, and its alignment: text left, numbers
/// right.
struct TableColumn: Sendable {
    let name: String
    let title: String
    let alignment: Alignment

    enum Alignment: Sendable {
        case left, right

        /// Returns `cell` padded with spaces to `width` terminal columns.
        func pad(_ cell: String, to width: Int) -> String {
            let spaces = String(repeating: " ", count: max(0, width - cell.terminalColumns))
            return self == .left ? cell + spaces : spaces + cell
        }
    }

    static func left(_ name: String, _ title: String? = nil) -> TableColumn {
        TableColumn(name: name, title: title ?? name, alignment: .left)
    }

    static func right(_ name: String, _ title: String? = nil) -> TableColumn {
        TableColumn(name: name, title: title ?? name, alignment: .right)
    }
}

// Terminals give a character one column, two (East Asian wide, emoji) or none (combining marks,
// joiners). The wide ranges are those of Unicode's EastAsianWidth property W and F that are not
// emoji; the standard library knows the emoji, but not this property.

extension String {
    /// The width of the text in a terminal.
    var terminalColumns: Int {
        utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            ? utf8.count : reduce(0) { $0 + $1.terminalColumns }
    }
}

extension Character {
    /// The width of the character in a terminal, whatever number of scalars it has: 0, 1 or 2.
    var terminalColumns: Int {
        // The Unicode properties take a hundred times as long.
        if utf8.count == 1, let byte = utf8.first { return (0x20..<0x7F).contains(byte) ? 1 : 0 }
        if unicodeScalars.contains(where: \.properties.isEmojiPresentation)
            || unicodeScalars.dropFirst().contains("\u{FE0F}")
        {
            return 2
        }
        return unicodeScalars.map(\.terminalColumns).max() ?? 0
    }
}

extension Unicode.Scalar {
    fileprivate var terminalColumns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: 0
        default: Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
        }
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul initial consonants
        0x2E80...0x303E,  // CJK radicals and punctuation
        0x3041...0x33FF,  // kana, Bopomofo, Hangul compatibility, enclosed CJK
        0x3400...0x4DBF,  // CJK extension A
        0x4E00...0x9FFF,  // CJK unified ideographs
        0xA000...0xA4CF,  // Yi
        0xA960...0xA97F,  // Hangul extended A
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // CJK compatibility ideographs
        0xFE10...0xFE19,  // vertical forms
        0xFE30...0xFE6F,  // CJK compatibility and small forms
        0xFF00...0xFF60,  // full-width forms
        0xFFE0...0xFFE6,  // full-width signs
        0x16FE0...0x18DFF,  // Tangut, Khitan
        0x1AFF0...0x1B2FF,  // kana supplements, Nushu
        0x20000...0x3FFFD,  // CJK extensions B and later
    ]
}
#endif
