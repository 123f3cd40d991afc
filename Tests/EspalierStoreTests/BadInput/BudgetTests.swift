import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("A full cache")
struct BudgetTests {
    private static let budget = ByteCount.mebibytes(1)

    private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    /// People of so many bytes each, as many as two budgets hold.
    private func people(ofBytes bytes: Int, _ prefix: String = "p") -> [Person] {
        (0..<2 * Self.budget.bytes / (bytes + 150)).map { Person("\(prefix):\($0)", text(bytes)) }
    }

    /// Writes each by itself, in groups of a few dozen. Every write succeeds, and the budget is
    /// kept.
    private func write(
        _ people: [Person], to cache: NormalizedCache, _ afterEach: () throws -> Void = {}
    ) throws {
        let batch = 200_000 / max(people.first?.name.utf8.count ?? 0, 300)
        for start in stride(from: 0, to: people.count, by: batch) {
            let tickets = people[start..<min(start + batch, people.count)].map { cache.set($0) }
            for ticket in tickets { #expect(code(ticket) == nil) }
            #expect(try cache.statistics().directoryBytes <= Self.budget)
            try afterEach()
        }
        try settle(cache)
    }

    /// Waits until nothing more is evicted between writes. The books of the last commit may stand
    /// above the watermark.
    private func settle(_ cache: NormalizedCache) throws {
        var before = try cache.statistics()
        let high = PagePlan(capacity: before.pageCapacity).high
        for _ in 0..<100 {
            Thread.sleep(forTimeInterval: 0.05)
            let statistics = try cache.statistics()
            if statistics.pagesUsed <= high + 8, statistics.evictions == before.evictions { return }
            before = statistics
        }
        Issue.record("\(before.pagesUsed) pages are in use, and evicting begins above \(high)")
    }

    /// Which of them are there, read without an access.
    private func present(_ people: [Person], in cache: NormalizedCache) -> [Bool] {
        people.map { cache.read(Person.self, $0.id, access: .peek) == $0 }
    }

    @Test(
        "takes every write, stays under its budget, and has the newest and none of the oldest",
        arguments: [40, 600, 3_900, 30_000])
    func full(bytes: Int) throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let people = people(ofBytes: bytes)
            try write(people, to: cache)
            try expectClean(cache)
            let isPresent = present(people, in: cache)
            let kept = try #require(isPresent.firstIndex(of: true))
            // No gap between what is gone and what is there.
            #expect(isPresent == people.indices.map { $0 >= kept })
            let statistics = try cache.statistics()
            #expect(statistics.pagesUsed > statistics.pageCapacity * 2 / 5)
            #expect(statistics.nodes == people.count - kept)
            #expect(statistics.evictions.records == kept)
            #expect(statistics.droppedWrites == [:])
        }
    }

    @Test("keeps what is read every now and then while its neighbours go", arguments: [600, 3_900])
    func touched(bytes: Int) throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let first = people(ofBytes: bytes).prefix(40)
            for person in first { cache.set(person) }
            let read = first.enumerated().filter { $0.offset % 10 == 3 }.map(\.element)
            try write(people(ofBytes: bytes, "q"), to: cache) {
                for person in read { #expect(cache.read(Person.self, person.id) == person) }
            }
            #expect(present(Array(first), in: cache) == first.map(read.contains))
        }
    }

    @Test("does not take a look for an access: what is only peeked at goes")
    func peeked() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let first = Person("first", text(600))
            try cache.set(first).wait()
            try write(people(ofBytes: 600), to: cache) {
                _ = cache.read(Person.self, first.id, access: .peek)
            }
            #expect(cache.read(Person.self, first.id, access: .peek) == nil)
        }
    }

    @Test("takes what is written again for accessed, though nothing of it changes")
    func rewritten() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let first = Person("first", text(600))
            try cache.set(first).wait()
            try write(people(ofBytes: 600), to: cache) { cache.set(first) }
            #expect(cache.read(Person.self, first.id, access: .peek) == first)
            #expect(try cache.statistics().recordsUnchanged > 0)
        }
    }

    @Test("can be emptied completely by deletes, queued all at once, and filled again")
    func emptied() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            for _ in 0..<2 {
                let people = people(ofBytes: 600)
                try write(people, to: cache)
                let tickets = people.map { cache.delete($0.id) }
                for ticket in tickets { #expect(code(ticket) == nil) }
                #expect(try cache.statistics().nodes == 0)
                try expectClean(cache)
            }
        }
    }

    @Test("can be emptied by removing everything, and filled again")
    func removeAll() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let people = people(ofBytes: 2_000)
            try write(people, to: cache)
            try cache.removeAll().wait()
            #expect(present(people, in: cache).contains(true) == false)
            try write(people, to: cache)
            #expect(present(people, in: cache).last == true)
        }
    }

    @Test("makes room for a large write queued among small ones, and none of them fails")
    func neighbours() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let people = people(ofBytes: 2_000)
            try write(people, to: cache)
            let last = people[people.count - 1]
            let big = Person("big", text(100_000))
            let tickets = try withBlockedWriter(cache) {
                [
                    cache.delete(last.id), cache.set(big), cache.set(Person("s:1", "")),
                    cache.delete(people[0].id),
                ]
            }
            #expect(tickets.map(code) == [nil, nil, nil, nil])
            #expect(cache.read(Person.self, "big", access: .peek) == big)
            #expect(cache.read(Person.self, last.id, access: .peek) == nil)
            #expect(try cache.statistics().directoryBytes <= Self.budget)
        }
    }

    @Test(
        "evicts nothing for a tree over an eighth of the budget, which is refused",
        arguments: [131_072, 2_000_000])
    func tooLarge(bytes: Int) throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let people = people(ofBytes: 600)
            try write(people, to: cache)
            let before = (try cache.statistics().evictions, present(people, in: cache))
            #expect(code(cache.set(Person("big", text(bytes)))) == .treeTooLarge)
            let many = (0...bytes / 1_000).map { Person("m:\($0)", text(1_000)) }
            #expect(code(cache.set(Box("many", many))) == .treeTooLarge)
            #expect(try cache.statistics().evictions == before.0)
            #expect(present(people, in: cache) == before.1)
        }
    }

    @Test("takes edits of a collection that is as old as anything in it")
    func collection() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let elements = (0..<400).map { Person("e:\($0)", text(40)) }
            try cache.setCollection(elements, forKey: "c").wait()
            var expected = elements
            var number = 0
            try write(people(ofBytes: 600), to: cache) {
                let new = (0..<10).map { Person("n:\(number)-\($0)", text(40)) }
                number += 1
                #expect(code(cache.append(new, toCollection: "c")) == nil)
                #expect(code(cache.remove(0..<10, fromCollection: "c")) == nil)
                expected = Array(expected.dropFirst(10) + new)
            }
            #expect(number > 3)
            #expect(
                cache.collectionOutcome(of: Person.self, forKey: "c", access: .peek).value
                    == expected)
            // What was taken out of it is nobody's any more, and went.
            #expect(cache.read(Person.self, "e:0", access: .peek) == nil)
        }
    }

    @Test("is never stuck: large trees that share all they have, and collections, come and go")
    func bookkeeping() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let shared = (0..<700).map { Person("e:\($0)", "element") }
            for number in 0..<6 {
                #expect(
                    code(cache.setCollection(shared.shuffled(), forKey: "c:\(number % 3)")) == nil)
                #expect(code(cache.set(Box("b:\(number)", shared.shuffled()))) == nil)
                try write(Array(people(ofBytes: 600, "p\(number)").prefix(500)), to: cache)
                if number % 2 == 0 { #expect(code(cache.delete("b:\(number)")) == nil) }
                #expect(code(cache.deleteCollection(forKey: "c:\(number % 3)")) == nil)
                try expectClean(cache)
            }
        }
    }

    @Test(
        "evicts trees whole: what it has is a hit, and of the rest no more is left than of the one that goes next"
    )
    func trees() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let shared = Person("shared", "")
            let boxes = (0..<120).map { box in
                Box("b:\(box)", (0..<20).map { Person("p:\(box)-\($0)", text(400)) } + [shared])
            }
            for start in stride(from: 0, to: boxes.count, by: 20) {
                let tickets = boxes[start..<start + 20].map { cache.set($0) }
                for ticket in tickets { #expect(code(ticket) == nil) }
            }
            try settle(cache)
            let isPresent = boxes.map {
                cache.read(Box<[Person]>.self, $0.id, access: .peek)?.value == $0.value
            }
            let kept = try #require(isPresent.firstIndex(of: true))
            #expect(kept > 40)
            #expect(isPresent == boxes.indices.map { $0 >= kept })
            let rest = try cache.statistics().nodes - (boxes.count - kept) * 21 - 1
            #expect((0...20).contains(rest))
        }
    }
}
