#if CommandLine
import EspalierCharts

/// Prints the steps of the demo in lines that fit a terminal.
struct Narration: Sendable {
    let palette: Palette
    let width: Int
    /// Whether a line may be drawn over itself.
    let isLive: Bool
    /// Writes text as it is, newlines included.
    var write: @Sendable (String) throws -> Void = { try Console.write($0) }

    private static let indent = 3

    private var textWidth: Int { width - Self.indent }

    /// Prints the heading of a step and its introduction.
    func step(_ number: Int, _ title: String, _ text: String) throws {
        try put("\n" + palette.paint("\(number)  \(title)", .title))
        try say(text)
        try blank()
    }

    func say(_ text: String) throws {
        for line in text.wrapped(to: textWidth, indentedBy: 0).split(separator: "\n") {
            try show(StyledLine(String(line)))
        }
    }

    /// Prints the line of Swift that the step runs.
    func code(_ text: String) throws { try show(StyledLine(text, .name)) }

    func blank() throws { try put("") }

    private func put(_ text: String) throws { try write(text + "\n") }

    func show(_ line: StyledLine) throws {
        try put(String(repeating: " ", count: Self.indent) + line.painted(palette))
    }

    /// Prints a table and a blank line.
    func show(_ table: Table) throws {
        let lines = table.text(width: textWidth, palette: palette)
            .split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines { try put(String(repeating: " ", count: Self.indent) + line) }
        try blank()
    }

    /// Prints two texts side by side and a blank line.
    func show(_ columns: SideBySide) throws {
        for line in columns.lines(width: textWidth) { try show(line) }
        try blank()
    }

    func show(_ steps: NextSteps) throws {
        try say(steps.title)
        for line in steps.lines(width: textWidth) { try show(line) }
    }

    /// Prints a sentence with a check mark, and throws if the sentence does not hold.
    func claim(_ text: String, _ holds: Bool) throws {
        let mark = holds ? StyledLine("✓ ", .good) : StyledLine("✗ ", .bad)
        let lines = text.wrapped(to: textWidth - 2, indentedBy: 0).split(separator: "\n").map(
            String.init)
        for (index, line) in lines.enumerated() {
            try show((index == 0 ? mark : StyledLine("  ")) + StyledLine(line))
        }
        guard holds else { throw CommandFailure("the demo found untrue: \(text)") }
    }

    /// Draws the bar over itself on a terminal. Elsewhere, prints it when everything is done.
    func progress(_ bar: ProgressBar, done: Int) throws {
        let line =
            String(repeating: " ", count: Self.indent)
            + palette.paint(bar.text(done: done, width: textWidth - 1), .good)
        let isDone = done == bar.total
        if isLive {
            try write("\r" + line + (isDone ? "\n" : ""))
        } else if isDone {
            try put(line)
        }
    }
}

/// Progress as a line whose width does not change, so that it can be drawn over itself.
///
/// Example: `ProgressBar(total: 400, unit: "messages").text(done: 100)` is `████████░░…  25 %  100
/// of 400 messages`.
struct ProgressBar: Sendable {
    let total: Int
    let unit: String

    private static let barColumns = 4...32

    /// Returns a line of at most `width` columns, if the figures leave room for the shortest bar.
    func text(done: Int, width: Int = 80) -> String {
        let done = min(max(done, 0), total)
        // Rounded down: full only when everything is done.
        let percent = total == 0 ? 100 : done * 100 / total
        let pad = TableColumn.Alignment.right.pad
        let count = pad(done.grouped, total.grouped.count)
        let figures = "  \(pad("\(percent) %", 5))  \(count) of \(total.grouped) \(unit)"
        let columns = min(
            max(width - figures.terminalColumns, Self.barColumns.lowerBound),
            Self.barColumns.upperBound)
        let filled = total == 0 ? columns : done * columns / total
        return String(repeating: "█", count: filled)
            + String(repeating: "░", count: columns - filled) + figures
    }
}

extension Duration {
    /// The duration in whole milliseconds, or in tenths below one: `84 ms`, `0.3 ms`.
    var milliseconds: String {
        let microseconds =
            Int(components.seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000)
        guard microseconds < 1_000 else { return "\(((microseconds + 500) / 1_000).grouped) ms" }
        return "0.\(microseconds / 100) ms"
    }
}
#endif
