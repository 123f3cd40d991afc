import EspalierStore

extension Demonstration {
    private static let pageSize = 100
    /// Writes on their way at once: enough to be committed in groups, few enough for the bar to
    /// move smoothly.
    private static let writesAhead = 8

    /// Step 1: the feed goes in, a page a write; the bar follows the tickets.
    func store() async throws {
        try narration.step(
            1, "Store a feed",
            """
            \(data.messages.count.grouped) messages come in, page by page; a person or an attachment that many of them \
            show is stored once. A write returns a ticket at once, and the bar counts what is committed.
            """)
        try narration.code("let ticket = cache.append(page, toCollection: \"feed\")")
        let start = clock.now
        try await append(data.pages(of: Self.pageSize))
        let time = clock.now - start
        let statistics = try cache.statistics()
        let records = statistics.nodes + statistics.collections + statistics.segments
        try narration.blank()
        var table = Table(
            columns: ["models in the trees", "nodes", "records", "on average", "in all", "time"].map
            { .right($0) })
        table.append(
            [
                data.modelCount.grouped, statistics.nodes.grouped, records.grouped,
                "\(statistics.recordBytes.bytes / max(records, 1)) bytes",
                SizeArgument.formatted(statistics.recordBytes.bytes), time.milliseconds,
            ].map { Table.Cell($0) })
        try narration.show(table)
        try narration.blank()
        try narration.claim(
            "\(statistics.nodes.grouped) different models are a record each; the list of messages takes \(records - statistics.nodes)",
            statistics.nodes == data.nodeCount)
        let read = try await read()
        try narration.claim(
            "read back whole, equal to what went in: \(read.time.milliseconds)",
            read.messages == feed)
    }

    private func append(_ pages: [[Message]]) async throws {
        let bar = ProgressBar(total: data.messages.count, unit: "messages")
        var waiting: [(ticket: WriteTicket, count: Int)] = []
        var done = 0
        for page in pages {
            if waiting.count == Self.writesAhead { try await take() }
            waiting.append((cache.append(page, toCollection: Self.collection), page.count))
        }
        while !waiting.isEmpty { try await take() }

        func take() async throws {
            let oldest = waiting.removeFirst()
            try await oldest.ticket.committed
            done += oldest.count
            try narration.progress(bar, done: done)
        }
    }

    /// Step 2: one tree beside its records.
    func look() async throws {
        try narration.step(
            2, "One tree, its records",
            """
            Read, a message is a tree. Stored, every model in it is a record of its own, which refers to others by \
            their identifier and can be shared by any number of trees.
            """)
        try narration.code("let message = cache.read(Message.self, \"Message:1\")")
        try narration.blank()
        let message = try await message("Message:1")
        let shown = try TreeAndRecords(message, in: cache)
        try narration.show(shown.sideBySide)
        try narration.blank()
        try narration.claim(
            "the tree is the one that was stored; its \(message.nodeCount) models are \(shown.records.count) records",
            message == feed.first && shown.records.count == message.nodeCount)
    }
}
