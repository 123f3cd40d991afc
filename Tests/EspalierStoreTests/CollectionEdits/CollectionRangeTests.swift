import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Parts of collections")
struct CollectionRangeTests {
    @Test("A range of a collection has the elements that a read of all of it has there")
    func ranges() throws {
        try withCache { cache in
            var random = SeededGenerator(seed: 1)
            let people = (0..<1_500).map { Person("p:\($0)", "\($0)") }
            try cache.setCollection(people, forKey: "c").wait()
            for round in 0..<60 {
                let all = try #require(cache.collection(of: Person.self, forKey: "c"))
                #expect(cache.collectionCount(forKey: "c") == all.count)
                let start = Int.random(in: 0...all.count + 2, using: &random)
                let end = start + Int.random(in: 0...40, using: &random)
                let expected = all[min(start, all.count)..<min(end, all.count)]
                #expect(
                    cache.collection(of: Person.self, forKey: "c", range: start..<end)
                        == Array(expected), "\(round): \(start)..<\(end)")
                if let victim = all.randomElement(using: &random) {
                    try cache.delete(victim.id).wait()
                }
                if round % 10 == 9 {
                    try cache.insert([Person("n:\(round)", "")], at: 3, inCollection: "c").wait()
                }
            }
        }
    }

    @Test("Twenty of 10,000 elements cost no more than their own records and one segment")
    func cost() throws {
        try withCache { cache in
            try cache.setCollection((0..<10_000).map { Person("p:\($0)", "") }, forKey: "c").wait()
            let page = cache.collectionOutcome(
                of: Person.self, forKey: "c", range: 7_000..<7_020)
            guard case .hit(let hit) = page else { return _ = #expect(Bool(false), "\(page)") }
            #expect(hit.value.map(\.id) == (7_000..<7_020).map { "p:\($0)" })
            #expect(hit.recordCount <= 23)
        }
    }

    @Test("A part of a missing collection is a miss, and so is its count")
    func missing() throws {
        try withCache { cache in
            #expect(cache.collectionCount(forKey: "c") == nil)
            let page = cache.collectionOutcome(of: Person.self, forKey: "c", range: 0..<5)
            #expect(page.reason == .notFound)
        }
    }

    @Test("New elements are appended once, and those that are there are updated in their place")
    func appendNew() throws {
        try withCache { cache in
            try cache.appendNew([Person("a", "1"), Person("b", "1")], toCollection: "c").wait()
            try cache.appendNew(
                [Person("b", "2"), Person("d", "2"), Person("d", "2")], toCollection: "c"
            ).wait()
            let all = cache.collection(of: Person.self, forKey: "c")
            #expect(all == [Person("a", "1"), Person("b", "2"), Person("d", "2")])
            try cache.delete("b").wait()
            try cache.appendNew([Person("b", "3")], toCollection: "c").wait()
            #expect(cache.collection(of: Person.self, forKey: "c")?.map(\.id) == ["a", "d", "b"])
        }
    }
}
