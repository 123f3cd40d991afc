import EspalierModels
import EspalierRecords
import EspalierStore
import Synchronization
import Testing

/// A model whose initialiser uses a cache.
private struct Curious: NormalizedModel {
    /// The actions of the initialisers, by identifier, because tests run in parallel.
    static let actions = Mutex<[String: @Sendable () throws -> Void]>([:])

    let id: String

    init(_ id: String) { self.id = id }

    var modelIdentifier: String? { id }

    init(from decoder: inout RecordDecoder) throws {
        let id: String = try decoder.decode(forKey: "id")
        self.id = id
        try Self.actions.withLock { $0[id] }?()
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try Self.actions.withLock { $0["encode \(id)"] }?()
        try encoder.encode(id, forKey: "id")
    }
}

@Suite("Models that use the cache while they are created")
struct NestedReadTests {
    private let anna = Person("p:1", "Anna")

    private func act(as id: String, _ action: @escaping @Sendable () throws -> Void) {
        Curious.actions.withLock { $0[id] = action }
    }

    @Test("A model's initialiser may read from the cache, blocked or suspended")
    func reads() async throws {
        try await withCache { cache in
            let seen = Mutex<[Person?]>([])
            act(as: "reads") { [weak cache] in
                let person = cache?.read(Person.self, "p:1")
                seen.withLock { $0.append(person) }
            }
            try await cache.set(anna).committed
            try await cache.set(Curious("reads")).committed
            #expect(await cache.read(Curious.self, "reads") != nil)
            #expect(Self.readBlocking(cache, "reads") != nil)
            #expect(seen.withLock { $0 } == [anna, anna])
        }
    }

    private static func readBlocking(_ cache: NormalizedCache, _ id: String) -> Curious? {
        cache.read(Curious.self, id)
    }

    @Test(
        """
        Waiting for a write in a model's initialiser throws, and both the read and the write \
        succeed
        """
    )
    func waits() throws {
        try withCache { cache in
            let codes = Mutex<[CacheError.Code?]>([])
            act(as: "waits") { [weak cache] in
                guard let cache else { return }
                let ticket = cache.set(Person("p:2", "from inside"))
                codes.withLock { $0.append(code(ticket)) }
            }
            try cache.set(Curious("waits")).wait()
            #expect(cache.read(Curious.self, "waits") != nil)
            #expect(codes.withLock { $0 } == [.waitInsideRead])
            #expect(cache.read(Person.self, "p:2") != nil)
        }
    }

    @Test(
        """
        A model's initialiser misses when it asks for the latest while writes are pending, and \
        hits with a snapshot
        """)
    func latestInside() throws {
        try withCache { cache in
            let outcomes = Mutex<[ReadOutcome<Person>]>([])
            act(as: "latest") { [weak cache] in
                guard let cache else { return }
                let both = [
                    cache.readOutcome(Person.self, "p:1"),
                    cache.readOutcome(Person.self, "p:1", consistency: .snapshot),
                ]
                outcomes.withLock { $0 += both }
            }
            cache.set(anna)
            try cache.set(Curious("latest")).wait()
            try withBlockedWriter(cache) {
                #expect(cache.read(Curious.self, "latest", consistency: .snapshot) != nil)
            }
            let found = outcomes.withLock { $0 }
            #expect(found.first?.reason?.name == "unavailable")
            #expect(found.last?.value == anna)
        }
    }

    @Test("A model's encoder may write and read snapshots, and can't wait for a write")
    func encoding() throws {
        try withCache { cache in
            let codes = Mutex<[CacheError.Code?]>([])
            try cache.set(anna).wait()
            act(as: "encode encodes") { [weak cache] in
                guard let cache else { return }
                #expect(cache.read(Person.self, "p:1", consistency: .snapshot) != nil)
                let ticket = cache.set(Person("p:3", "while encoding"))
                codes.withLock { $0.append(code(ticket)) }
                codes.withLock { $0.append(code { try cache.flushAndWait() }) }
            }
            try cache.set(Curious("encodes")).wait()
            #expect(codes.withLock { $0 } == [.waitInsideRead, .waitInsideRead])
            #expect(cache.read(Person.self, "p:3") != nil)
        }
    }
}
