import EspalierRecords
import EspalierStore

extension Demonstration {
    private static let budget = ByteCount.mebibytes(2)
    /// Messages of all feeds, several budgets' worth of them, and of one. So few that each commit
    /// evicts all it has to: what is left to do while nobody writes would depend on the time there
    /// is for it.
    private static let messages = (all: 12_000, each: 20)
    /// How many feeds are written between two looks at the one that is wanted.
    private static let readInterval = 4

    /// Step 6: more than fits goes into a small cache, and what is read stays.
    func evict() async throws {
        let feeds = SocialFeed(seed: data.seed, messages: Self.messages.all).pages(
            of: Self.messages.each
        ).enumerated()
            .map { Feed(id: "\($0.offset + 1)", messages: $0.element) }
        try narration.step(
            6, "Fill a small cache",
            """
            \(feeds.count) feeds go into a cache that may take 2 MiB, files and all. Feed:1 is read now and then, the others \
            never. When room is needed the trees go that were not accessed for longest, and never a part of one that stays. \
            Nothing of it has to survive, so the disk is not waited for; and nothing is compressed, so that it is full sooner.
            """)
        try narration.code("let options = Configuration(")
        try narration.code("    budget: .mebibytes(2), durability: .noSync, compression: .none)")
        try narration.code(
            "let small = try NormalizedCache(directory: path, configuration: options)")
        try narration.code("small.set(feed)")
        try narration.blank()
        let small = try NormalizedCache(
            directory: directory.temporary("small.cache"),
            configuration: Configuration(
                budget: Self.budget, durability: .noSync, compression: .none))
        defer { small.close() }
        let largest = try await fill(small, with: feeds)
        let written = try small.statistics()
        let found = await look(for: feeds, in: small)
        try narration.show(Self.table(of: try small.statistics(), written.recordsWritten))
        try narration.blank()
        try narration.claim(
            "Feed:1 is read whole, after \(written.recordsWritten.grouped) records were written",
            found.first?.value == feeds[0])
        try narration.claim(
            "Feed:2, which nobody read, is a miss: \(found[1].reason.map { ".\($0.name)" } ?? "no miss")",
            found[1].reason == .notFound)
        let whole = zip(found, feeds).count { $0.value == $1 }
        let gone = found.count { $0.reason == .notFound }
        try narration.claim(
            "each feed is whole or gone, none is broken",
            whole + gone == feeds.count && whole > 0 && gone > 0)
        try narration.claim(
            "the directory never took more than its budget", largest <= Self.budget)
        try narration.claim("verify: no problem", small.verify().isClean)
    }

    /// Returns what the directory took at most.
    private func fill(_ small: NormalizedCache, with feeds: [Feed]) async throws -> ByteCount {
        let bar = ProgressBar(total: feeds.count, unit: "feeds")
        var largest = ByteCount(0)
        for (number, feed) in feeds.enumerated() {
            try await small.set(feed).committed
            if number % Self.readInterval == 0 {
                guard await small.read(Feed.self, "Feed:1") != nil else {
                    throw CommandFailure("the demo's Feed:1 was evicted, though it was read")
                }
                largest = max(largest, try small.statistics().directoryBytes)
            }
            try narration.progress(bar, done: number + 1)
        }
        try narration.blank()
        return largest
    }

    /// Peeks: to look whether something is there is no access.
    private func look(for feeds: [Feed], in small: NormalizedCache) async -> [ReadOutcome<Feed>] {
        var found: [ReadOutcome<Feed>] = []
        for feed in feeds {
            found.append(
                await small.readOutcome(Feed.self, feed.modelIdentifier ?? "", access: .peek))
        }
        return found
    }

    private static func table(of statistics: CacheStatistics, _ written: Int) -> Table {
        let evictions = statistics.evictions
        let ages = [evictions.youngestAge, evictions.oldestAge].map { Cell.seconds($0).shown }
        var table = Table(columns: [.left("what"), .right("value")])
        for (what, value) in [
            ("records written", written.grouped), ("records evicted", evictions.records.grouped),
            ("not accessed for", "\(ages[0]) to \(ages[1])"),
            ("the longest that a commit spent on it", evictions.longestPause.milliseconds),
            ("records there are", statistics.records.grouped),
            ("fill", Cell.share(statistics.fill).shown),
            ("reads that were hits", Cell.share(statistics.hitRate ?? 0).shown),
        ] { table.append([Table.Cell(what), Table.Cell(value)]) }
        return table
    }
}
