import EspalierStore
import Testing

@Suite("Long chains of overwritten writes")
struct ChainTests {
    @Test("All tickets of 60,000 writes of one entry succeed together")
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
