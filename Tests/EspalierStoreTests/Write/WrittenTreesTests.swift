import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("Trees that are written again")
struct WrittenTreesTests {
    private static func people(_ count: Int, _ name: String = "name") -> [Person] {
        (0..<count).map { Person("p:\($0)", "\(name) \($0)") }
    }

    /// Runs `body` and returns how many blocks of records it has looked at.
    private func looks(_ cache: NormalizedCache, _ body: () throws -> Void) throws -> Int {
        let before = try cache.statistics().blocks
        try body()
        let after = try cache.statistics().blocks
        return after.hits + after.misses - before.hits - before.misses
    }

    @Test("Of a tree that is written again, only nodes that differ are looked up")
    func lookups() throws {
        try withCache { cache in
            var people = Self.people(50)
            // The first write makes the records, and the second one notes their handles.
            for _ in 0..<2 { try cache.set(Box("b", people)).wait() }
            let same = try looks(cache) { try cache.set(Box("b", people)).wait() }
            #expect(same == 0)
            let unchanged = try cache.statistics().recordsUnchanged
            try cache.set(Box("b", people)).wait()
            #expect(try cache.statistics().recordsUnchanged == unchanged + 51)
            people[7].name = "another"
            let one = try looks(cache) { try cache.set(Box("b", people)).wait() }
            #expect((1...2).contains(one))
            #expect(cache.read(Box<[Person]>.self, "b")?.value == people)
            // Another write has changed a record of the tree.
            try cache.set(Person("p:9", "third")).wait()
            let stale = try looks(cache) { try cache.set(Box("b", people)).wait() }
            #expect((1...5).contains(stale))
            #expect(cache.read(Box<[Person]>.self, "b")?.value == people)
            // Nothing is known of a tree with other nodes, or without memory.
            let more = try looks(cache) {
                try cache.set(Box("b", people + [Person("q", "q")])).wait()
            }
            #expect(more > 5)
        }
        try withCache(.withoutMemory) { cache in
            let box = Box("b", Self.people(50))
            for _ in 0..<2 { try cache.set(box).wait() }
            let looks = try looks(cache) { try cache.set(box).wait() }
            #expect(looks > 5)
        }
    }

    @Test("A write of a tree replaces what writes of the same commit have changed")
    func sameCommit() async throws {
        try await withCache { cache in
            let box = Box("b", Self.people(30))
            for _ in 0..<2 { try cache.set(box).wait() }
            try withBlockedWriter(cache) {
                cache.set(box)
                cache.set(Person("p:3", "changed"))
                cache.delete("p:4")
                cache.set(box)
            }
            try await cache.flush()
            #expect(await cache.read(Box<[Person]>.self, "b")?.value == box.value)
            try withBlockedWriter(cache) {
                cache.set(box)
                cache.set(Person("p:3", "changed"))
            }
            try await cache.flush()
            #expect(await cache.read(Person.self, "p:3")?.name == "changed")
            try cache.set(box).wait()
            #expect(await cache.read(Box<[Person]>.self, "b")?.value == box.value)
        }
    }

    @Test("A write of a tree repairs a record that a read has found damaged")
    func damaged() throws {
        try withCache { cache in
            let box = Box("b", Self.people(30))
            for _ in 0..<2 { try cache.set(box).wait() }
            try cache.damage("p:3")
            cache.trimMemory()
            #expect(cache.read(Box<[Person]>.self, "b") == nil)
            try cache.set(box).wait()
            #expect(cache.read(Box<[Person]>.self, "b")?.value == box.value)
            try expectClean(cache)
        }
    }

    @Test("A merge after a replacement, and the other way round, is not taken for the same write")
    func policies() throws {
        try withCache { cache in
            let full = Box("b", Self.people(30))
            let names = (0..<30).map { Box("p:\($0)", "value \($0)") }
            let stubs = Box("b", names)
            for _ in 0..<2 { try cache.set(full).wait() }
            for _ in 0..<2 { try cache.set(stubs, policy: .merge).wait() }
            #expect(cache.read(Person.self, "p:3")?.name == "name 3")
            #expect(
                cache.read(Box<[Box<String>]>.self, "b")?.value.map(\.value) == names.map(\.value))
            for _ in 0..<2 { try cache.set(stubs, policy: .replace).wait() }
            #expect(cache.read(Box<String>.self, "p:3")?.value == "value 3")
        }
    }

    /// Writes trees, single records, deletions and evictions at random, and reads each tree after
    /// its write.
    @Test("A tree can be read as it was written, whatever happened before", arguments: 1...6)
    func walk(seed: Int) async throws {
        let scratch = try Scratch()
        var configuration = Configuration.forTests(budget: .mebibytes(1))
        // Few trees are known at a time.
        if seed % 2 == 0 { configuration.memoryBudget = .kibibytes(32) }
        var cache = try scratch.open(configuration)
        var random = SeededGenerator(quietly: UInt64(seed))
        var pool = Self.people(60)
        var boxes: [String: [Person]] = [:]
        for step in 0..<1_500 {
            let number = Int(random.next() % 60)
            switch random.next() % 16 {
            case 0..<7:
                let key = "b:\(random.next() % 4)"
                var people = boxes[key] ?? []
                if people.isEmpty || random.next() % 8 == 0 {
                    let start = Int(random.next() % 40)
                    people = Array(pool[start..<start + 20])
                } else if random.next() % 2 == 0 {
                    people[number % 20].name = "in \(key) \(step)"
                    pool[Int(people[number % 20].id.dropFirst(2)) ?? 0] = people[number % 20]
                }
                boxes[key] = people
                let isSlow = random.next() % 4 == 0
                if isSlow { cache.set(Person("p:\(number)", "before \(step)")) }
                try cache.set(Box(key, people)).wait()
                let stored = await cache.read(Box<[Person]>.self, key)?.value
                try #require(stored == people, "step \(step)")
            case 7, 8:
                pool[number].name = "alone \(step)"
                cache.set(pool[number])
            case 9: cache.delete("p:\(number)")
            case 10: cache.delete("b:\(number % 4)")
            case 11:
                if number % 8 == 0 { try cache.evict(to: .kibibytes(160)).wait() }
            case 12:
                if number % 8 == 0 { try cache.overfill(budgets: 1, prefix: "x\(step)") }
            case 13:
                if try cache.handle("p:\(number)") != nil {
                    try? cache.damage("p:\(number)")
                    cache.trimMemory()
                    for key in boxes.keys { _ = await cache.read(Box<[Person]>.self, key) }
                }
            case 14:
                if number % 8 == 0 {
                    cache.close()
                    cache = try scratch.open(configuration)
                }
            default: cache.trimMemory()
            }
        }
        try await cache.flush()
        try expectClean(cache)
        cache.close()
    }
}
