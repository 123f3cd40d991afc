import EspalierRecords
import EspalierStore
import Testing

@Suite("Tickets of writes")
struct TicketTests {
    private let anna = Person("p:1", "Anna")

    @Test("A ticket is pending, and then committed")
    func success() async throws {
        try await withCache { cache in
            let ticket = try withBlockedWriter(cache) {
                let ticket = cache.set(anna)
                #expect(ticket.result == nil)
                return ticket
            }
            try await ticket.committed
            try ticket.wait()
            #expect(throws: Never.self) { try ticket.result?.get() }
        }
    }

    @Test("A write that is invalid fails with its reason and changes nothing")
    func failures() throws {
        try withCache { cache in
            #expect(code(cache.set(Person("", "nobody"))) == .noIdentifier)
            #expect(code(cache.set(Remark("inline"))) == .noIdentifier)
            #expect(code(cache.setModel(anna, forKey: "")) == .noIdentifier)
            #expect(code(cache.delete("")) == .noIdentifier)
            #expect(code(cache.set(Message("m:1", from: Person("", "nobody")))) == .noIdentifier)
            #expect(code(cache.set(Opaque())) == .notFlattened(.notStorable(type: "Opaque")))
            #expect(
                code(cache.set(Twice()))
                    == .notFlattened(.duplicateField(type: "Twice", field: "a")))
            #expect(code(cache.set(Refusing()))?.isNotFlattened == true)
            #expect(code(cache.insert([anna], at: 0, inCollection: "none")) == .notFound)
            #expect(code(cache.remove(at: 0, fromCollection: "none")) == .notFound)
            #expect(code(cache.append([anna], toCollection: "")) == .noIdentifier)
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 0)
            #expect(statistics.recordsWritten == 0)
            #expect(statistics.collections == 0)
        }
    }

    @Test("An invalid write among valid ones fails alone")
    func badAmongGood() throws {
        try withCache { cache in
            try cache.setCollection([anna], forKey: "people").wait()
            let tickets = try withBlockedWriter(cache) {
                [
                    cache.set(Person("p:2", "Ben")),
                    cache.update(Person("p:3", "Cem"), at: 5, inCollection: "people"),
                    cache.set(Twice()),
                    cache.append([Person("p:4", "Dan")], toCollection: "people"),
                    cache.remove(7..<9, fromCollection: "people"),
                    cache.delete("p:1"),
                ]
            }
            #expect(
                tickets.map(code) == [
                    nil, .outOfRange, .notFlattened(.duplicateField(type: "Twice", field: "a")),
                    nil, .outOfRange, nil,
                ])
            #expect(cache.read(Person.self, "p:2")?.name == "Ben")
            #expect(cache.read(Person.self, "p:3") == nil)
            #expect(cache.collection(of: Person.self, forKey: "people")?.map(\.id) == ["p:4"])
        }
    }

    @Test("Any number of tasks may wait for one ticket")
    func manyWaiters() async throws {
        try await withCache { cache in
            let gate = Gate(in: cache)
            let ticket = cache.set(anna)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await ticket.committed } }
                gate.open()
                try await group.waitForAll()
            }
        }
    }
}
