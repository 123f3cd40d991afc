import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Synchronization
import Testing

@testable import EspalierStore

@Suite("What memory keeps within its budget", .serialized, .timeLimit(.minutes(2)))
struct MemoryBudgetTests {
    @Test("The memory stays within its budget, and can be emptied and turned off")
    func budget() async throws {
        var configuration = Configuration.forTests
        configuration.memoryBudget = .kibibytes(256)
        try await withCache(configuration) { cache in
            for number in 0..<600 {
                let text = String(repeating: "text ", count: 40)
                try await cache.set(Person("p:\(number)", text)).committed
                #expect(await cache.read(Person.self, "p:\(number)") != nil)
                #expect(try cache.statistics().memory.bytes <= .kibibytes(256))
            }
            let full = try cache.statistics().memory
            #expect(full.trees > 50 && full.removals > 100)
            cache.trimMemory()
            let empty = try cache.statistics().memory
            #expect(empty.trees == 0 && empty.bytes == ByteCount(0))
            #expect(await cache.read(Person.self, "p:1") != nil)
        }
        configuration.memoryBudget = ByteCount(0)
        try await withCache(configuration) { cache in
            try await cache.set(Person("p:1", "Ada")).committed
            for _ in 0..<3 { #expect(await cache.read(Person.self, "p:1") != nil) }
            #expect(try cache.statistics().memory == MemoryStatistics())
        }
    }

    /// Stores and reads more than the memory holds.
    private func fill(_ cache: NormalizedCache) async throws {
        let text = String(repeating: "text ", count: 40)
        for number in 0..<600 {
            _ = cache.set(Person("p:\(number)", text))
        }
        try await cache.flush()
        for number in 0..<600 { #expect(await cache.read(Person.self, "p:\(number)") != nil) }
    }

    @Test("In a full memory, trees that are read again and again stay")
    func readAgain() async throws {
        var configuration = Configuration.forTests
        configuration.memoryBudget = .kibibytes(256)
        try await withCache(configuration) { cache in
            try await fill(cache)
            let before = try cache.statistics().memory
            #expect(before.removals > 100)
            for _ in 0..<5 {
                for number in 300..<320 { _ = await cache.read(Person.self, "p:\(number)") }
            }
            let memory = try cache.statistics().memory
            #expect(memory.hits - before.hits >= 80)
        }
    }

    @Test("A large tree that is read into a full memory is kept")
    func largeAmongSmall() async throws {
        var configuration = Configuration.forTests
        configuration.memoryBudget = .kibibytes(256)
        try await withCache(configuration) { cache in
            let parts = (0..<100).map { NumberedPart(id: $0, numbers: [], parts: []) }
            try await cache.set(NumberedPart(id: 1_000, numbers: [], parts: parts)).committed
            try await fill(cache)
            _ = await cache.read(NumberedPart.self, "NumberedPart:1000")
            let before = try cache.statistics().memory
            for turn in 1...3 {
                #expect(
                    await cache.read(NumberedPart.self, "NumberedPart:1000")?.parts.count == 100)
                let memory = try cache.statistics().memory
                #expect(memory.hits == before.hits + turn)
                #expect(memory.trees > 30)
            }
        }
    }

    @Test("The memory of arrays counts, however short their elements are in a record")
    func arrays() async throws {
        let numbers = (0..<100_000).map { $0 & 63 }
        var sizes: [ByteCount] = []
        for parts in [[], [NumberedPart(id: 2, numbers: numbers, parts: [])]] {
            try await withCache { cache in
                let part = NumberedPart(id: 1, numbers: parts.isEmpty ? numbers : [], parts: parts)
                try await cache.set(part).committed
                _ = await cache.read(NumberedPart.self, "NumberedPart:1")
                sizes.append(try cache.statistics().memory.bytes)
                // The parts are kept from the next read on.
                try await cache.set(NumberedPart(id: 1, numbers: numbers, parts: parts)).committed
                _ = await cache.read(NumberedPart.self, "NumberedPart:1")
                _ = await cache.read(NumberedPart.self, "NumberedPart:1")
                sizes.append(try cache.statistics().memory.bytes)
            }
        }
        for size in sizes { #expect(size >= ByteCount(800_000), "\(sizes)") }
    }

    @Test("A large tree that is read for the first time is one miss")
    func countsOnce() async throws {
        try await withCache { cache in
            let parts = (0..<600).map { NumberedPart(id: $0, numbers: [], parts: []) }
            try await cache.set(NumberedPart(id: 1_000, numbers: [], parts: parts)).committed
            #expect(await cache.read(NumberedPart.self, "NumberedPart:1000")?.parts.count == 600)
            #expect(try cache.statistics().memory.misses == 1)
            try await cache.set(NumberedPart(id: 1, numbers: [1], parts: [])).committed
            #expect(
                await cache.read(NumberedPart.self, "NumberedPart:1000")?.parts[1].numbers == [1])
            let memory = try cache.statistics().memory
            #expect(memory.misses == 1 && memory.staleReads == 1)
        }
    }

    @Test("After a change, a suspending read does not decode a tree with repeats twice over")
    func repeatedParts() async throws {
        try await withCache { cache in
            let author = NumberedPart(
                id: 500, numbers: [],
                parts: (501...503).map { NumberedPart(id: $0, numbers: [], parts: []) })
            let posts = (0..<40).map { NumberedPart(id: $0, numbers: [], parts: [author]) }
            try await cache.set(NumberedPart(id: 1_000, numbers: [], parts: posts)).committed
            for turn in 0..<4 {
                #expect(await cache.read(NumberedPart.self, "NumberedPart:1000")?.parts.count == 40)
                try await cache.set(NumberedPart(id: 7, numbers: [turn], parts: [author])).committed
                NumberedPart.decodings.store(0, ordering: .relaxed)
            }
            #expect(
                await cache.read(NumberedPart.self, "NumberedPart:1000")?.parts[7].numbers == [3])
            // The root, 40 posts, and an author with three parts.
            #expect(NumberedPart.decodings.load(ordering: .relaxed) <= 45)
        }
    }

    @Test("A new value without a record of its own is not kept in memory")
    func newValues() async throws {
        try await withCache { cache in
            for number in 0..<20 {
                try await cache.setModel(Plain(text: "\(number)"), forKey: "k\(number)").committed
            }
            #expect(try cache.statistics().memory.trees == 0)
        }
    }

    @Test("A long key counts for several names, and a history can be emptied")
    func trimmedHistory() {
        let history = CommitHistory(after: 0)
        let key = Identifier(String(repeating: "k", count: 320))
        let empty = HandleList([])
        for number in 1...10 as ClosedRange<UInt64> {
            let entry = CommitHistory.Entry(number, changed: empty, dated: empty, keys: [key])
            #expect(entry.nameCount == 11)
            history.endCommit(number, entry) { _, _ in nil }
        }
        #expect(history.entries(after: 0)?.entries.count == 10)
        history.forget()
        #expect(history.entries(after: 9) == nil)
        #expect(history.entries(after: 10)?.entries.isEmpty == true)
    }
}

/// A node that counts how often it is decoded.
private struct NumberedPart: NormalizedModel {
    static let decodings = Atomic(0)

    let id: Int
    let numbers: [Int]
    let parts: [NumberedPart]
    var modelIdentifier: String? { "NumberedPart:\(id)" }

    init(id: Int, numbers: [Int], parts: [NumberedPart]) {
        self.id = id
        self.numbers = numbers
        self.parts = parts
    }

    init(from decoder: inout RecordDecoder) throws {
        Self.decodings.add(1, ordering: .relaxed)
        id = try decoder.decode(forKey: "id")
        numbers = try decoder.decode(forKey: "numbers")
        parts = try decoder.decode(forKey: "parts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(numbers, forKey: "numbers")
        try encoder.encode(parts, forKey: "parts")
    }
}

private struct Plain: NormalizedModel, Codable {
    let text: String
    var modelIdentifier: String? { nil }

    func hasSameEncoding(as other: Plain) -> Bool { text.hasSameEncoding(as: other.text) }
}
