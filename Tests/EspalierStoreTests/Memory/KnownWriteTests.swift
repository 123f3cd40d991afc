import EspalierLMDB
import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Writes that memory knows to be stored", .timeLimit(.minutes(4)))
struct KnownWriteTests {
    private static let tree = Page(
        1, "a", [Page(2, "b", [Page(4, "d")]), Page(3, "c", [Page(4, "d")])])

    /// Writes the tree until memory knows it, makes a change, and writes the tree again. Returns
    /// how many writes memory knew after the change.
    private func repeats(
        after change: (NormalizedCache) async throws -> Void = { _ in }
    ) async throws -> Int {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        let before = try cache.statistics()
        #expect(before.memory.repeatedWrites == 1)
        #expect(before.recordsUnchanged == 8 && before.recordsWritten == 4)
        try await change(cache)
        try await cache.set(Self.tree).committed
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
        for identifier in ["Page:2", "Page:3", "Page:4"] {
            #expect(await cache.read(Page.self, identifier) != nil)
        }
        try expectClean(cache)
        return try cache.statistics().memory.repeatedWrites - before.memory.repeatedWrites
    }

    @Test("From the third time on, a write of a model that has not changed is known")
    func known() async throws {
        #expect(try await repeats() == 1)
        // A change of another tree has no part in it.
        #expect(try await repeats { try await $0.set(Page(9, "x")).committed } == 1)
        // Nor has a read.
        #expect(try await repeats { _ = await $0.read(Page.self, "Page:1") } == 1)
    }

    @Test("A change of any record since is overwritten")
    func changes() async throws {
        #expect(try await repeats { try await $0.set(Page(1, "a")).committed } == 0)
        #expect(try await repeats { try await $0.set(Page(4, "D")).committed } == 0)
        #expect(try await repeats { try await $0.delete("Page:4").committed } == 0)
        #expect(try await repeats { try await $0.delete("Page:1").committed } == 0)
        #expect(try await repeats { try await $0.evict("Page:1").committed } == 0)
        #expect(try await repeats { try await $0.removeAll().committed } == 0)
        #expect(
            try await repeats { cache in
                try await cache.transaction { try $0.set(Page(2, "B")) }
            } == 0)
        #expect(
            try await repeats { cache in
                let change = cache.optimistically { $0.set(Page(3, "C")) }
                try await change.applied.committed
                try await cache.set(Self.tree).committed
                try await change.rollback().committed
            } == 0)
        #expect(try await repeats { $0.trimMemory() } == 0)
    }

    /// Returns the tree with the text of the first part changed, and with an added part.
    private static func changed(_ text: String, added id: Int) -> Page {
        Page(1, "a", [Page(2, text, [Page(4, "d")]), Page(3, "c", [Page(4, "d")]), Page(id, "n")])
    }

    @Test("A write that changes few records is kept, and the next one looks at what it changes")
    func fewChanges() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        try await cache.set(Self.tree).committed
        for turn in 0..<5 {
            let tree = Self.changed("\(turn)", added: 10 + turn)
            try await cache.set(tree).committed
            #expect(await cache.read(Page.self, "Page:1") == tree)
            try await cache.set(tree).committed
            #expect(await cache.read(Page.self, "Page:1") == tree)
        }
        let statistics = try cache.statistics()
        // Of five records, only the root, the part and the new record are written.
        #expect(statistics.recordsWritten == 4 + 5 * 3)
        #expect(statistics.recordsUnchanged == 5 * 2 + 5 * 5)
        try expectClean(cache)
    }

    @Test("A record that was lost or changed since is written with the changes of others")
    func fewChangesMore() async throws {
        typealias Change = @Sendable (NormalizedCache) async throws -> Void
        let changes: [Change] = [
            { try await $0.set(Page(4, "D")).committed },
            { try await $0.delete("Page:4").committed },
            { try await $0.delete("Page:3").committed },
            { try await $0.delete("Page:1").committed },
            { try await $0.set(Page(11, "N", [Page(2, "b")])).committed },
            {
                try $0.tamperIndex { $0.remove("Page:4") }
                _ = await $0.read(Page.self, "Page:4")
            },
            { cache in
                try cache.damage("Page:4")
                _ = await cache.read(Page.self, "Page:4")
                try cache.hideChanges()
            },
            { cache in
                let tickets = try await cache.transaction { _ in
                    // Both wait for this transaction, and share the next commit.
                    [cache.set(Page(4, "D")), cache.set(Self.changed("2", added: 12))]
                }
                for ticket in tickets { try await ticket.committed }
            },
            { cache in
                let tickets = try await cache.transaction { _ in
                    // The commit changes a new record of the kept write once more.
                    [cache.set(Self.changed("2", added: 13)), cache.set(Page(13, "N"))]
                }
                for ticket in tickets { try await ticket.committed }
            },
            { cache in
                let tickets = try await cache.transaction { _ in
                    [cache.set(Self.changed("2", added: 13)), cache.delete("Page:13")]
                }
                for ticket in tickets { try await ticket.committed }
            },
        ]
        for (turn, change) in changes.enumerated() {
            let scratch = try Scratch()
            let cache = try scratch.open(.forTests)
            defer { cache.close() }
            for text in ["1", "2"] {
                try await cache.set(Self.changed(text, added: 11)).committed
            }
            try await change(cache)
            let tree = Self.changed("3", added: 13)
            try await cache.set(tree).committed
            #expect(await cache.read(Page.self, "Page:1") == tree, "change \(turn)")
            for part in [4, 13] {
                #expect(await cache.read(Page.self, "Page:\(part)") != nil, "change \(turn)")
            }
            // The entry that was taken from the index is missing until the index is rebuilt.
            if turn != 5 { try expectClean(cache) }
        }
    }

    @Test("A part that was damaged unnoticed is stored again where its parents refer to it")
    func fewChangesAfterDamage() async throws {
        // The index has only a part of so long a name, and can't tell whose the record was.
        let part = 1_234_567_890_123_456_789
        func tree(_ text: String) -> Page {
            Page(1, "a", [Page(2, "b", [Page(part, text)]), Page(3, "c")])
        }
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for text in ["1", "2", "3"] { try await cache.set(tree(text)).committed }
        try cache.damage("Page:\(part)")
        try cache.hideChanges()
        try await cache.set(tree("4")).committed
        #expect(await cache.read(Page.self, "Page:1") == tree("4"))
        #expect(await cache.read(Page.self, "Page:2") == tree("4").parts[0])
    }

    @Test("A change in the same commit, or by another process, is overwritten")
    func changesElsewhere() async throws {
        // Only the write after both is known.
        let repeats = try await repeats { cache in
            let known = try cache.statistics().memory.repeatedWrites
            let tickets = try await cache.transaction { _ in
                // Both wait for this transaction, and share the next commit.
                [cache.set(Page(4, "D")), cache.set(Self.tree)]
            }
            for ticket in tickets { try await ticket.committed }
            #expect(try cache.statistics().memory.repeatedWrites == known)
        }
        #expect(repeats == 1)
        #expect(
            try await self.repeats { cache in
                await #expect(processExitsWith: .success) {
                    [directory = cache.engine.directory.path as String] in
                    let other = try NormalizedCache(directory: directory, configuration: .forTests)
                    try other.set(Page(4, "D")).wait()
                    other.close()
                }
            } == 0)
    }

    @Test("Models with equal text of other bytes, or of another policy, are written")
    func exactness() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        // `==` holds for both: an accent by itself and as a part of the letter.
        let (one, other) = (Page(1, "caf\u{e9}"), Page(1, "cafe\u{301}"))
        #expect(one == other)
        for _ in 0..<3 { try await cache.set(one).committed }
        try await cache.set(other).committed
        let text = try #require(await cache.read(Page.self, "Page:1")).text
        #expect(Array(text.utf8) == Array(other.text.utf8))
        for _ in 0..<3 { try await cache.set(other).committed }
        let known = try cache.statistics().memory.repeatedWrites
        try await cache.set(other, policy: .merge).committed
        try await cache.set(other, maxAge: .seconds(60)).committed
        #expect(try cache.statistics().memory.repeatedWrites == known)
        // The age of the record holds for all writes from now on.
        try await cache.set(other).committed
        try await cache.set(other).committed
        #expect(try cache.statistics().memory.repeatedWrites == known)
    }

    @Test("A known write counts as an access and has a new date")
    func access() async throws {
        final class Clock: Sendable {
            let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        }
        let clock = Clock()
        var configuration = Configuration.forTests(budget: .mebibytes(1))
        configuration.clock = WallClock(of: clock) { $0.date.withLock { $0 } }
        let scratch = try Scratch()
        let cache = try scratch.open(configuration)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try await cache.set(Page(9, "x")).committed
        clock.date.withLock { $0 += 100 }
        try await cache.set(Self.tree).committed
        #expect(try cache.statistics().memory.repeatedWrites == 2)
        guard case .hit(let hit) = await cache.readOutcome(Page.self, "Page:1") else {
            Issue.record("a miss")
            return
        }
        #expect(hit.writtenAt == clock.date.withLock { $0 })
        // Of two records that no read asks for, the one that is written again stays.
        try cache.overfill(budgets: 2) { try cache.set(Self.tree).wait() }
        #expect(await cache.read(Page.self, "Page:9") == nil)
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
        #expect(try cache.statistics().memory.repeatedWrites > 5)
    }

    @Test("Values and lists under keys are known, too")
    func keys() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        let list = [Self.tree, Page(9, "x")]
        for _ in 0..<4 {
            try await cache.setModel(Self.tree, forKey: "first").committed
            try await cache.setCollection(list, forKey: "all").committed
        }
        // The first write of the list is kept, because most of its records were there.
        #expect(try cache.statistics().memory.repeatedWrites == 5)
        try await cache.setModel(Page(9, "x"), forKey: "first").committed
        try await cache.setModel(Self.tree, forKey: "first").committed
        #expect(await cache.modelOutcome(Page.self, forKey: "first").value == Self.tree)
        try await cache.append([Page(10, "y")], toCollection: "all").committed
        #expect(await cache.collection(of: Page.self, forKey: "all")?.count == 3)
        try await cache.setCollection(list, forKey: "all").committed
        #expect(await cache.collection(of: Page.self, forKey: "all") == list)
        try expectClean(cache)
    }

    @Test("A type that does not tell what it writes is written each time")
    func unknownTypes() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<4 { try await cache.set(Person("p:1", "Ada")).committed }
        let statistics = try cache.statistics()
        #expect(statistics.memory.repeatedWrites == 0 && statistics.memory.trees == 0)
    }

    /// Damages a record so that the memory does not hear of it: the test writes to the file as
    /// another process would, and the memory would count everything as changed.
    private func damageRecord(of cache: NormalizedCache) throws {
        try cache.damage("Page:4")
        try cache.hideChanges()
    }

    @Test("Damage that no read has met stays when a known model is written again")
    func unknownDamage() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try damageRecord(of: cache)
        try await cache.set(Self.tree).committed
        #expect(try cache.statistics().memory.repeatedWrites == 2)
        #expect(await cache.read(Page.self, "Page:4") == nil)
    }

    @Test("After a read has not found an entry, the next write of it looks at the records")
    func misses() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try cache.tamperIndex { $0.remove("Page:1") }
        try cache.hideChanges()
        #expect(await cache.read(Page.self, "Page:1") == nil)
        try await cache.set(Self.tree).committed
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
    }

    @Test(
        "Once a read has found a record damaged, the next write stores it again",
        arguments: [Access.touch, .peek], [true, false])
    func damage(access: Access, commitsBetween: Bool) async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try damageRecord(of: cache)
        let outcome = await cache.readOutcome(Page.self, "Page:4", access: access)
        #expect(outcome.reason?.name == "damaged")
        if commitsBetween { try await cache.set(Page(9, "x")).committed }
        try await cache.set(Self.tree).committed
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
        try expectClean(cache)
    }

    @Test("A write that was under way when a read found damage stores the record again")
    func damageMeanwhile() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try damageRecord(of: cache)
        try await cache.transaction { transaction in
            // The write is flattened, and waits for this transaction.
            cache.set(Self.tree)
            #expect(transaction.read(Page.self, "Page:4") == nil)
        }
        try await cache.set(Page(9, "x")).committed
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
        try expectClean(cache)
    }

    @Test("Once a read has found the index damaged, the next write stores the entry again")
    func damagedIndex() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        for _ in 0..<3 { try await cache.set(Self.tree).committed }
        try cache.tamperIndex { $0.damageGroup(of: "Page:1") }
        try cache.hideChanges()
        #expect(await cache.read(Page.self, "Page:1") == nil)
        try await cache.set(Self.tree).committed
        #expect(await cache.read(Page.self, "Page:1") == Self.tree)
    }

    @Test("A tree whose parts have millions of occurrences is not kept, and written at once")
    func manyOccurrences() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        var page = Page(0, "leaf")
        for id in 1...60 { page = Page(id, "text", [page, page]) }
        for _ in 0..<3 { try await cache.set(page).committed }
        // A write that merges walks each occurrence: here 8,191 of 13 nodes.
        var merged = Page(0, "leaf")
        for id in 1...12 { merged = Page(id, "text", [merged, merged]) }
        for _ in 0..<3 { try await cache.set(merged, policy: .merge).committed }
        let statistics = try cache.statistics()
        #expect(statistics.nodes == 61 && statistics.memory.repeatedWrites == 0)
        #expect(statistics.memory.trees == 0)
    }

    @Test("A tree with a cycle is written each time, because its records need stamps")
    func cycles() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests)
        defer { cache.close() }
        let page = Page(1, "a", [Page(2, "b", [Page(1, "a")])])
        for _ in 0..<4 { try await cache.set(page).committed }
        #expect(try cache.statistics().memory.repeatedWrites == 0)
    }
}

@Suite("Random writes with memory and without", .timeLimit(.minutes(4)))
struct KnownWriteWalkTests {
    @Test("A cache that knows its writes stores what one without memory does", arguments: 0..<2)
    func walk(turn: Int) async throws {
        let seed = UInt64.random(in: 0...999_999)
        var walk = try WriteWalk(seed: seed)
        for step in 1...1_500 {
            try await walk.step()
            #expect(walk.differences == [], "seed \(seed), step \(step)")
            if !walk.differences.isEmpty { break }
        }
        let (known, other) = try walk.close()
        #expect(known.memory.repeatedWrites > 50, "seed \(seed)")
        #expect(known.recordsWritten == other.recordsWritten, "seed \(seed)")
        #expect(known.recordsUnchanged == other.recordsUnchanged, "seed \(seed)")
        #expect(known.writes == other.writes && known.nodes == other.nodes, "seed \(seed)")
    }

    @Test("The walk notices a commit that does not tell what it changes")
    func canary() async throws {
        var walk = try WriteWalk(seed: 1)
        walk.hidesChanges = true
        var step = 0
        while walk.differences.isEmpty, step < 1_500 {
            step += 1
            try await walk.step()
        }
        #expect(!walk.differences.isEmpty)
        _ = try walk.close()
    }
}

extension NormalizedCache {
    /// Makes the memory count everything as unchanged: a deliberate defect.
    fileprivate func hideChanges() throws {
        engine.memory?.hideChanges(upTo: try generation.environment.lastTransaction)
    }
}

/// Two caches, one with memory, and random changes that are made in both.
private struct WriteWalk {
    private let scratches: [Scratch]
    private var caches: [NormalizedCache]
    private var configurations: [Configuration]
    private var random: SeededGenerator
    private var last = Page(0, "")
    private(set) var differences: [String] = []
    /// Whether commits keep to themselves what they have changed, as a defect would.
    var hidesChanges = false

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        scratches = try (0..<2).map { _ in try Scratch() }
        configurations = [.forTests, .withoutMemory]
        caches = try zip(scratches, configurations).map { try $0.open($1) }
    }

    /// Closes both caches and returns their statistics: of the one with memory, and of the other.
    mutating func close() throws -> (CacheStatistics, CacheStatistics) {
        let statistics = try caches.map { try $0.statistics() }
        for cache in caches {
            try expectClean(cache)
            cache.close()
        }
        return (statistics[0], statistics[1])
    }

    mutating func step() async throws {
        let change = change()
        var failures: [Bool] = []
        for cache in caches {
            do {
                try await change(cache)
                failures.append(false)
            } catch is CacheError {
                failures.append(true)
            }
        }
        if failures[0] != failures[1] { differences.append("failures \(failures)") }
        if hidesChanges { try caches[0].hideChanges() }
        for id in 0..<12 {
            compare("Page:\(id)") { $0.json(of: "Page:\(id)") }
        }
        for key in ["a", "b"] {
            compare("list \(key)") {
                $0.collection(of: Page.self, forKey: key)
            }
            compare("key \(key)") { $0.modelOutcome(Page.self, forKey: key).value }
        }
    }

    private mutating func compare<Value: Equatable>(
        _ what: String, _ value: (NormalizedCache) -> Value
    ) {
        let values = caches.map(value)
        if values[0] != values[1] {
            differences.append("\(what): \(values[0]) with memory, \(values[1]) without")
        }
    }

    private typealias Change = (NormalizedCache) async throws -> Void

    private mutating func change() -> Change {
        switch id(8) {
        case 0..<2: last = page()
        case 2..<5: last = edited(last)
        default: break
        }
        let (page, other, name, key) = (last, page(), "Page:\(id(12))", ["a", "b"][id(2)])
        switch id(40) {
        case 0..<14: return { try await $0.set(page).committed }
        case 14..<16: return { try await $0.set(page, policy: .merge).committed }
        case 16..<20: return { try await $0.setModel(page, forKey: key).committed }
        case 20..<24: return { try await $0.setCollection([page, other], forKey: key).committed }
        case 24..<26: return { try await $0.delete(name).committed }
        case 26: return { try await $0.evict(name).committed }
        case 27: return { try await $0.append([other], toCollection: key).committed }
        case 28: return { try await $0.deleteModel(forKey: key).committed }
        case 29:
            return { cache in
                try await cache.transaction { try $0.set(other) }
            }
        case 30..<33:
            // Writes that may share a commit.
            return { cache in
                for model in [page, other, page] { cache.set(model) }
                try await cache.set(page).committed
            }
        case 33: return { $0.trimMemory() }
        case 34: return { try await $0.compact().committed }
        case 35: return { try await $0.pin(name).committed }
        case 36: return { try await $0.unpin(name).committed }
        case 37:
            return { cache in
                let change = cache.optimistically { $0.set(other) }
                try await change.applied.committed
                try await cache.set(page).committed
                try await change.rollback().committed
            }
        case 38:
            return { cache in
                let change = cache.optimistically { $0.delete(name) }
                try await change.applied.committed
                try await cache.set(page).committed
                try await change.confirm().committed
            }
        default: return { try await $0.write { $0.set([page, other]) }.committed }
        }
    }

    private mutating func id(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Returns a tree with one text changed, or with one part moved, added or removed.
    private mutating func edited(_ page: Page) -> Page {
        var parts = page.parts
        guard !parts.isEmpty else { return Page(page.id, "text \(id(100))") }
        let place = id(parts.count)
        switch id(6) {
        case 0: parts.insert(parts.remove(at: place), at: 0)
        case 1 where parts.count < 6: parts.insert(Page(9 + id(3), "new \(id(100))"), at: 0)
        case 2 where parts.count > 2: parts.remove(at: place)
        case 3: return Page(page.id, "text \(id(100))", parts)
        default: parts[place] = edited(parts[place])
        }
        return Page(page.id, page.text, parts)
    }

    /// Returns one of a few trees, whose parts other trees have, too.
    private mutating func page() -> Page {
        let (root, text) = (id(3), ["one", "two"][id(2)])
        return Page(
            root, text,
            (1...3).map { Page(3 + root + $0, text, [Page(9 + $0 % 3, "leaf \(text)")]) })
    }
}

/// A node of a tree that tells what it writes, as `@Normalized` generates it.
struct Page: NormalizedModel, Equatable {
    let id: Int
    let text: String
    let parts: [Page]
    var modelIdentifier: String? { "Page:\(id)" }

    init(_ id: Int, _ text: String, _ parts: [Page] = []) {
        self.id = id
        self.text = text
        self.parts = parts
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        parts = try decoder.decode(forKey: "parts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(parts, forKey: "parts")
    }

    func hasSameEncoding(as other: Page) -> Bool {
        id.hasSameEncoding(as: other.id) && text.hasSameEncoding(as: other.text)
            && parts.hasSameEncoding(as: other.parts)
    }
}
