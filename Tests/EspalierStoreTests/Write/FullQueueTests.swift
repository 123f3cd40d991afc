import EspalierRecords
import EspalierStore
import Foundation
import Testing

@Suite("The full queue of writes")
struct FullQueueTests {
    private static var small: Configuration {
        var configuration = Configuration.forTests
        configuration.queueLimit = .kibibytes(16)
        return configuration
    }

    /// Fills the queue whether or not the models have been flattened yet.
    private static let long = String(repeating: "x", count: 600)

    @Test("Overwritten writes of a full queue share the result of the last write of their node")
    func coalescing() throws {
        try withCache(Self.small) { cache in
            let tickets = try withBlockedWriter(cache) {
                (0..<500).map { cache.set(Person("p:1", Self.long + "\($0)")) }
            }
            #expect(tickets.allSatisfy { code($0) == nil })
            #expect(cache.read(Person.self, "p:1")?.name == Self.long + "499")
            #expect(try cache.statistics().writes < 50)
        }
    }

    @Test("A full queue drops the oldest sets and never a delete, and never makes the caller wait")
    func dropping() throws {
        try withCache(Self.small) { cache in
            try cache.set(Person("p:gone", "deleted")).wait()
            let start = ContinuousClock.now
            let (delete, tickets) = try withBlockedWriter(cache) {
                (cache.delete("p:gone"), (0..<500).map { cache.set(Person("p:\($0)", Self.long)) })
            }
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(code(delete) == nil)
            #expect(cache.read(Person.self, "p:gone") == nil)
            let codes = tickets.map(code)
            #expect(codes.first == .dropped)
            #expect(codes.suffix(10).allSatisfy { $0 == nil })
            let firstKept = codes.firstIndex { $0 == nil } ?? 0
            #expect(
                codes[..<firstKept].allSatisfy { $0 == .dropped }
                    && codes[firstKept...].allSatisfy { $0 == nil })
            #expect(try cache.statistics().nodes == 500 - firstKept)
        }
    }

    @Test("A full queue costs the caller no more than an empty one")
    func cost() throws {
        var configuration = Configuration.forTests
        // Some 4,000 that are not flattened yet.
        configuration.queueLimit = .mebibytes(4)
        try withCache(configuration) { cache in
            let duration = try withBlockedWriter(cache) {
                let models = (0..<12_000).map { Person("p:\($0)", "Person") }
                return ContinuousClock().measure { for model in models { cache.set(model) } }
            }
            #expect(duration < .seconds(5))
        }
    }

    @Test("A full queue leaves out no merge, because merges add up")
    func merges() throws {
        try withCache(Self.small) { cache in
            try withBlockedWriter(cache) {
                cache.set(Card("p:1", name: "Anna", badge: nil), policy: .merge)
                cache.set(Card("p:1", name: nil, badge: 1), policy: .merge)
                for _ in 0..<10 { cache.set(Card("p:2", name: nil, badge: 2)) }
            }
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: 1))
        }
    }

    @Test("A flush and a read wait for what overwrites the writes before them")
    func standIns() async throws {
        try await withCache(Self.small) { cache in
            let gate = Gate(in: cache)
            cache.set(Person("p:1", "before"))
            async let read = cache.read(Person.self, "p:1")
            async let other = cache.read(Person.self, "p:none")
            try await Task.sleep(for: .milliseconds(50))
            for number in 0..<100 { cache.set(Person("p:1", "\(number)")) }
            gate.open()
            #expect(await read != nil)
            #expect(await other == nil)
        }
    }

    @Test("A full queue tells apart identifiers that Swift takes for one string")
    func canonicalEquivalence() throws {
        try withCache(Self.small) { cache in
            try withBlockedWriter(cache) {
                cache.set(Person("e\u{301}", "decomposed"))
                cache.set(Person("\u{E9}", "composed"))
                for number in 0..<200 { cache.set(Person("p:1", "\(number)")) }
            }
            #expect(cache.read(Person.self, "\u{E9}")?.name == "composed")
            #expect(cache.read(Person.self, "e\u{301}")?.name == "decomposed")
        }
    }

    /// How often the loads below run: `ESPALIER_QUEUE_RUNS`, or twice.
    private static let runs =
        ProcessInfo.processInfo.environment["ESPALIER_QUEUE_RUNS"].flatMap(Int.init) ?? 2

    @Test(
        "A ticket succeeds only if every node of its write is stored or overwritten",
        arguments: 0..<runs)
    func lostNodes(run: Int) async throws {
        try await withCache(Self.small) { cache in
            for number in 0..<300 { try await cache.set(Person("p:\(number)", "old")).committed }
            let tickets = try withBlockedWriter(cache) {
                (0..<300).map { cache.set(Message("m:1", from: Person("p:\($0)", Self.long))) }
            }
            try await cache.flush()
            let dropped = tickets.count { code($0) == .dropped }
            var stored = 0
            for (number, ticket) in tickets.enumerated() {
                let name = await cache.read(Person.self, "p:\(number)")?.name
                if code(ticket) == nil {
                    #expect(name == Self.long, "Write \(number) was reported as stored")
                    stored += 1
                }
            }
            #expect(stored + dropped == 300)
            #expect(stored > 0 && dropped > 0)
            #expect(try cache.statistics().droppedWrites["queueFull"] == dropped)
        }
    }

    @Test(
        "Every ticket ends when threads fill the queue with writes of the same entries",
        arguments: 0..<runs)
    func everyTicketEnds(run: Int) async throws {
        try await withCache(Self.small) { cache in
            let tickets = await withTaskGroup(of: [WriteTicket].self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        (0..<750).map { number in
                            let person = Person("p:\(number % 3)", "\(thread) \(number)")
                            return cache.set(Message("m:\(number % 2)", from: person))
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            try await cache.flush()
            #expect(tickets.count == 3_000)
            // After a flush, every ticket before it has ended.
            #expect(tickets.allSatisfy { $0.result != nil })
        }
    }
}
