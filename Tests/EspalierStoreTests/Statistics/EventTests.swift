import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

@Suite("Events")
struct EventTests {
    private static let configuration = Configuration.forTests(budget: .mebibytes(1))

    /// Runs `body` and closes the cache. Returns the events that it has sent.
    private func events(
        _ configuration: Configuration = configuration, of body: (NormalizedCache) throws -> Void
    ) async throws -> [CacheEvent] {
        let stream = try withCache(configuration) { cache in
            let stream = cache.events()
            try body(cache)
            return stream
        }
        return await all(stream)
    }

    private func all(_ stream: AsyncStream<CacheEvent>) async -> [CacheEvent] {
        var events: [CacheEvent] = []
        for await event in stream { events.append(event) }
        return events
    }

    private func evictions(_ events: [CacheEvent]) -> [Eviction] {
        events.compactMap { if case .evicted(let eviction) = $0 { eviction } else { nil } }
    }

    @Test("Every evicted tree sends an event with its size, in the order of eviction")
    func evicted() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        let stream = cache.events()
        let names = try cache.overfill(budgets: 1.5)
        // Until the cache closes, an eviction in the background may send events.
        cache.close()
        let events = await all(stream)
        let evictions = evictions(events)
        let statistics = try scratch.open(Self.configuration).statistics()
        #expect(evictions.count == events.count)
        #expect(evictions.count > 300)
        #expect(evictions.map(\.identifier) == Array(names.prefix(evictions.count)))
        #expect(
            evictions.allSatisfy {
                $0.reason == .budget && $0.nameSpace == .node && $0.records == 1
            })
        #expect(evictions.allSatisfy { (600...700).contains($0.bytes.bytes) })
        #expect(evictions.allSatisfy { (.zero ... .seconds(60)).contains($0.age ?? .seconds(-1)) })
        #expect(statistics.evictions.forBudget.trees == evictions.count)
        #expect(
            statistics.evictions.bytes == ByteCount(evictions.reduce(0) { $0 + $1.bytes.bytes }))
    }

    @Test("An evicted cycle sends one event, with the name of one of its records")
    func cycle() async throws {
        let events = try await events { cache in
            try cache.set(Ring("a", left: Ring("b", left: Ring("a")), right: Ring("below"))).wait()
            try cache.evict("b").wait()
        }
        #expect(evictions(events).count == 1)
        let eviction = try #require(evictions(events).first)
        #expect(
            ["a", "b"].contains(eviction.identifier) && eviction.records == 2
                && eviction.reason == .explicit)
    }

    @Test("Evictions that a caller asks for send events, whatever is evicted")
    func explicit() async throws {
        let events = try await events { cache in
            cache.set(Message("m:1", from: Person("p:1", "Anna")))
            try cache.setCollection([Person("p:2", "Ben")], forKey: "c").wait()
            try cache.evict("m:1").wait()
            try cache.evictCollection(forKey: "c").wait()
            try cache.evict("nobody").wait()
            try cache.evict(to: ByteCount(0)).wait()
        }
        let evictions = evictions(events)
        #expect(evictions.map(\.identifier) == ["m:1", "c", "p:1", "p:2"])
        #expect(evictions.map(\.nameSpace) == [.node, .collection, .node, .node])
        #expect(
            evictions.allSatisfy {
                $0.reason == .explicit && $0.bytes > ByteCount(0) && $0.age != nil
            })
    }

    @Test("A dropped write sends an event, and an invalid one does not")
    func dropped() async throws {
        var configuration = Self.configuration
        configuration.queueLimit = ByteCount(4_096)
        var dropped = 0
        let events = try await events(configuration) { cache in
            // A flattened write counts with few bytes. A thousand fill the queue even if all are
            // flattened.
            let tickets = try withBlockedWriter(cache) {
                (0..<1_000).map { cache.set(Person("p:\($0)", "Anna")) }
            }
            let codes = tickets.compactMap(code)
            dropped = codes.count
            #expect(dropped > 0 && codes.allSatisfy { $0 == .dropped })
            #expect(code(cache.set(box("b:1", of: 200))) == .treeTooLarge)
            #expect(code(cache.set(Twice()))?.isNotFlattened == true)
            #expect(code(cache.pin("nobody")) == .notFound)
            #expect(
                try cache.statistics().droppedWrites == ["queueFull": dropped, "treeTooLarge": 1])
        }
        let expected = [CacheEvent](repeating: .writeDropped(reason: "queueFull"), count: dropped)
        #expect(events == expected + [.writeDropped(reason: "treeTooLarge")])
    }

    @Test("A slow subscriber delays no write, and gets the newest events")
    func slow() async throws {
        var evicted = 0
        let events = try await events { cache in
            for round in 0..<5 { try cache.overfill(budgets: 1, bytes: 40, prefix: "x\(round)") }
            evicted = try cache.statistics().evictions.trees
        }
        #expect(evicted > 10_000)
        #expect(events.count == 4_096)
        // The newest events, without a gap.
        let names = evictions(events).map(\.identifier)
        let last = names.compactMap { Int($0.split(separator: ":").last ?? "") }
        let breaks = zip(last, last.dropFirst()).filter { $1 != $0 + 1 && $1 != 0 }
        #expect(breaks.isEmpty)
    }

    @Test("Emptying a cache sends the event of a new generation, and none of evictions")
    func emptied() async throws {
        let events = try await events { cache in
            cache.set(Person("p:1", "Anna"))
            try cache.removeAll().wait()
            try cache.delete("p:1").wait()
        }
        #expect(events == [.generationReplaced(reason: "emptied")])
    }

    @Test("Change sets name the same evictions as events")
    func changeSets() async throws {
        let scratch = try Scratch()
        let cache = try scratch.open(Self.configuration)
        let (changes, events) = (cache.changes(), cache.events())
        try cache.overfill(budgets: 1.2)
        cache.close()
        var evicted: [String] = []
        for await change in changes { evicted += change.evicted }
        var evictedByEvents: [String] = []
        for await case .evicted(let eviction) in events {
            evictedByEvents.append(eviction.identifier)
        }
        #expect(evicted == evictedByEvents)
        #expect(evicted.count > 100)
    }
}
