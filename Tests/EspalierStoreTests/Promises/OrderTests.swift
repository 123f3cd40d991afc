import EspalierRecords
import EspalierStore
import Testing

@Suite("Order of write is order of effect")
struct OrderTests {
    private let anna = Person("p:1", "Anna")

    @Test("set, set and delete of one identifier leave nothing; delete and set leave what was set")
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

    @Test("the last of many writes is what counts")
    func lastWrite() throws {
        try withCache { cache in
            for number in 0..<500 { cache.set(Person("p:1", "\(number)")) }
            #expect(cache.read(Person.self, "p:1")?.name == "499")
        }
    }

    @Test(
        "a read sees the writes before it; a snapshot read sees what is committed and does not wait"
    )
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

    @Test("a read that waits for the writer wakes up when it has caught up")
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

    @Test("removing everything takes its place in the order")
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
