/// How far something has come, as a line whose width does not change, so that it can be drawn over
/// itself.
///
/// Example: `ProgressBar(total: 400, unit: "messages").text(done: 100)` is `████████░░…  25 %  100
/// of 400 messages`.
struct ProgressBar: Sendable {
    let total: Int
    let unit: String

    private static let barColumns = 4...32

    /// A line of at most `width` columns, where the figures leave room for a bar at all.
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
