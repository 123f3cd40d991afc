/// A line made of pieces that look different on a terminal.
///
/// Example: `StyledLine("├ ", .faint) + StyledLine("Person:1", .name)`.
struct StyledLine: Sendable, Equatable {
    struct Piece: Sendable, Equatable {
        let text: String
        let style: TextStyle
    }

    private(set) var pieces: [Piece]

    /// Control characters in it are made visible: a terminal would obey them.
    init(_ text: String = "", _ style: TextStyle = .plain) {
        pieces = text.isEmpty ? [] : [Piece(text: text.withVisibleControls, style: style)]
    }

    static func + (a: StyledLine, b: StyledLine) -> StyledLine {
        var line = a
        line.pieces += b.pieces
        return line
    }

    var text: String { pieces.map(\.text).joined() }

    var columns: Int { pieces.reduce(0) { $0 + $1.text.terminalColumns } }

    /// With spaces behind it up to `width` columns, or its beginning and an ellipsis where it is
    /// wider.
    func fitted(to width: Int) -> StyledLine {
        let line = cut(to: width)
        // Also where the ellipsis stands for a character of two columns.
        return line + StyledLine(String(repeating: " ", count: max(0, width - line.columns)))
    }

    /// Its beginning and an ellipsis where it is wider than `width` columns.
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
