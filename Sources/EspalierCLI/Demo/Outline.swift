/// A tree to be drawn: a line, and branches below it.
///
///     Message:1
///     ├ text    "Meow"
///     └ sender  Person:1
///       └ name  "Ada"
struct Outline: Sendable, Equatable {
    /// What stands before the line, in a column of its own among its neighbours: the name of a
    /// field.
    var label = ""
    var line: StyledLine
    var branches: [Outline] = []

    /// Values behind the labels of all levels stand in one column.
    var lines: [StyledLine] {
        let column = labelColumns
        return [line] + branches.drawn(behind: "", column: column)
    }

    /// The columns that the deepest and longest label takes, with the branch before it.
    private var labelColumns: Int {
        branches.map { 2 + max($0.label.terminalColumns, $0.labelColumns) }.max() ?? 0
    }
}

extension [Outline] {
    fileprivate func drawn(behind stem: String, column: Int) -> [StyledLine] {
        enumerated().flatMap { index, branch -> [StyledLine] in
            let isLast = index == count - 1
            let start = StyledLine(stem + (isLast ? "└ " : "├ "), .faint)
            return [start + branch.labelled(upTo: column - start.columns)]
                + branch.branches.drawn(behind: stem + (isLast ? "  " : "│ "), column: column)
        }
    }
}

extension Outline {
    fileprivate func labelled(upTo column: Int) -> StyledLine {
        guard !label.isEmpty else { return line }
        guard line.columns > 0 else { return StyledLine(label) }
        return StyledLine(label).fitted(to: column) + StyledLine("  ") + line
    }
}
