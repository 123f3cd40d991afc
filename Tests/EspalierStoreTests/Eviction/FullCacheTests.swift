import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierStore

@Suite("A full cache")
struct FullCacheTests {
    private static let budget = ByteCount.mebibytes(1)

    private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    /// Returns people of `bytes` bytes each, as many as two budgets hold.
    private func people(ofBytes bytes: Int, _ prefix: String = "p") -> [Person] {
        (0..<2 * Self.budget.bytes / (bytes + 150)).map { Person("\(prefix):\($0)", text(bytes)) }
    }

    /// Writes each person by itself, in groups of a few dozen. Expects every write to succeed
    /// within the budget.
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
        try cache.waitForEvictor()
    }

    /// Returns which of the people are there, without accessing them.
    private func present(_ people: [Person], in cache: NormalizedCache) -> [Bool] {
        people.map { cache.read(Person.self, $0.id, access: .peek) == $0 }
    }

    @Test(
        "A full cache stores every write within its budget, and keeps exactly the newest records",
        arguments: [40, 600, 3_900, 30_000])
    func full(bytes: Int) throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let people = people(ofBytes: bytes)
            try write(people, to: cache)
            try expectClean(cache)
            let isPresent = present(people, in: cache)
            let kept = try #require(isPresent.firstIndex(of: true))
            // There is no gap between the evicted and the present ones.
            #expect(isPresent == people.indices.map { $0 >= kept })
            let statistics = try cache.statistics()
            #expect(statistics.pagesUsed > statistics.pageCapacity * 2 / 5)
            #expect(statistics.nodes == people.count - kept)
            #expect(statistics.evictions.records == kept)
            #expect(statistics.droppedWrites == [:])
        }
    }

    @Test(
        "A full cache keeps what is read now and then, and evicts its neighbours",
        arguments: [600, 3_900])
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

    @Test("A full cache evicts what is only peeked at")
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

    @Test("A full cache stores every write of 5,000 new records that fits half of the budget")
    func largeWrites() throws {
        let budget = ByteCount.mebibytes(2)
        try withCache(.forTests(budget: budget)) { cache in
            try cache.overfill(budgets: 1.2)
            // The names of neighbours are far apart in the index.
            var numbers = SeededGenerator(seed: 16)
            for turn in 0..<12 {
                let people = (0..<5_000).map { _ in Person("\(numbers.next())", "") }
                let ticket = cache.set(Box("box:\(turn)", people))
                #expect(code(ticket) == nil, "write \(turn)")
                let stored = cache.read(Box<[Person]>.self, "box:\(turn)", access: .peek)
                let isStored = stored?.value == people
                #expect(isStored, "write \(turn)")
                #expect(try cache.statistics().directoryBytes <= budget)
            }
            // The last writes have evicted the first ones, whose names are far apart, too.
            #expect(cache.read(Box<[Person]>.self, "box:0", access: .peek) == nil)
            try expectClean(cache)
        }
    }

    @Test("Writing a record again counts as an access, even if nothing changes")
    func rewritten() throws {
        try withCache(.forTests(budget: Self.budget)) { cache in
            let first = Person("first", text(600))
            try cache.set(first).wait()
            try write(people(ofBytes: 600), to: cache) { cache.set(first) }
            #expect(cache.read(Person.self, first.id, access: .peek) == first)
            #expect(try cache.statistics().recordsUnchanged > 0)
        }
    }

    @Test("A full cache can be emptied by deletes that are queued all at once, and filled again")
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

    @Test("A full cache can be emptied at once, and filled again")
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

    @Test("A full cache makes room for a large write among small ones, and none of them fails")
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
        "A tree over an eighth of the budget is refused, and nothing is evicted for it",
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

    @Test("A full cache stores edits of a collection that is as old as anything in it")
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
            // Nothing refers to the elements that were removed, and they were evicted.
            #expect(cache.read(Person.self, "e:0", access: .peek) == nil)
        }
    }

    @Test("Large trees and collections that share their records come and go in a full cache")
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

    @Test("A full cache evicts tree by tree: at most one tree is left in parts")
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
            try cache.waitForEvictor()
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
