import EspalierLMDB
import EspalierRecords
import EspalierTestSupport
import Testing

@testable import EspalierStore

@Suite("What damage reaches, and what a repair reaches", .timeLimit(.minutes(5)))
struct DamagedNeighbourTests {
    /// A record that stands in chunks.
    private static func article(_ number: Int) -> Bag {
        var random = SeededGenerator(quietly: UInt64(number))
        let words = (0..<4_000).map { _ in String(UInt32.random(in: 0..<1 << 20, using: &random)) }
        return Bag("Article:\(number)", ["text": words.joined(separator: " ")])
    }

    private func isLong(_ handle: Handle, _ cache: NormalizedCache) throws -> Bool {
        let generation = try cache.generation
        return try cache.readStorage { transaction, _ in
            try StoredRecords(transaction.snapshot, generation).isLong(handle)
        }
    }

    @Test(
        "A frame or a directory that can't be read does not concern the long records behind it",
        arguments: NormalizedCache.DamagedPart.allCases)
    func longRecords(part: NormalizedCache.DamagedPart) throws {
        try withCache(.uncompressed) { cache in
            let author = Person("p:1", "Anna")
            try cache.set(author).wait()
            for number in 1...6 { try cache.set(Self.article(number)).wait() }
            let handles = try (1...6).map { try present(cache.handle("Article:\($0)")) }
            for handle in handles {
                #expect(
                    try isLong(handle, cache))
            }
            try cache.damage(part, around: present(cache.handle("p:1")))
            for (number, handle) in zip(1..., handles) {
                #expect(cache.read(Bag.self, "Article:\(number)") == Self.article(number))
                #expect(try cache.record(handle) != nil)
            }
            #expect(cache.read(Person.self, "p:1") == nil)
            // What reads have found is cleared away.
            for number in 0..<4 { try cache.set(Person("q:\(number)", "Ben")).wait() }
            for number in 1...6 {
                #expect(cache.read(Bag.self, "Article:\(number)") == Self.article(number))
            }
            try cache.repair().wait()
            try cache.set(author).wait()
            try expectClean(cache)
            for number in 1...6 {
                #expect(cache.read(Bag.self, "Article:\(number)") == Self.article(number))
            }
        }
    }

    @Test("The removal of a long record ends although the frame before it can't be read")
    func pendingRemoval() throws {
        try withCache(.uncompressed) { cache in
            try cache.set(Person("p:1", "Anna")).wait()
            try cache.set(Self.article(1)).wait()
            let handle = try present(cache.handle("Article:1"))
            // As after a commit that has removed the name, and left the chunks to the next one.
            try cache.tamperIndex { $0.remove("Article:1") }
            var state = StateEntry(referenceCount: 0, flags: .pendingRemoval)
            state.released = StateEntry.allReleased
            try cache.tamper(withState: state, of: handle)
            try cache.damage(.frame, around: present(cache.handle("p:1")))
            // Lists all records anew, by their states.
            try cache.tamper { transaction, keyspaces in
                var group: (key: [UInt8], value: [UInt8])?
                try transaction.forEach(in: keyspaces.recency) { key, value in
                    group = ([UInt8](copying: key), [UInt8](copying: value))
                    return false
                }
                guard var group else { throw Missing() }
                group.value[group.value.count - 1] ^= 1
                try transaction.put(keyspaces.recency, group.key, group.value)
            }
            for number in 2..<6 { try cache.set(Person("p:\(number)", "Ben")).wait() }
            try cache.flushAndWait()
            #expect(
                try !isLong(handle, cache))
            try cache.repair().wait()
            try expectClean(cache)
        }
    }

    @Test("Lost records are evicted with their names")
    func lostRecords() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            let text = String(repeating: "x", count: 200)
            for number in 0..<600 { cache.set(Person("p:\(number)", text)) }
            try cache.flushAndWait()
            for number in stride(from: 0, to: 600, by: 3) {
                guard let handle = try cache.handle("p:\(number)"),
                    try cache.record(handle) != nil
                else { continue }
                try cache.damage(.frame, around: handle)
            }
            try cache.repair().wait()
            #expect(cache.read(Person.self, "p:0") == nil)
            #expect(try cache.handle("p:0") != nil)
            try cache.overfill(budgets: 2)
            #expect(try cache.handle("p:0") == nil && cache.handle("p:300") == nil)
            #expect(try cache.statistics().mapFullRecoveries == 0)
            try expectClean(cache)
        }
    }

    @Test("A repair reaches all damaged records, however many there are")
    func manyRecords() throws {
        try withCache(.forTests(budget: .mebibytes(1))) { cache in
            for number in 0..<1_500 { cache.set(Person("p:\(number)", "Person \(number)")) }
            try cache.flushAndWait()
            let generation = try cache.generation
            try cache.tamper { transaction, keyspaces in
                for number in generation.shapes.all.indices {
                    guard var shape = try transaction.value(keyspaces.shapes, UInt64(number)) else {
                        continue
                    }
                    shape[shape.count - 1] ^= 1
                    try transaction.put(keyspaces.shapes, UInt64(number), shape)
                    generation.shapes.remove(UInt64(number))
                }
            }
            #expect(cache.read(Person.self, "p:0") == nil)
            try cache.repair().wait()
            try expectClean(cache)
            for number in 0..<1_500 { cache.set(Person("p:\(number)", "Person \(number)")) }
            try cache.flushAndWait()
            #expect(cache.read(Person.self, "p:1499") == Person("p:1499", "Person 1499"))
        }
    }

    @Test("A repair writes a damaged dictionary again if memory has it, and else retires it")
    func dictionary() throws {
        try CompressedCache.with { cache in
            let generation = try cache.generation
            func damage() throws {
                guard let number = try cache.dictionaries.current else { throw Missing() }
                try cache.tamper { transaction, keyspaces in
                    let key = ChunkKey(number, 0)
                    guard var slice = try transaction.value(keyspaces.dictionaries, key) else {
                        throw Missing()
                    }
                    slice[slice.count / 2] ^= 1
                    try transaction.put(keyspaces.dictionaries, key, slice)
                }
                #expect(try !cache.verify().isClean)
            }
            func forget() {
                for number in generation.dictionaries.all.indices {
                    generation.dictionaries.remove(UInt64(number))
                }
                generation.blocks.removeAll()
            }
            // Reads bring it into memory.
            CompressedCache.expectRead(cache)
            try damage()
            try cache.repair().wait()
            forget()
            CompressedCache.expectRead(cache)
            try expectClean(cache)

            try damage()
            forget()
            try cache.repair().wait()
            #expect(try cache.dictionaries.entries.isEmpty)
            try expectClean(cache)
            try CompressedCache.fill(cache)
            forget()
            CompressedCache.expectRead(cache)
        }
    }
}
