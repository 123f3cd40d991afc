import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("A full cache")
struct BudgetTests {
    /// Writes until one does not fit. Returns the identifiers of those that did.
    private func fill(_ cache: NormalizedCache, bytes: Int, from start: Int = 0) throws -> [String] {
        var written: [String] = []
        for number in start..<100_000 {
            let identifier = "p:\(number)"
            switch code(cache.set(Person(identifier, String(repeating: "x", count: bytes)))) {
            case nil: written.append(identifier)
            case .full: return written
            case let other: throw other.map { UnexpectedCode(code: $0) } ?? UnexpectedCode(code: .full)
            }
        }
        throw UnexpectedCode(code: .full)
    }

    private struct UnexpectedCode: Error {
        let code: CacheError.Code
    }

    @Test(
        "refuses writes, keeps what it has, and takes writes again after deletes", arguments: [40, 600, 3_900, 30_000])
    func full(bytes: Int) throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            var written = try fill(cache, bytes: bytes)
            #expect(written.count >= 5)
            for identifier in written { #expect(cache.read(Person.self, identifier) != nil) }
            for round in 0..<5 {
                #expect(try cache.statistics().directoryBytes.bytes <= 1 << 20)
                try expectClean(cache)
                let deleted = written.count / 2
                for identifier in written.prefix(deleted) { #expect(code(cache.delete(identifier)) == nil) }
                written.removeFirst(deleted)
                for identifier in written { #expect(cache.read(Person.self, identifier) != nil) }
                let more = try fill(cache, bytes: bytes, from: (round + 1) * 100_000 / 10)
                #expect(more.count >= 1, "round \(round)")
                written += more
            }
        }
    }

    @Test("can be emptied completely by deletes, queued all at once")
    func emptied() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            for _ in 0..<3 {
                let written = try fill(cache, bytes: 300)
                let tickets = written.map { cache.delete($0) }
                for ticket in tickets { #expect(code(ticket) == nil) }
                #expect(try cache.statistics().nodes == 0)
            }
        }
    }

    @Test("can be emptied by removing everything")
    func removeAll() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            _ = try fill(cache, bytes: 2_000)
            try cache.removeAll().wait()
            #expect(try fill(cache, bytes: 2_000).count > 10)
        }
    }

    @Test("fails the write that does not fit, not those queued with it")
    func neighbours() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let written = try fill(cache, bytes: 2_000)
            let tickets = try withBlockedWriter(cache) {
                [
                    cache.delete(written[0]), cache.set(Person("big", String(repeating: "x", count: 100_000))),
                    cache.delete(written[1]), cache.delete(written[2]),
                ]
            }
            #expect(tickets.map(code) == [nil, .full, nil, nil])
            #expect(cache.read(Person.self, "big") == nil)
        }
    }

    @Test(
        "is never stuck: what was taken out of collections, and what was in deleted trees, costs room until it is deleted"
    )
    func bookkeeping() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let people = (0..<1_000).map { Person("e:\($0)", "element") }
            try cache.setCollection(people, forKey: "c").wait()
            for number in 0..<4 { try cache.set(Box("b:\(number)", people.shuffled())).wait() }
            let written = try fill(cache, bytes: 500)
            for number in 0..<4 { _ = code(cache.delete("b:\(number)")) }
            for _ in 0..<20 { _ = code(cache.remove(0..<50, fromCollection: "c")) }
            for identifier in written { #expect(code(cache.delete(identifier)) == nil) }
            #expect(code(cache.deleteCollection(forKey: "c")) == nil)
            for number in 0..<4 { #expect(code(cache.delete("b:\(number)")) == nil) }
            for person in people { #expect(code(cache.delete(person.id)) == nil) }
            #expect(try cache.statistics().nodes == 0)
        }
    }
}
