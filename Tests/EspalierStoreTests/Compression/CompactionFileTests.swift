import EspalierLMDB
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Compaction leaves nothing of deleted records in the file")
struct CompactionFileTests {
    private static let deleted = "a text that was deleted"

    private static func file(of cache: NormalizedCache) throws -> Data {
        let path = try cache.directory.generationPath(cache.generation.name)
        return try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    }

    private static func contains(_ text: String, _ cache: NormalizedCache) throws -> Bool {
        try file(of: cache).firstRange(of: Data(text.utf8)) != nil
    }

    /// Stores and deletes the text among other records.
    private static func deleteText(in cache: NormalizedCache, others: Int) async throws {
        for number in 0..<others {
            cache.set(Person("p:\(number)", "person \(number)"))
            if number % 50 == 0 { cache.set(Person("deleted:\(number)", deleted)) }
        }
        try await cache.flush()
        for number in stride(from: 0, to: others, by: 50) {
            try await cache.delete("deleted:\(number)").committed
        }
        try await cache.flush()
    }

    @Test("Deleted text is gone from the file after a compaction, and was there before")
    func clearing() async throws {
        try await withCache(Configuration(durability: .noSync, compression: .none)) { cache in
            try await Self.deleteText(in: cache, others: 2_000)
            #expect(try Self.contains(Self.deleted, cache))
            #expect(try Self.contains("deleted:", cache))
            let before = try cache.generation.name
            try await cache.compact().committed
            #expect(try cache.generation.name != before)
            #expect(try !Self.contains(Self.deleted, cache))
            #expect(try !Self.contains("deleted:", cache))
            for number in 0..<2_000 {
                #expect(await cache.read(Person.self, "p:\(number)")?.name == "person \(number)")
            }
        }
    }

    @Test("Where both files do not fit in the budget, the old file stays unless it may exceed")
    func fullCache() async throws {
        let configuration = Configuration(
            budget: .mebibytes(1), durability: .noSync, compression: .none)
        try await withCache(configuration) { cache in
            try await Self.deleteText(in: cache, others: 10_000)
            let before = try cache.generation.name
            try await cache.compact().committed
            #expect(try cache.generation.name == before)
            #expect(try cache.statistics().directoryBytes <= configuration.budget)
            try await cache.compact(mayExceed: true).committed
            #expect(try cache.generation.name != before)
            #expect(try !Self.contains(Self.deleted, cache))
            #expect(try cache.statistics().directoryBytes <= configuration.budget)
        }
    }

    @Test("While contents are copied, both files together stay within the room for them")
    func room() async throws {
        let configuration = Configuration(durability: .noSync, compression: .none)
        try await withCache(configuration) { cache in
            try await Self.deleteText(in: cache, others: 2_000)
            let directory = cache.directory
            let holder = cache.engine.generations
            var copies = 0
            for pages in 0...20 {
                let before = directory.byteCount()
                let used = try cache.generation.environment.read { try $0.pages().used * 4_096 }
                let room = before + used + Generation.sideFiles + pages * 4_096
                do {
                    try holder.move(to: nil, room: ByteCount(room), throughMemory: false)
                } catch is GenerationHolder.DoesNotFit {
                    continue
                }
                copies += 1
                // The lock file of the new generation has 32 KiB.
                #expect(try before + Self.file(of: cache).count + 32_768 <= room)
            }
            #expect(copies > 5)
            #expect(await cache.read(Person.self, "p:1")?.name == "person 1")
        }
    }
}
