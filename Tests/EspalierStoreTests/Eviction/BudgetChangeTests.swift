import EspalierRecords
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Changes of the budget")
struct BudgetChangeTests {
    private static let large = ByteCount.mebibytes(4)
    private static let small = ByteCount.mebibytes(1)

    private let text = String(repeating: "x", count: 1_700)

    /// Fills two thirds of a large cache with people, and reads some of them in another order.
    /// Returns their identifiers by recency.
    private func fill(_ cache: NormalizedCache) throws -> [String] {
        var names = (0..<1_100).map { "p:\($0)" }
        for start in stride(from: 0, to: names.count, by: 50) {
            let tickets = names[start..<start + 50].map { cache.set(Person($0, text)) }
            for ticket in tickets { #expect(code(ticket) == nil) }
        }
        let read = stride(from: 1_099, to: 0, by: -7).map { "p:\($0)" }
        #expect(read.allSatisfy { cache.read(Person.self, $0) != nil })
        names.removeAll(where: Set(read).contains)
        return names + read
    }

    @Test("A larger budget keeps every record, and leaves room for more")
    func larger() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: Self.small))
        let names = try cache.overfill(budgets: 0.4)
        let before = try cache.statistics().evictions
        try cache.setBudget(Self.large).wait()
        #expect(cache.budget == Self.large)
        let more = try cache.overfill(budgets: 0.4, prefix: "y")
        #expect(cache.areReadable(names + more).contains(false) == false)
        #expect(try cache.statistics().evictions == before)
        #expect(try cache.statistics().directoryBytes > Self.small)
        try expectClean(cache)
        cache.close()
        cache = try scratch.open(.forTests(budget: Self.small))
        #expect(cache.budget == Self.large)
        #expect(try cache.statistics().budget == Self.large)
        let watch = SizeWatch(scratch.directory)
        try cache.overfill(budgets: 1.2, bytes: 3_000, prefix: "z")
        #expect(watch.stop() <= Self.large)
        try expectClean(cache)
        cache.close()
    }

    @Test(
        "A smaller budget keeps what was accessed last, and takes no more disk than the old one",
        arguments: [false, true])
    func smaller(mayExceed: Bool) async throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: Self.large))
        let names = try fill(cache)
        let events = cache.events()
        let watch = SizeWatch(scratch.directory)
        try await cache.setBudget(Self.small, mayExceed: mayExceed).committed
        #expect(watch.stop().bytes <= Self.large.bytes + (mayExceed ? Self.small.bytes : 0))
        #expect(cache.budget == Self.small)
        #expect(try cache.statistics().directoryBytes <= Self.small)
        try cache.waitForEvictor()
        let isPresent = cache.areReadable(names)
        let kept = try #require(isPresent.firstIndex(of: true))
        #expect(isPresent == names.indices.map { $0 >= kept })
        #expect(names.count - kept > 90)
        try expectClean(cache)
        cache.close()
        var evicted: [String] = []
        for await case .evicted(let eviction) in events {
            #expect(eviction.reason == .shrink)
            evicted.append(eviction.identifier)
        }
        #expect(evicted == Array(names.prefix(kept)))
        cache = try scratch.open(.forTests(budget: Self.large))
        #expect(cache.budget == Self.small)
        #expect(cache.areReadable(names) == isPresent)
        let growth = SizeWatch(scratch.directory)
        try cache.overfill()
        #expect(growth.stop() <= Self.small)
        try expectClean(cache)
        cache.close()
    }

    @Test("A budget that damage has raised in the file is lowered to that of `guard`")
    func damagedBudget() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: Self.small))
        let names = try cache.overfill(budgets: 0.2)
        try cache.generation.store(Self.large)
        cache.close()
        for round in 0..<2 {
            cache = try scratch.open(.forTests(budget: Self.large))
            #expect(cache.budget == Self.small)
            #expect(round > 0 || !cache.areReadable(names).contains(false))
            let watch = SizeWatch(scratch.directory)
            try cache.overfill(budgets: 1.2, prefix: "z")
            #expect(watch.stop() <= Self.small)
            cache.close()
        }
    }

    @Test("A smaller budget keeps trees whole")
    func trees() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.large))
        let boxes = (0..<60).map { box("b:\($0)", of: 40) }
        for box in boxes { #expect(code(cache.set(box)) == nil) }
        try cache.setCollection(boxes[50].value, forKey: "c").wait()
        try cache.setBudget(Self.small).wait()
        let isPresent = boxes.map {
            cache.read(Box<[Person]>.self, $0.id, access: .peek)?.value == $0.value
        }
        let kept = try #require(isPresent.firstIndex(of: true))
        #expect(isPresent == boxes.indices.map { $0 >= kept })
        #expect(kept < 57)
        #expect(cache.collection(of: Person.self, forKey: "c") == boxes[50].value)
        #expect(try cache.statistics().nodes - (60 - kept) * 41 <= 80)
        try expectClean(cache)
        cache.close()
    }

    @Test("Setting the same budget changes nothing")
    func same() throws {
        try withCache(.forTests(budget: Self.small)) { cache in
            let names = try cache.overfill(budgets: 0.4)
            let before = try cache.generation
            try cache.setBudget(Self.small).wait()
            #expect(try cache.generation === before)
            #expect(cache.areReadable(names).contains(false) == false)
        }
    }

    @Test(
        "A budget out of range is refused", arguments: [-1, 0, (1 << 20) - 1, (64 << 30) + 1, .max])
    func bad(bytes: Int) throws {
        try withCache(.forTests(budget: Self.small)) { cache in
            #expect(code(cache.setBudget(ByteCount(bytes))) == .badBudget)
            #expect(cache.budget == Self.small)
        }
    }

    @Test("A budget that is too small for the pinned records is refused, and no record is lost")
    func pinned() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.large))
        let names = try cache.overfill(budgets: 0.1)
        let boxes = (0..<3).map { box("b:\($0)", of: 300) }
        for box in boxes {
            #expect(code(cache.set(box)) == nil)
            #expect(code(cache.pin(box.id)) == nil)
        }
        let before = try cache.generation.name
        #expect(code(cache.setBudget(Self.small)) == .pinnedFull)
        #expect(cache.budget == Self.large)
        #expect(try cache.generation.name == before)
        #expect(cache.areReadable(names).contains(false) == false)
        try cache.unpin("b:0").wait()
        try cache.unpin("b:1").wait()
        try cache.unpin("b:2").wait()
        #expect(code(cache.setBudget(Self.small)) == nil)
        try expectClean(cache)
        cache.close()
    }

    @Test("A smaller budget keeps as much as fits")
    func smallerKeepsMuch() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: .mebibytes(12)))
        try cache.overfill(budgets: 1.1, bytes: 2_000)
        try cache.setBudget(.mebibytes(6)).wait()
        let statistics = try cache.statistics()
        let share = Double(statistics.pagesUsed) / Double(statistics.pageCapacity)
        #expect(share > 0.85, "\(share)")
        #expect(cache.budget == .mebibytes(6))
        try expectClean(cache)
        cache.close()
    }

    @Test("A budget too small for the operations of an outbox is refused, and nothing is evicted")
    func outboxTooLarge() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.large))
        let names = try cache.overfill(budgets: 0.2)
        let outbox = cache.outbox("letters", of: Letter.self)
        for number in 0..<4 {
            let letter = Letter(text: String(repeating: "\(number)", count: 100_000))
            try await outbox.add(letter).committed
        }
        #expect(code(cache.setBudget(Self.small)) == .optimisticFull)
        #expect(cache.budget == Self.large)
        #expect(cache.areReadable(names).contains(false) == false)
        cache.close()
    }

    @Test("A few pinned records allow a smaller budget, even if unmeasured since reopening")
    func pinnedLittle() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(.forTests(budget: Self.large))
        cache.set(Person("p:1", "Anna"))
        try cache.pin("p:1").wait()
        cache.close()
        cache = try scratch.open(.forTests(budget: Self.large))
        try cache.overfill(budgets: 0.3)
        #expect(code(cache.setBudget(Self.small)) == nil)
        try cache.overfill()
        #expect(cache.read(Person.self, "p:1", access: .peek)?.name == "Anna")
        try expectClean(cache)
        cache.close()
    }

    /// ```
    /// reader             cache
    /// begins a read
    ///                    evicts as far as there are pages: fails with `.pagesHeld`
    /// ends the read
    ///                    evicts
    /// ```
    @Test(
        "Writes that need pages that a reader holds fail with that reason, and succeed afterwards"
    )
    func held() throws {
        try withCache(.forTests(budget: Self.small)) { cache in
            try cache.overfill(budgets: 1, bytes: 100)
            try cache.readStorage { _, _ in
                var last: CacheError.Code?
                for number in 0..<400 where last == nil {
                    last = polled(cache.set(Person("y:\(number)", text)))
                }
                #expect(last == .pagesHeld)
                // An eviction that can't begin must not be reported as done.
                #expect(polled(cache.evict(to: ByteCount(100_000))) == .pagesHeld)
                #expect(polled(cache.evict(to: ByteCount(0))) == .pagesHeld)
                let collected = polled(cache.collectCycles())
                #expect(collected == nil || collected == .pagesHeld)
            }
            try cache.evict(to: ByteCount(0)).wait()
            #expect(try cache.statistics().nodes == 0)
        }
    }

    @Test("Reads of some milliseconds make neither an eviction nor a smaller budget fail")
    func briefReads() throws {
        try withCache(.forTests(budget: .mebibytes(4), compression: .none)) { cache in
            try cache.set(Person("p:1", "Anna")).wait()
            try cache.pin("p:1").wait()
            let isDone = Atomic(false)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while !isDone.load(ordering: .relaxed) {
                    try? cache.engine.withTransaction { _, _ in Thread.sleep(forTimeInterval: 0.01)
                    }
                    Thread.sleep(forTimeInterval: 0.005)
                }
                ended.signal()
            }
            defer {
                isDone.store(true, ordering: .relaxed)
                ended.wait()
            }
            for _ in 0..<3 {
                try cache.overfill(budgets: 1.1, bytes: 700)
                #expect(code(cache.evict(to: ByteCount(400_000))) == nil)
            }
            try cache.overfill(budgets: 1.1, bytes: 700)
            #expect(code(cache.setBudget(.mebibytes(2))) == nil)
            try cache.overfill(budgets: 1.1, bytes: 700)
            #expect(code(cache.setBudget(.mebibytes(1))) == nil)
        }
    }

    @Test("Compacting a small full cache evicts next to nothing")
    func compactSmall() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            try cache.overfill(budgets: 2, bytes: 400)
            let before = try cache.statistics().nodes
            try cache.compact().wait()
            #expect(try cache.statistics().nodes > before * 95 / 100)
        }
    }

    /// Waits for the ticket by polling, because this thread is inside a read.
    private func polled(_ ticket: WriteTicket) -> CacheError.Code? {
        while ticket.result == nil { Thread.sleep(forTimeInterval: 0.000_1) }
        return EspalierStoreTests.code { try ticket.result?.get() }
    }

    @Test("What was accessed last stays while the budget is changed back and forth")
    func backAndForth() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(.forTests(budget: Self.small))
        let feed = Feed(
            "f:1", messages: (0..<20).map { Message("m:\($0)", from: Person("p:\($0)", "Anna")) })
        try cache.set(feed).wait()
        for round in 0..<4 {
            try cache.setBudget(.mebibytes(round % 2 == 0 ? 3 : 1), mayExceed: round == 1).wait()
            try cache.overfill(budgets: 0.8, prefix: "x\(round)") {
                #expect(cache.read(Feed.self, "f:1") == feed)
            }
            #expect(try cache.statistics().directoryBytes <= cache.budget)
            try expectClean(cache)
        }
        #expect(cache.directoryNames.count == 3)
        cache.close()
    }
}

extension NormalizedCache {
    /// The files in the directory: `guard`, `current` and one generation.
    var directoryNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: engine.directory.path)) ?? []
    }
}

private struct Letter: Codable, Sendable {
    let text: String
}
