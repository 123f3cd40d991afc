import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Writes that belong together")
struct WriteBatchTests {
    @Test("A batch stores models of several types, collections and deletes in one commit")
    func all() throws {
        try withCache { cache in
            try cache.set(Person("old", "")).wait()
            let before = try cache.statistics().writes
            try cache.write { batch in
                batch.set(Person("p:1", "Ada"))
                batch.set([Message("m:1", from: Person("p:2", "Ben"))])
                batch.setModel(Remark("note"), forKey: "k")
                batch.setCollection([Person("p:1", "Ada")], forKey: "people")
                batch.append([Person("p:2", "Ben")], toCollection: "people")
                batch.delete("old")
            }.wait()
            #expect(cache.read(Person.self, "p:1")?.name == "Ada")
            #expect(cache.read(Message.self, "m:1")?.sender.name == "Ben")
            #expect(cache.modelOutcome(Remark.self, forKey: "k").value == Remark("note"))
            let people = cache.collection(of: Person.self, forKey: "people")
            #expect(people?.map(\.id) == ["p:1", "p:2"])
            #expect(cache.readOutcome(Person.self, "old").reason == .notFound)
            #expect(try cache.statistics().writes == before + 1)
        }
    }

    @Test("A step that fails leaves nothing of its batch, and its ticket tells why")
    func none() throws {
        try withCache { cache in
            try cache.set(Person("p:1", "Ada")).wait()
            let ticket = cache.write { batch in
                batch.set(Person("p:1", "Eve"))
                batch.delete("p:1")
                batch.remove(0..<1, fromCollection: "nothing")
            }
            let error = #expect(throws: CacheError.self) { try ticket.wait() }
            #expect(error?.code == .notFound)
            #expect(cache.read(Person.self, "p:1")?.name == "Ada")
        }
    }

    @Test("A model without an identifier fails the whole batch at once")
    func noIdentifier() throws {
        try withCache { cache in
            let ticket = cache.write { batch in
                batch.set(Person("p:1", "Ada"))
                batch.set(Person("", "nobody"))
            }
            let error = #expect(throws: CacheError.self) { try ticket.wait() }
            #expect(error?.code == .noIdentifier)
            #expect(cache.read(Person.self, "p:1") == nil)
        }
    }

    @Test("The first of several contents of a node counts, and the others are contradictions")
    func contradictions() throws {
        try withCache { cache in
            let ticket = cache.write { batch in
                batch.set(Person("p:1", "Ada"))
                batch.set(Message("m:1", from: Person("p:1", "Eve")))
            }
            try ticket.wait()
            #expect(ticket.contradictions == 1)
            #expect(try cache.statistics().contradictions == 1)
            #expect(cache.read(Message.self, "m:1")?.sender.name == "Ada")
        }
    }

    @Test("A delete takes effect between the writes before it and those after it")
    func order() throws {
        try withCache { cache in
            try cache.write { batch in
                batch.set(Person("p:1", "first"))
                batch.set(Person("p:2", "first"))
                batch.delete("p:1")
                batch.delete("p:2")
                batch.set(Person("p:2", "second"))
            }.wait()
            #expect(cache.read(Person.self, "p:1") == nil)
            #expect(cache.read(Person.self, "p:2")?.name == "second")
        }
    }

    @Test("An empty batch succeeds, and the error of the closure writes nothing")
    func edges() throws {
        struct Stop: Error {}
        try withCache { cache in
            try cache.write { _ in }.wait()
            #expect(throws: Stop.self) {
                try cache.write { batch in
                    batch.set(Person("p:1", "Ada"))
                    throw Stop()
                }
            }
            #expect(cache.read(Person.self, "p:1") == nil)
        }
    }
}
