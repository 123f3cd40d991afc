#if CommandLine
import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Synchronization
import Testing

@testable import EspalierCLI

@Suite("Previews of evictions", .timeLimit(.minutes(5)))
struct EvictionPreviewTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A tree of feeds that share people, some of whom refer back to their feed.
    private static func feed(_ number: Int) -> String {
        let messages = (0..<12).map { index in
            let person = (number * 7 + index * index) % 150
            let text = String(repeating: "t", count: (number * 31 + index * 17) % 90)
            return #"{"id":\#(number * 12 + index),"text":"\#(text)","by":{"id":\#(person)}}"#
        }
        let back = number % 9 == 0 ? #","self":{"id":\#(number),"feed":{"id":\#(number)}}"# : ""
        return #"{"id":\#(number),"messages":[\#(messages.joined(separator: ","))]\#(back)}"#
    }

    private static let rule = IdentityRule(
        idKey: "id", types: [TypeMapping(property: "feed", type: "Feed")])

    private func tree(_ number: Int) throws -> JSONTree {
        Self.rule.tree(from: try JSONParser.parse(Array(Self.feed(number).utf8)), type: "Feed")
    }

    /// A full cache with feeds, some of which were read again, collections and pins.
    private func filled() async throws -> NormalizedCache {
        let cache = try NormalizedCache(
            directory: folder.url.appendingPathComponent("c").path,
            configuration: Configuration(
                budget: .mebibytes(4), durability: .noSync, compression: .none))
        // Each in a commit of its own: how writes are divided among commits depends on the load of
        // the machine, and on that which pages the eviction frees.
        for number in 0..<400 { try await cache.set(try tree(number)).committed }
        for start in stride(from: 0, to: 400, by: 50) {
            try await cache.setCollection(
                (start..<start + 20).map { try tree($0) }, forKey: "page \(start)"
            ).committed
        }
        for number in stride(from: 3, to: 400, by: 5) {
            _ = await cache.read(JSONTree.self, "Feed:\(number)")
        }
        _ = await cache.collection(of: JSONTree.self, forKey: "page 100")
        try await cache.pin("Feed:17").committed
        try await cache.pinCollection(forKey: "page 200").committed
        return cache
    }

    private struct Outcome {
        var preview: EvictionPreview
        var foreseen: [String] = []
        var evicted: [String] = []
        var records = 0
        /// The records of four pages. LMDB frees whole pages, and when it frees one depends on how
        /// the records and their removals were divided among commits.
        var granularity = 0

        func isNear(percent: Int) -> Bool {
            abs(preview.records - records) <= records * percent / 100 + granularity
        }
    }

    private func evict(_ cache: NormalizedCache, to bytes: ByteCount) async throws -> Outcome {
        var foreseen: [String] = []
        let preview = try cache.inspect { inspection in
            try inspection.evictionPreview(to: bytes) { foreseen.append($0.identifier) }
        }
        var outcome = Outcome(preview: preview, foreseen: foreseen)
        let before = try cache.statistics()
        outcome.granularity = 4 * before.records * 4_096 / before.bytesInUse.bytes
        let events = cache.events()
        try await cache.evict(to: bytes).committed
        outcome.records = before.records - (try cache.statistics().records)
        cache.close()
        for await case .evicted(let eviction) in events {
            outcome.evicted.append(eviction.identifier)
        }
        return outcome
    }

    @Test(
        "A preview lists the victims of the eviction in its order, and nearly as many",
        arguments: [90, 80, 70])
    func agrees(percent: Int) async throws {
        let cache = try await filled()
        defer { cache.close() }
        let bytes = try cache.statistics().bytesInUse.bytes
        let outcome = try await evict(cache, to: ByteCount(bytes * percent / 100))
        let common = min(outcome.foreseen.count, outcome.evicted.count)
        #expect(common > 50)
        // The sequence of events keeps the latest few thousand.
        try #require(outcome.evicted.count < 4_096)
        #expect(outcome.foreseen.prefix(common) == outcome.evicted.prefix(common))
        #expect(
            outcome.isNear(percent: 6),
            "\(outcome.preview.records) foreseen, \(outcome.records) gone")
        #expect(outcome.preview.isReached)
        #expect(outcome.preview.oldest?.identifier == outcome.foreseen.first)
    }

    @Test("A preview lists expired trees first, as `top --by age` does")
    func expired() async throws {
        final class Later: Sendable {
            let date = Mutex(Date())
        }
        let later = Later()
        var configuration = Configuration(
            budget: .mebibytes(4), durability: .noSync, compression: .none)
        configuration.clock = WallClock(of: later) { $0.date.withLock { $0 } }
        let cache = try NormalizedCache(
            directory: folder.url.appendingPathComponent("x").path, configuration: configuration)
        defer { cache.close() }
        // The first record of all has the stamp that expired ones get.
        let first = try JSONParser.parse(Array(#"{"id":1}"#.utf8))
        try await cache.set(Self.rule.tree(from: first, type: "First")).committed
        try await cache.delete("First:1").committed
        // The others are cycles.
        let numbers = (1..<200).filter { !$0.isMultiple(of: 9) }
        for number in numbers {
            try await cache.set(try tree(number), maxAge: number % 10 == 7 ? .seconds(60) : nil)
                .committed
        }
        let fresh = try cache.inspect { try RankingOrder.age.summaries(in: $0, limit: 4) }
        #expect(fresh.map(\.identifier) == numbers.prefix(4).map { "Feed:\($0)" })
        later.date.withLock { $0 += 60 }
        let due = numbers.filter { $0 % 10 == 7 }.map { "Feed:\($0)" }
        let ranked = try cache.inspect {
            try RankingOrder.age.summaries(in: $0, limit: due.count + 2)
        }
        #expect(ranked.map(\.identifier) == due + ["Feed:1", "Feed:2"])
        let bytes = try cache.statistics().bytesInUse.bytes
        let outcome = try await evict(cache, to: ByteCount(bytes * 8 / 10))
        #expect(outcome.foreseen.filter { $0.hasPrefix("Feed:") }.prefix(due.count) == due[...])
        let common = min(outcome.foreseen.count, outcome.evicted.count)
        #expect(common > 20)
        #expect(outcome.foreseen.prefix(common) == outcome.evicted.prefix(common))
        // The tree that was used longest ago, and not the first one that goes.
        #expect(outcome.preview.oldest?.identifier == "Feed:1")
    }

    @Test("A preview evicts a collection first, and then its records one by one as far as needed")
    func collection() async throws {
        let cache = try NormalizedCache(
            directory: folder.url.appendingPathComponent("k").path,
            configuration: Configuration(
                budget: .mebibytes(8), durability: .noSync, compression: .none))
        defer { cache.close() }
        for start in stride(from: 0, to: 3_000, by: 100) {
            let messages = try (start..<start + 100).map { number in
                let filler = String(repeating: "t", count: 80 + number % 40)
                let text = #"{"id":\#(number),"text":"\#(filler)"}"#
                return Self.rule.tree(from: try JSONParser.parse(Array(text.utf8)), type: "Message")
            }
            try await cache.append(messages, toCollection: "all").committed
        }
        let outcome = try await evict(cache, to: .kibibytes(400))
        #expect(outcome.foreseen.first == "all" && outcome.preview.trees == 1)
        #expect(outcome.preview.records > 500 && outcome.preview.records < 2_500)
        let common = min(outcome.foreseen.count, outcome.evicted.count)
        #expect(outcome.foreseen.prefix(common) == outcome.evicted.prefix(common))
        #expect(
            outcome.isNear(percent: 12),
            "\(outcome.preview.records) foreseen, \(outcome.records) gone")
    }

    @Test("A preview of evicting everything leaves exactly the pinned records")
    func everything() async throws {
        let cache = try await filled()
        defer { cache.close() }
        let kept = try cache.inspect { try $0.pinnedRecords() }
        let all = try cache.statistics().records
        let outcome = try await evict(cache, to: ByteCount(1))
        #expect(!outcome.preview.isReached)
        #expect(outcome.preview.records == outcome.records)
        #expect(all - outcome.records == kept.count)
        #expect(Set(outcome.foreseen).isDisjoint(with: ["Feed:17", "page 200"]))
        #expect(outcome.foreseen.contains("page 0"))
    }

    @Test("A preview changes nothing, and reports a cache that already fits")
    func nothing() async throws {
        let cache = try await filled()
        defer { cache.close() }
        let before = try cache.statistics()
        let preview = try cache.inspect { try $0.evictionPreview(to: .mebibytes(4)) }
        #expect(preview.records == 0 && preview.isReached && preview.oldest == nil)
        #expect(preview.bytesLeft == preview.bytesInUse && preview.bytesInUse == before.bytesInUse)
        _ = try cache.inspect { try $0.evictionPreview(to: ByteCount(1)) }
        #expect(try cache.statistics().records == before.records)
        #expect(try cache.verify().isClean)
    }
}
#endif
