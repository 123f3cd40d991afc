/// Two texts in columns of the same width, each under its title.
///
///     the tree         │  the records
///     Message:1        │  Message:1
///     └ sender  …      │  └ sender  → Person:1
struct SideBySide: Sendable {
    let left: (title: String, lines: [StyledLine])
    let right: (title: String, lines: [StyledLine])

    private static let separator = " │ "

    /// Lines of at most `width` columns; what does not fit ends in an ellipsis. None has trailing
    /// spaces.
    func lines(width: Int) -> [StyledLine] {
        let half = max(1, (width - Self.separator.terminalColumns) / 2)
        let left = [StyledLine(left.title, .title)] + left.lines
        let right = [StyledLine(right.title, .title)] + right.lines
        return (0..<max(left.count, right.count)).map { index in
            let start = index < left.count ? left[index] : StyledLine()
            guard index < right.count, right[index].columns > 0 else {
                return start.fitted(to: half)
                    + StyledLine(String(Self.separator.dropLast()), .faint)
            }
            return start.fitted(to: half) + StyledLine(Self.separator, .faint)
                + right[index].cut(to: half)
        }
    }
}
