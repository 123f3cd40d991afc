import EspalierRecords
import EspalierStore
import Testing

@Suite("Several trees in one write")
struct BatchTests {
    private let messages = (0..<20).map {
        Message("m:\($0)", from: Person("p:\($0 % 3)", "Person"))
    }

    @Test("Several trees in one write are stored together, in one change set")
    func together() async throws {
        try await withCache { cache in
            let changes = cache.changes()
            try await cache.set(messages).committed
            for message in messages {
                #expect(await cache.read(Message.self, message.id) == message)
            }
            #expect(try cache.statistics().roots == 20)
            cache.close()
            #expect(await changes.reduce(into: []) { $0.append($1.written.count) } == [23])
        }
    }

    @Test("A write of several trees stores none of them if one is invalid")
    func allOrNone() throws {
        try withCache { cache in
            #expect(
                code(cache.set(messages + [Message("", from: Person("p:9", "Person"))]))
                    == .noIdentifier)
            #expect(
                code(cache.set(messages + [Message("m:x", from: Person("", "nobody"))]))
                    == .noIdentifier)
            #expect(cache.read(Message.self, "m:0") == nil)
            try cache.set([Message]()).wait()
            #expect(try cache.statistics().nodes == 0)
        }
    }

    @Test("The first version of a node in several trees of one write is stored")
    func first() throws {
        try withCache { cache in
            cache.set([
                Message("m:1", from: Person("p:1", "first")),
                Message("m:2", from: Person("p:1", "second")),
            ])
            #expect(cache.read(Message.self, "m:2")?.sender.name == "first")
        }
    }
}
