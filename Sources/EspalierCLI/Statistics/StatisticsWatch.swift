import EspalierStore

/// Prints what a cache does, a line for each interval, until it is told to end.
struct StatisticsWatch {
    let cache: NormalizedCache
    let output: OutputOptions
    /// How many lines are enough; nil for no end.
    let count: Int?

    /// Lines below one header.
    private static let linesPerHeader = 20

    func run(_ ticks: Ticks) async throws {
        let clock = ContinuousClock()
        var before = try cache.statistics()
        var start = clock.now
        var lines = 0
        for await _ in ticks.stream {
            let now = clock.now
            let after = try cache.statistics()
            try print(WatchLine(before: before, after: after, elapsed: now - start), number: lines)
            (before, start) = (after, now)
            lines += 1
            if let count, lines >= count { break }
        }
    }

    private func print(_ line: WatchLine, number: Int) throws {
        let columns = WatchLine.columns
        let cells = try line.cells()
        switch output.format {
        case .table:
            if number % Self.linesPerHeader == 0 {
                try Console.print(output.palette.paint(row(columns.map(\.column.title)), .title))
            }
            try Console.print(row(cells.map { if case .nothing = $0 { "-" } else { $0.shown } }))
        case .json:
            let members = zip(columns, cells).map {
                JSONMember(name: $0.column.name, value: $1.json)
            }
            try Console.print(.object(members), style: .compact)
        case .csv:
            if number == 0 { try Console.print(CSV.line(columns.map(\.column.name))) }
            try Console.print(CSV.line(cells.map(\.csv)))
        }
    }

    private func row(_ texts: [String]) -> String {
        zip(WatchLine.columns, texts).map { TableColumn.Alignment.right.pad($1, to: $0.width) }
            .joined(separator: " ")
    }
}
