import EspalierRecords
import EspalierStore
import Testing

@Suite("Deletion of nodes")
struct DeletionTests {
    private let anna = Person("p:1", "Anna")
    private let ben = Person("p:2", "Ben")

    @Test("A deleted node is nil where it is optional")
    func optionalChild() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            cache.delete("p:2")
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
            #expect(cache.readOutcome(Person.self, "p:2").reason == .notFound)
        }
    }

    @Test("A deleted node is left out of lists and dictionaries")
    func elementsAndEntries() throws {
        try withCache { cache in
            let messages = (1...3).map { Message("m:\($0)", from: anna) }
            cache.set(Feed("f:1", messages: messages, people: ["a": anna, "b": ben]))
            cache.delete("m:2")
            cache.delete("p:2")
            #expect(
                cache.read(Feed.self, "f:1")
                    == Feed("f:1", messages: [messages[0], messages[2]], people: ["a": anna]))
        }
    }

    @Test("A deletion deletes what requires the node, inline or not")
    func climbing() throws {
        try withCache { cache in
            let messages = [Message("m:1", from: anna), Message("m:2", from: ben)]
            cache.set(
                Feed("f:1", messages: messages, pinned: messages[1], cover: Cover("us", of: ben)))
            cache.delete("p:2")
            #expect(cache.read(Feed.self, "f:1") == Feed("f:1", messages: [messages[0]]))
            #expect(cache.readOutcome(Message.self, "m:2").reason == .deleted)
        }
    }

    @Test("A node that was deleted and created again does not come back in its old parents")
    func recreated() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            cache.delete("p:2")
            cache.set(Person("p:2", "another Ben"))
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna))
            #expect(cache.read(Person.self, "p:2")?.name == "another Ben")
            cache.set(Message("m:1", from: anna, to: ben))
            #expect(cache.read(Message.self, "m:1") == Message("m:1", from: anna, to: ben))
        }
    }

    @Test("A tombstone is removed with the last reference to it")
    func tombstones() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna, to: ben))
            cache.set(Message("m:2", from: anna, to: ben))
            try cache.delete("p:2").wait()
            #expect(try cache.statistics().tombstones == 1)
            try cache.set(Message("m:1", from: anna)).wait()
            #expect(try cache.statistics().tombstones == 1)
            try cache.delete("m:2").wait()
            #expect(try cache.statistics().tombstones == 0)
        }
    }

    @Test("Deleting a node without references leaves no tombstone")
    func root() throws {
        try withCache { cache in
            cache.set(Message("m:1", from: anna))
            try cache.delete("m:1").wait()
            let statistics = try cache.statistics()
            #expect(statistics.tombstones == 0)
            #expect(statistics.nodes == 1)
            #expect(statistics.roots == 1)
        }
    }

    @Test("Deleting a missing node succeeds and changes nothing")
    func nothing() throws {
        try withCache { cache in
            try cache.delete("nobody").wait()
            #expect(try cache.statistics().deletes == 0)
        }
    }

    @Test("A node that refers to itself is deleted together with its reference")
    func selfReference() throws {
        try withCache { cache in
            cache.set(Ring("r:1", left: Ring("r:1")))
            try cache.delete("r:1").wait()
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 0)
            #expect(statistics.tombstones == 0)
            #expect(statistics.shapes == 0)
        }
    }

    @Test("Sets and deletes in one commit have the same effect as in separate commits")
    func oneCommit() throws {
        try withCache { cache in
            try withBlockedWriter(cache) {
                cache.set(Message("m:1", from: anna, to: ben))
                cache.delete("p:2")
                cache.set(Person("p:2", "new"))
                cache.set(Message("m:2", from: ben))
                cache.delete("m:2")
                cache.delete("p:1")
                cache.set(anna)
            }
            #expect(cache.readOutcome(Message.self, "m:1").reason == .deleted)
            #expect(cache.read(Person.self, "p:2") == ben)
            #expect(cache.read(Person.self, "p:1") == anna)
            #expect(cache.readOutcome(Message.self, "m:2").reason == .notFound)
        }
    }

    @Test("Removing everything empties the cache and keeps its budget")
    func removeAll() throws {
        try withCache(.forTests(budget: .mebibytes(3))) { cache in
            for number in 0..<50 { cache.set(Message("m:\(number)", from: anna, to: ben)) }
            cache.removeAll()
            cache.set(ben)
            #expect(cache.read(Message.self, "m:3") == nil)
            #expect(cache.read(Person.self, "p:2") == ben)
            let statistics = try cache.statistics()
            #expect(statistics.nodes == 1)
            #expect(statistics.budget == .mebibytes(3))
            #expect(statistics.directoryBytes.bytes <= 3 << 20)
        }
    }
}
