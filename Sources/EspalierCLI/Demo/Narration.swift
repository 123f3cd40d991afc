/// What the demo says, step by step, in lines that fit a terminal.
struct Narration: Sendable {
    let palette: Palette
    let width: Int
    /// Whether a line may be drawn over itself.
    let isLive: Bool
    /// Where text goes, newlines included.
    var write: @Sendable (String) throws -> Void = { try Console.write($0) }

    private static let indent = 3

    private var textWidth: Int { width - Self.indent }

    /// The heading of a step, and what it is about.
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

    /// A line of Swift that does what is shown.
    func code(_ text: String) throws { try show(StyledLine(text, .name)) }

    func blank() throws { try put("") }

    private func put(_ text: String) throws { try write(text + "\n") }

    func show(_ line: StyledLine) throws {
        try put(String(repeating: " ", count: Self.indent) + line.painted(palette))
    }

    func show(_ table: Table) throws {
        let lines = table.text(width: textWidth, palette: palette)
            .split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines { try put(String(repeating: " ", count: Self.indent) + line) }
    }

    func show(_ columns: SideBySide) throws {
        for line in columns.lines(width: textWidth) { try show(line) }
    }

    func show(_ steps: NextSteps) throws {
        try say(steps.title)
        for line in steps.lines(width: textWidth) { try show(line) }
    }

    /// Says what was found to hold; ends the demo if it does not.
    func claim(_ text: String, _ holds: Bool) throws {
        let mark = holds ? StyledLine("✓ ", .good) : StyledLine("✗ ", .bad)
        let lines = text.wrapped(to: textWidth - 2, indentedBy: 0).split(separator: "\n").map(
            String.init)
        for (index, line) in lines.enumerated() {
            try show((index == 0 ? mark : StyledLine("  ")) + StyledLine(line))
        }
        guard holds else { throw CommandFailure("the demo found untrue: \(text)") }
    }

    /// Draws the bar over itself on a terminal; elsewhere only when all is done.
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
