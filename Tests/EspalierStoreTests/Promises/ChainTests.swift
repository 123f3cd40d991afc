import EspalierStore
import Testing

@Suite("Very many writes of one entry")
struct ChainTests {
    @Test("waiting for a busy writer are told of together, however many they are")
    func chain() throws {
        var configuration = Configuration.forTests
        configuration.queueLimit = .kibibytes(64)
        try withCache(configuration) { cache in
            let tickets = try withBlockedWriter(cache) {
                (0..<60_000).map { cache.set(Person("p:1", "\($0)")) }
            }
            #expect(tickets.allSatisfy { code($0) == nil })
            #expect(cache.read(Person.self, "p:1")?.name == "59999")
        }
    }
}
