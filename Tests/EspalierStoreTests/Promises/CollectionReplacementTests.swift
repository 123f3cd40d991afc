import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Testing

@Suite("Collections that are replaced, and elements removed by a condition")
struct CollectionReplacementTests {
    private func people(_ numbers: some Sequence<Int>) -> [Person] {
        numbers.map { Person("p:\($0)", "Person \($0)") }
    }

    private func identifiers(_ cache: NormalizedCache) -> [String]? {
        cache.collection(of: Person.self, forKey: "c")?.map(\.id)
    }

    @Test("A new page at either end of a long collection writes no other segment")
    func ends() throws {
        try withCache { cache in
            cache.set(people(-10...2_100))
            try cache.setCollection(people(1...2_000), forKey: "c").wait()
            func written(_ numbers: some Sequence<Int>) throws -> Int {
                let before = try cache.statistics().recordsWritten
                let list = people(numbers)
                try cache.setCollection(list, forKey: "c").wait()
                #expect(identifiers(cache) == list.map(\.id))
                return try cache.statistics().recordsWritten - before
            }
            // The collection's own record, and the segments that are split or joined.
            #expect(try written(-5...2_000) <= 3)
            #expect(try written(-5...2_050) <= 3)
            #expect(try written((-5...2_050).filter { $0 != 1_000 }) <= 3)
            #expect(try written((-5...2_050).filter { $0 != 1_000 }) == 0)
            try expectClean(cache)
        }
    }

    @Test(
        "Any list that replaces any other is the collection then", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        try withCache { cache in
            var random = SeededGenerator(seed: seed)
            var list = Array(0..<700)
            for step in 0..<60 {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let start = Int.random(in: 0...list.count, using: &random)
                    let end = min(list.count, start + Int.random(in: 0...300, using: &random))
                    let count = Int.random(in: 0...300, using: &random)
                    list.replaceSubrange(
                        start..<end,
                        with: (0..<count).map { _ in .random(in: 0..<900, using: &random) })
                }
                cache.setCollection(people(list), forKey: "c")
                #expect(identifiers(cache) == list.map { "p:\($0)" }, "step \(step) of \(seed)")
                // A deleted node leaves its element in the stored list.
                guard step % 7 == 0, let gone = list.randomElement(using: &random) else { continue }
                cache.delete("p:\(gone)")
                list.removeAll { $0 == gone }
                #expect(identifiers(cache) == list.map { "p:\($0)" }, "step \(step) of \(seed)")
            }
            try expectClean(cache)
        }
    }

    @Test("Elements that satisfy a condition are removed, and their nodes stay")
    func removal() throws {
        try withCache { cache in
            cache.setCollection(people(0..<1_300), forKey: "c")
            cache.delete("p:4")
            try cache.remove(Person.self, fromCollection: "c") { $0.name.hasSuffix("7") }.wait()
            let left = (0..<1_300).filter { $0 % 10 != 7 && $0 != 4 }
            #expect(identifiers(cache) == left.map { "p:\($0)" })
            #expect(cache.read(Person.self, "p:7") == Person("p:7", "Person 7"))
            try cache.remove(Person.self, fromCollection: "c") { _ in false }.wait()
            #expect(identifiers(cache)?.count == left.count)
            try cache.remove(Person.self, fromCollection: "c") { _ in true }.wait()
            #expect(identifiers(cache) == [])
            try expectClean(cache)
        }
    }

    @Test("A removal from a collection that is missing or can't be read fails and removes nothing")
    func failedRemoval() throws {
        try withCache { cache in
            let all: @Sendable (Person) -> Bool = { _ in true }
            #expect(code(cache.remove(Person.self, fromCollection: "c", where: all)) == .notFound)
            #expect(
                code(cache.remove(Person.self, fromCollection: "", where: all)) == .noIdentifier)
            cache.setCollection([Badge(count: 3)], forKey: "c")
            #expect(code(cache.remove(Person.self, fromCollection: "c", where: all)) == .notFound)
            #expect(cache.collection(of: Badge.self, forKey: "c")?.count == 1)
        }
    }

    @Test("A removal beside other writers removes what is there at its commit")
    func concurrency() async throws {
        try await withCache { cache in
            cache.setCollection(people([]), forKey: "c")
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        cache.append([Person("p:\(number)", "Person \(number)")], toCollection: "c")
                        if number % 10 == 0 {
                            cache.remove(Person.self, fromCollection: "c") { $0.id.hasSuffix("3") }
                        }
                    }
                }
            }
            try await cache.remove(Person.self, fromCollection: "c") { $0.id.hasSuffix("3") }
                .committed
            let left = Set(identifiers(cache) ?? [])
            #expect(left == Set((0..<200).filter { $0 % 10 != 3 }.map { "p:\($0)" }))
        }
    }
}
