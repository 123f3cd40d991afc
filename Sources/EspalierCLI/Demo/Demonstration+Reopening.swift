import EspalierStore

extension Demonstration {
    /// Step 5: what is on disk is what was read before.
    mutating func reopen() async throws {
        try narration.step(
            5, "Close, reopen, read again",
            "Nothing was kept in memory: the feed comes from the files.")
        try narration.code("cache.close()")
        try narration.code("let cache = try NormalizedCache(directory: path)")
        try narration.blank()
        let before = try await read().messages
        cache.close()
        let start = clock.now
        cache = try NormalizedCache(directory: directory.path)
        let time = clock.now - start
        let read = try await read()
        try narration.claim(
            "\(read.messages.count.grouped) messages, equal to what was read before",
            read.messages == before)
        try narration.say("Opened in \(time.milliseconds), read in \(read.time.milliseconds).")
    }

    /// Step 7: what the cache says of itself, and what there is to try.
    func conclude() throws {
        try narration.step(
            7, "What the cache holds",
            """
            Some of what `espalier stats` tells of the first cache. The messages of the deleted person are stored still, though no read \
            shows them; a tombstone stands for what was deleted and is still referred to.
            """)
        let statistics = try cache.statistics()
        try narration.show(Self.table(of: statistics))
        try narration.blank()
        let report = try cache.verify()
        try narration.claim(
            "verify: \(report.references.grouped) references, every record and count checked, no problem",
            report.isClean)
        try narration.blank()
        try narration.show(NextSteps(cache: directory.isKept ? directory.path : nil))
    }

    private static let figures = [
        "nodes", "collections", "segments", "tombstones", "shapes", "recordBytes", "budget",
    ]

    private static func table(of statistics: CacheStatistics) -> Table {
        let report = StatisticsReport(statistics: statistics).report
        var table = Table(columns: [.left("what"), .right("value")])
        for (column, cell) in zip(report.columns, report.rows.first ?? [])
        where figures.contains(column.name) {
            let shown = if case .count(let count) = cell { count.grouped } else { cell.shown }
            table.append([Table.Cell(column.title), Table.Cell(shown)])
        }
        return table
    }
}
