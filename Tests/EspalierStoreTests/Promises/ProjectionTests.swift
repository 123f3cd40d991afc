import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Projections share one record")
struct ProjectionTests {
    @Test("A write replaces the fields of its type and keeps those that only other types declare")
    func replaceAndKeep() throws {
        try withCache { cache in
            cache.set(Card("p:1", name: "Anna", badge: 7))
            cache.set(Person("p:1", "Anne"))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anne", badge: 7))
            cache.set(Card("p:1", name: "Ann", badge: nil))
            #expect(cache.read(Person.self, "p:1") == Person("p:1", "Ann"))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Ann", badge: nil))
        }
    }

    @Test("A required field that another projection set to nil is a miss for the type with it")
    func requiredFieldGone() throws {
        try withCache { cache in
            cache.set(Person("p:1", "Anna"))
            cache.set(Card("p:1", name: nil, badge: 1))
            let missing = MissingField(identifier: "p:1", type: "Person", path: "name")
            #expect(cache.readOutcome(Person.self, "p:1").reason == .incomplete([missing]))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: nil, badge: 1))
        }
    }

    @Test("A write removes the fields that its type no longer declares and no other type has")
    func dropped() throws {
        try withCache { cache in
            cache.set(Card("p:1", name: "Anna", badge: 1))
            cache.set(Bag("p:1", ["name": "Anne", "colour": "red", "size": "9"]))
            cache.set(Bag("p:1", ["name": "Annie", "size": "10"]))
            let handle = try #require(try cache.handle("p:1"))
            #expect(try cache.record(handle)?.shape.names == ["id", "name", "badge", "size"])
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Annie", badge: 1))
        }
    }

    @Test("A merge keeps the stored fields for which the model has nil")
    func merge() throws {
        try withCache { cache in
            cache.set(Card("p:1", name: "Anna", badge: 1))
            cache.set(Card("p:1", name: nil, badge: 2), policy: .merge)
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: 2))
            cache.set(Card("p:1", name: "Anne", badge: nil), policy: .merge)
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anne", badge: 2))
            cache.set(Card("p:2", name: nil, badge: 3), policy: .merge)
            #expect(cache.read(Card.self, "p:2") == Card("p:2", name: nil, badge: 3))
        }
    }

    @Test("A merge keeps stored children for which the model has nil")
    func mergedChildren() throws {
        try withCache { cache in
            let (anna, ben) = (Person("p:1", "Anna"), Person("p:2", "Ben"))
            cache.set(Message("m:1", from: anna, to: ben))
            cache.set(Message("m:1", from: ben), policy: .merge)
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: ben, to: ben))
        }
    }

    @Test("A projection in another tree changes its fields in the shared record and no others")
    func bothInOneTree() throws {
        try withCache { cache in
            cache.set(Box("b:1", [Box("b:2", Card("p:1", name: "Anna", badge: 5))]))
            try cache.set(Message("m:1", from: Person("p:1", "Anne"))).wait()
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anne", badge: 5))
            #expect(try cache.statistics().nodes == 4)
        }
    }

    @Test("Writing a projection again without a change writes no record")
    func unchanged() throws {
        try withCache { cache in
            for _ in 0..<2 {
                cache.set(Card("p:1", name: "Anna", badge: 7))
                cache.set(Person("p:1", "Anna"))
            }
            try cache.set(Person("p:1", "Anna")).wait()
            // The card's record, and the same record with the person as a declarer of the name.
            #expect(try cache.statistics().recordsWritten == 2)
        }
    }

    @Test("Deleting a node deletes all its projections")
    func deleted() throws {
        try withCache { cache in
            cache.set(Card("p:1", name: "Anna", badge: 7))
            cache.set(Person("p:1", "Anna"))
            cache.delete("p:1")
            #expect(cache.read(Card.self, "p:1") == nil)
            cache.set(Person("p:1", "Anna"))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: nil))
        }
    }
}
