#if CommandLine
import EspalierCharts
import EspalierRecords
import EspalierStore
import Foundation

/// The demo: stores a feed, shows a tree and its records, changes and deletes, reopens the cache,
/// and fills another one until it evicts.
///
/// Everything that the demo shows is read from the cache. It is compared with `feed`, in which
/// plain Swift makes the same changes.
@MainActor
struct Demonstration {
    let narration: Narration
    let directory: DemoDirectory
    let data: SocialFeed
    var cache: NormalizedCache
    /// What the cache must return.
    var feed: [Message]
    let clock = ContinuousClock()

    static let collection = "feed"

    init(_ narration: Narration, in directory: DemoDirectory, _ data: SocialFeed) throws(CacheError)
    {
        self.narration = narration
        self.directory = directory
        self.data = data
        cache = try NormalizedCache(directory: directory.path)
        feed = data.messages
    }

    mutating func run() async throws {
        defer { cache.close() }
        try introduce()
        try await store()
        try await showRecords()
        try await rename(to: SocialFeed.heroRenamed)
        try await deleteAttachment()
        try await delete(SocialFeed.guest)
        try await reopen()
        try await evict()
        try conclude()
    }

    private func introduce() throws {
        try narration.say(
            """
            Espalier keeps trees of Swift models on disk, normalized: each model with an \
            identifier is one record. A tree goes in, and a whole tree comes out. Espalier does on \
            disk what RocketData does in memory, and for any Codable types what Apollo does for \
            GraphQL. These are the demo's models; Person and Attachment are declared in the same \
            way:
            """)
        try narration.blank()
        for line in Message.declaration.split(separator: "\n") { try narration.code(String(line)) }
    }

    /// Reads the whole feed, and returns how long that took.
    func read() async throws -> (messages: [Message], time: Duration) {
        let start = clock.now
        let outcome = await cache.collectionOutcome(of: Message.self, forKey: Self.collection)
        let time = clock.now - start
        switch outcome {
        case .hit(let hit): return (hit.value, time)
        case .miss(let reason): throw CommandFailure("the demo's feed can't be read: \(reason)")
        }
    }

    func message(_ identifier: String) async throws -> Message {
        switch await cache.readOutcome(Message.self, identifier) {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw CommandFailure("\(identifier) can't be read: \(reason)")
        }
    }
}

extension Demonstration {
    private static let pageSize = 100
    /// How many writes wait for their commit at a time: enough to be committed in groups, and few
    /// enough for the bar to move smoothly.
    private static let writesAhead = 8

    /// Step 1: stores the feed, one page a write; the bar follows the tickets.
    func store() async throws {
        try narration.step(
            1, "Store a feed",
            """
            \(data.messages.count.grouped) messages come in, page by page. A person or an \
            attachment that many of them show is stored once. A write returns a ticket at once, \
            and the bar counts committed messages.
            """)
        try narration.code("let ticket = cache.append(page, toCollection: \"feed\")")
        let start = clock.now
        try await append(data.pages(of: Self.pageSize))
        let time = clock.now - start
        let statistics = try cache.statistics()
        let records = statistics.nodes + statistics.collections + statistics.segments
        try narration.blank()
        let titles = ["models in the trees", "nodes", "records", "on average", "in all", "time"]
        let figures = [
            data.modelCount.grouped, statistics.nodes.grouped, records.grouped,
            "\(statistics.recordBytes.bytes / max(records, 1)) bytes",
            SizeArgument.formatted(statistics.recordBytes.bytes), time.milliseconds,
        ]
        let table = Table(
            columns: titles.map { .right($0) }, rows: [figures.map { StyledLine($0) }])
        try narration.show(table)
        try narration.claim(
            """
            \(statistics.nodes.grouped) different models are a record each; the list of messages \
            takes \(records - statistics.nodes)
            """,
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
            if waiting.count == Self.writesAhead { try await awaitOldest() }
            waiting.append((cache.append(page, toCollection: Self.collection), page.count))
        }
        while !waiting.isEmpty { try await awaitOldest() }

        func awaitOldest() async throws {
            let oldest = waiting.removeFirst()
            try await oldest.ticket.committed
            done += oldest.count
            try narration.progress(bar, done: done)
        }
    }

    /// Step 2: shows one tree beside its records.
    func showRecords() async throws {
        try narration.step(
            2, "One tree, its records",
            """
            A message that is read is a tree. In the cache, every model of the tree is a record of \
            its own, which refers to others by their identifiers. Any number of trees share a \
            record.
            """)
        try narration.code("let message = cache.read(Message.self, \"Message:1\")")
        try narration.blank()
        let message = try await message("Message:1")
        let shown = try TreeAndRecords(message, in: cache)
        try narration.show(shown.sideBySide)
        try narration.claim(
            """
            the tree is the one that was stored; its \(message.nodeCount) models are \
            \(shown.records.count) records
            """,
            message == feed.first && shown.records.count == message.nodeCount)
    }
}

extension Demonstration {
    /// Step 3: renames a person, everywhere.
    mutating func rename(to person: Person) async throws {
        try narration.step(
            3, "Change one person",
            """
            One write of one model: it changes no message, and every message that shows the person \
            shows the new name.
            """)
        try narration.code("cache.set(Person(id: \"\(person.id)\", name: \"\(person.name)\"))")
        try narration.blank()
        let before = try await read().messages
        let written = try cache.statistics().recordsWritten
        try await cache.set(person).committed
        let recordsWritten = try cache.statistics().recordsWritten - written
        let after = try await read().messages
        let showing = zip(before, after).filter { $0.0.shows(person.id) }

        let table = Table(
            columns: [.left("message"), .left("shows"), .left("before"), .left("after")],
            rows: Self.samples(of: showing, of: person.id).map { old, new in
                [
                    StyledLine(old.modelIdentifier ?? "", .name),
                    StyledLine(old.sender.id == person.id ? "as sender" : "among likes"),
                    StyledLine(old.name(of: person.id)), StyledLine(new.name(of: person.id), .good),
                ]
            })
        try narration.show(table)
        feed = feed.map { $0.updating(person) }
        try narration.claim("\(recordsWritten) record was written", recordsWritten == 1)
        try narration.claim(
            "\(showing.count.grouped) messages show the person: all of them with the new name",
            showing.count > 0 && showing.allSatisfy { $0.1.name(of: person.id) == person.name })
        try narration.claim("nothing else is different", after == feed)
    }

    /// Returns three messages that show the person in different roles.
    private static func samples(of messages: [(Message, Message)], of person: String) -> [(
        Message, Message
    )] {
        let sent = messages.filter { $0.0.sender.id == person }
        let liked = messages.filter { $0.0.sender.id != person }
        return Array(sent.prefix(1) + liked.prefix(1) + sent.dropFirst().prefix(1))
    }
}

extension Message {
    /// Returns the name under which this message shows a person.
    fileprivate func name(of person: String) -> String {
        ([sender] + likes).first { $0.id == person }?.name ?? ""
    }
}

extension Demonstration {
    /// Step 4, first half: deletes a model that its parents show as an optional.
    mutating func deleteAttachment() async throws {
        try narration.step(
            4, "Delete",
            """
            A deleted model is gone from every tree. An optional becomes nil, and an element is \
            left out. A model that needs the deleted one, as a message needs its sender, is gone \
            too.
            """)
        let before = try await read().messages
        guard let attachment = before.first?.attachment, let identifier = attachment.modelIdentifier
        else {
            throw CommandFailure("the demo's first message lacks its attachment")
        }
        try narration.code("cache.delete(\"\(identifier)\")")
        try narration.blank()
        try await cache.delete(identifier).committed
        let after = try await read().messages
        let changed = try await message("Message:1")

        var table = Table.comparison
        table.count("messages in the feed", before, after)
        table.count("with \(identifier)", before, after) { $0.attachment?.id == attachment.id }
        table.compare(
            "Message:1, its attachment", attachment.title, changed.attachment?.title ?? "nil")
        try narration.show(table)
        feed = feed.map { $0.removing(attachment: attachment.id) }
        try narration.claim(
            "every message is still there, those with the attachment without it",
            after == feed && changed == after.first)
        try narration.blank()
    }

    /// Step 4, second half: deletes a model without which its parents cannot be read.
    mutating func delete(_ person: Person) async throws {
        let identifier = person.modelIdentifier ?? ""
        try narration.code("cache.delete(\"\(identifier)\")  // \(person.name)")
        try narration.blank()
        let before = try await read().messages
        try await cache.delete(identifier).committed
        let after = try await read().messages

        var table = Table.comparison
        table.count("messages in the feed", before, after)
        table.count("sent by \(identifier)", before, after) { $0.sender.id == person.id }
        table.count("liked by \(identifier)", before, after) { $0.isLiked(by: person.id) }
        try narration.show(table)
        let expected = feed.compactMap { $0.removing(person: person.id) }
        let sent = feed.count - expected.count
        feed = expected
        try narration.claim(
            """
            \(sent.grouped) messages went with their sender; all others are there, without that \
            person's likes
            """,
            after == feed)
        try await explainMisses(before.first { $0.sender.id == person.id }, identifier)
    }

    private func explainMisses(_ message: Message?, _ person: String) async throws {
        guard let message = message?.modelIdentifier else {
            throw CommandFailure("the demo's feed has no message of \(person)")
        }
        let ofMessage = await cache.readOutcome(Message.self, message).reason
        let ofPerson = await cache.readOutcome(Person.self, person).reason
        try narration.claim(
            "reading \(message) is a miss: \(Self.shown(ofMessage))", ofMessage == .deleted)
        try narration.claim(
            "reading \(person) is a miss: \(Self.shown(ofPerson))", ofPerson == .notFound)
    }

    private static func shown(_ reason: MissReason?) -> String {
        reason.map { ".\($0.name)" } ?? "no miss"
    }
}

extension Demonstration {
    /// Step 5: reads the same from disk as before.
    mutating func reopen() async throws {
        try narration.step(
            5, "Close, reopen, read again",
            "The reopened cache has nothing in memory: the feed comes from the files.")
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

    /// Step 7: shows statistics of the cache, and commands to try.
    func conclude() throws {
        try narration.step(
            7, "What the cache holds",
            """
            These are some of the figures that `espalier stats` prints for the first cache. The \
            messages of the deleted person are still stored, but no read returns them. A tombstone \
            stands for a deleted record to which others still refer.
            """)
        let statistics = try cache.statistics()
        try narration.show(Self.table(of: statistics))
        let report = try cache.verify()
        try narration.claim(
            """
            verify: \(report.references.grouped) references, every record and count checked, no \
            problem
            """,
            report.isClean)
        try narration.blank()
        try narration.show(NextSteps(cache: directory.isKept ? directory.path : nil))
    }

    private static let figures = [
        "nodes", "collections", "segments", "tombstones", "shapes", "recordBytes", "budget",
    ]

    private static func table(of statistics: CacheStatistics) -> Table {
        let report = StatisticsReport(statistics: statistics).report
        let rows = zip(report.columns, report.rows.first ?? []).filter { column, _ in
            figures.contains(column.name)
        }
        return valueTable(
            rows.map { column, cell in
                guard case .count(let count) = cell else { return (column.title, cell.shown) }
                return (column.title, count.grouped)
            })
    }

    private static func valueTable(_ rows: [(what: String, value: String)]) -> Table {
        Table(
            columns: [.left("what"), .right("value")],
            rows: rows.map { [StyledLine($0.what), StyledLine($0.value)] })
    }
}

extension Demonstration {
    private static let budget = ByteCount.mebibytes(2)
    /// The messages of all feeds, several budgets' worth, and of one feed. A feed is so small that
    /// each commit evicts everything that it has to: work that is left for idle times would depend
    /// on how much time there is.
    private static let messages = (all: 24_000, each: 20)
    /// How many feeds are written between two reads of Feed:1.
    private static let readInterval = 4

    /// Step 6: writes more than fits into a small cache; what is read stays.
    func evict() async throws {
        let feeds = SocialFeed(seed: data.seed, messages: Self.messages.all).pages(
            of: Self.messages.each
        ).enumerated()
            .map { Feed(id: "\($0.offset + 1)", messages: $0.element) }
        try narration.step(
            6, "Fill a small cache",
            """
            \(feeds.count) feeds go into a cache whose files may take 2 MiB. Feed:1 is read now \
            and then, the others never. To make room, the cache evicts the trees that were not \
            accessed for longest, and never a part of a tree that stays. The cache need not \
            survive a loss of power, so it does not wait for the disk. It does not compress, so it \
            is full sooner.
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
        let found = await find(feeds, in: small)
        try narration.show(Self.table(of: try small.statistics(), written.recordsWritten))
        try narration.claim(
            "Feed:1 is read whole, after \(written.recordsWritten.grouped) records were written",
            found.first?.value == feeds[0])
        try narration.claim(
            "Feed:2, which nobody read, is a miss: \(Self.shown(found[1].reason))",
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

    /// Writes the feeds, and returns the largest size of the directory.
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

    /// Looks for the feeds without counting as an access.
    private func find(_ feeds: [Feed], in small: NormalizedCache) async -> [ReadOutcome<Feed>] {
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
        return valueTable([
            ("records written", written.grouped), ("records evicted", evictions.records.grouped),
            ("not accessed for", "\(ages[0]) to \(ages[1])"),
            ("the longest that a commit spent on it", evictions.longestPause.milliseconds),
            ("records there are", statistics.records.grouped),
            ("fill", Cell.share(statistics.fill).shown),
            ("reads that were hits", Cell.share(statistics.hitRate ?? 0).shown),
        ])
    }
}

extension Table {
    /// Readings before and after a change. Those that differ stand out.
    fileprivate static let comparison = Table(
        columns: [.left("reading"), .right("before"), .right("after")])

    fileprivate mutating func compare(_ what: String, _ before: String, _ after: String) {
        append([
            StyledLine(what), StyledLine(before),
            StyledLine(after, before == after ? .plain : .good),
        ])
    }

    /// Adds the number of messages for which `condition` holds.
    fileprivate mutating func count(
        _ what: String, _ before: [Message], _ after: [Message],
        where condition: (Message) -> Bool = { _ in true }
    ) {
        compare(
            what, before.count(where: condition).grouped, after.count(where: condition).grouped)
    }
}
#endif
