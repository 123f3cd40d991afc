import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Statistics over the life of a cache")
struct StatisticsTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    /// Makes three hits and two misses of different kinds, and has one write dropped.
    private func use(_ cache: NormalizedCache) throws {
        cache.set(Message("m:1", from: Person("p:1", "Anna")))
        for _ in 0..<3 { #expect(cache.read(Message.self, "m:1") != nil) }
        #expect(cache.read(Message.self, "m:9") == nil)
        #expect(cache.read(Message.self, "p:1") == nil)
        #expect(code(cache.set(box("b:1", of: 300))) == .treeTooLarge)
    }

    private func expectUsed(_ statistics: CacheStatistics, times: Int = 1) {
        #expect(statistics.hits == 3 * times)
        #expect(statistics.misses == ["notFound": times, "incomplete": times])
        #expect(statistics.hitRate == 0.6)
        #expect(statistics.droppedWrites == ["treeTooLarge": times])
        #expect(statistics.readLatency.count == 5 * times)
    }

    @Test("The counts of reads, dropped writes and evictions go on after reopening")
    func reopening() throws {
        let scratch = try Scratch()
        var evictions = EvictionStatistics()
        for round in 1...3 {
            let cache = try scratch.open(Self.configuration)
            let before = try cache.statistics().evictions
            // The evictor may have gone on until the cache was closed.
            #expect(before.forBudget.records >= evictions.forBudget.records)
            #expect(before.explicit == evictions.explicit)
            try use(cache)
            expectUsed(try cache.statistics(), times: round)
            try cache.overfill(budgets: 1, prefix: "x\(round)")
            let after = try cache.statistics().evictions
            #expect(after.forBudget.records > evictions.forBudget.records)
            #expect(after.explicit == evictions.explicit)
            evictions = after
            try expectClean(cache)
            cache.close()
        }
    }

    @Test("Each ticket that fails because of its caller counts once, under the code of its error")
    func rejectedWrites() throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        let edits = [
            cache.set(Person("", "Nobody")), cache.delete(""),
            cache.setCollection([Person](), forKey: ""),
            cache.move(from: 0, to: 1, inCollection: "none"),
            cache.remove(at: 0, fromCollection: "none"), cache.setBudget(.kibibytes(1)),
            cache.set(Opaque()),
        ]
        for edit in edits { #expect(throws: CacheError.self) { try edit.wait() } }
        #expect(throws: CancellationError.self) {
            try cache.transaction { transaction in
                try transaction.set(Person("p:1", "Anna"))
                throw CancellationError()
            }
        }
        let rejected = [
            "noIdentifier": 3, "notFlattened": 1, "notFound": 2, "badBudget": 1, "rolledBack": 1,
        ]
        #expect(try cache.statistics().rejectedWrites == rejected)
        #expect(try cache.statistics().droppedWrites == [:])
        try cache.set(Person("p:1", "Anna")).wait()
        cache.close()
        #expect(try scratch.open(Self.configuration).statistics().rejectedWrites == rejected)
    }

    @Test("The counts of reads and dropped writes go on after a change of the budget")
    func budgets() throws {
        try withCache(.forTests(budget: .mebibytes(2))) { cache in
            try use(cache)
            try cache.setBudget(.mebibytes(1)).wait()
            expectUsed(try cache.statistics())
            try cache.setBudget(.mebibytes(3)).wait()
            expectUsed(try cache.statistics())
        }
    }

    @Test("The counts of reads and evictions go on after a cache was emptied")
    func removingAll() throws {
        let scratch = try Scratch()
        var cache = try scratch.open(Self.configuration)
        try use(cache)
        try cache.overfill(budgets: 1)
        // Leaves nothing to evict in the background.
        try cache.evict(to: .kibibytes(700)).wait()
        let evictions = try cache.statistics().evictions
        try cache.removeAll().wait()
        let statistics = try cache.statistics()
        #expect(statistics.records == 0 && statistics.writes == 0)
        expectUsed(statistics)
        #expect(statistics.evictions == evictions)
        cache.close()
        cache = try scratch.open(Self.configuration)
        expectUsed(try cache.statistics())
        cache.close()
    }

    @Test("Two handles on one cache count together, and the counts outlive either")
    func twoHandles() throws {
        let scratch = try Scratch()
        let first = try scratch.open(Self.configuration)
        let second = try scratch.open(Self.configuration)
        try use(first)
        try use(second)
        expectUsed(try first.statistics(), times: 2)
        expectUsed(try second.statistics(), times: 2)
        first.close()
        expectUsed(try second.statistics(), times: 2)
        second.close()
        let third = try scratch.open(Self.configuration)
        expectUsed(try third.statistics(), times: 2)
        third.close()
    }

    @Test("Evictions are counted by their reason, with ages and cycles")
    func evictions() throws {
        try withCache(Self.configuration) { cache in
            cache.set(Ring("a", left: Ring("b", left: Ring("a"))))
            try cache.set(Person("p:1", "Anna")).wait()
            try cache.evict("a").wait()
            try cache.evict("p:1").wait()
            try cache.evict("nobody").wait()
            var evictions = try cache.statistics().evictions
            #expect(
                (evictions.explicit.trees, evictions.explicit.records, evictions.groups) == (
                    2, 3, 1
                ))
            #expect(evictions.explicit.bytes > ByteCount(0))
            #expect(evictions.forBudget == EvictionStatistics.Amount())
            #expect(evictions.youngestAge != nil && evictions.oldestAge != nil)
            try cache.overfill()
            evictions = try cache.statistics().evictions
            #expect((evictions.explicit.trees, evictions.explicit.records) == (2, 3))
            #expect(evictions.forBudget.records == evictions.forBudget.trees)
            #expect(evictions.trees == evictions.forBudget.trees + 2)
            #expect(evictions.runs > 10)
            #expect(evictions.longestPause > .zero && evictions.longestPause <= evictions.timeSpent)
        }
    }

    @Test("A peek counts as a read in the statistics")
    func peeking() throws {
        try withCache(Self.configuration) { cache in
            try cache.set(Person("p:1", "Anna")).wait()
            for _ in 0..<4 { #expect(cache.read(Person.self, "p:1", access: .peek) != nil) }
            #expect(cache.read(Person.self, "p:2", access: .peek) == nil)
            #expect(try cache.statistics().hitRate == 0.8)
        }
    }
}
