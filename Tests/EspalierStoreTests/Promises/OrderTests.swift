import EspalierRecords
import EspalierStore
import Testing

@Suite("The order of writes")
struct OrderTests {
    private let anna = Person("p:1", "Anna")

    @Test("Sets and deletes of one identifier take effect in the order of the calls")
    func oneIdentifier() throws {
        try withCache { cache in
            try withBlockedWriter(cache) {
                cache.set(anna)
                cache.set(Person("p:1", "Anne"))
                cache.delete("p:1")
                cache.delete("p:2")
                cache.set(Person("p:2", "Ben"))
            }
            #expect(cache.readOutcome(Person.self, "p:1").reason == .notFound)
            #expect(cache.read(Person.self, "p:2")?.name == "Ben")
        }
    }

    @Test("The last of many writes of one node is stored")
    func lastWrite() throws {
        try withCache { cache in
            for number in 0..<500 { cache.set(Person("p:1", "\(number)")) }
            #expect(cache.read(Person.self, "p:1")?.name == "499")
        }
    }

    @Test("A read sees the writes before it; a snapshot read sees commits and does not wait")
    func consistency() throws {
        try withCache { cache in
            try cache.set(anna).wait()
            try withBlockedWriter(cache) {
                cache.set(Person("p:1", "Anne"))
                #expect(cache.read(Person.self, "p:1", consistency: .snapshot) == anna)
            }
            #expect(cache.read(Person.self, "p:1")?.name == "Anne")
        }
    }

    @Test("A read that waits for the writer returns when the writer has caught up")
    func waitingRead() async throws {
        try await withCache { cache in
            let gate = Gate(in: cache)
            cache.set(anna)
            async let read = cache.read(Person.self, "p:1")
            async let snapshot = cache.read(Person.self, "p:1", consistency: .snapshot)
            #expect(await snapshot == nil)
            gate.open()
            #expect(await read == anna)
        }
    }

    @Test("Removing everything takes effect in the order of the calls")
    func removeAll() throws {
        try withCache { cache in
            try withBlockedWriter(cache) {
                cache.set(anna)
                cache.removeAll()
                cache.set(Person("p:2", "Ben"))
            }
            #expect(cache.read(Person.self, "p:1") == nil)
            #expect(cache.read(Person.self, "p:2")?.name == "Ben")
        }
    }
}
