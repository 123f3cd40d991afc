import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("One identifier is one record")
struct IdentityTests {
    private let anna = Person("p:1", "Anna")

    @Test("A value may be inline in one write and a reference in the next, and the reverse")
    func inlineOrReference() throws {
        try withCache { cache in
            for (identifier, references) in [
                (nil, 1), ("c:1", 1), (nil, 2), ("c:1", 1), ("c:2", 2), (nil, 3),
            ]
                as [(String?, UInt64)]
            {
                let feed = Feed(
                    "f:1", cover: Cover(identifier ?? "inline", of: anna, id: identifier))
                try cache.set(feed).wait()
                #expect(cache.read(Feed.self, "f:1") == feed)
                #expect(try cache.state("p:1").referenceCount == references)
            }
        }
    }

    @Test("A node that occurs twice in a tree is one record")
    func equalContent() throws {
        try withCache { cache in
            let feed = Feed(
                "f:1", messages: [Message("m:1", from: anna), Message("m:1", from: anna)])
            try cache.set(feed).wait()
            #expect(cache.read(Feed.self, "f:1") == feed)
            #expect(try cache.statistics().nodes == 3)
        }
    }

    @Test("The first version of a node in pre-order is stored if a tree contains several")
    func differentContent() throws {
        try withCache { cache in
            cache.set(
                Feed(
                    "f:1",
                    messages: [
                        Message("m:1", from: Person("p:1", "first")),
                        Message("m:2", from: Person("p:1", "second")),
                    ]))
            let read = try #require(cache.read(Feed.self, "f:1"))
            #expect(read.messages.map(\.sender.name) == ["first", "first"])
        }
    }

    @Test("The fields of two types of one node in a tree are combined")
    func complementaryContent() throws {
        try withCache { cache in
            cache.set(Pair("pair:1", Person("p:1", "Anna"), Card("p:1", name: nil, badge: 4)))
            #expect(cache.read(Person.self, "p:1") == anna)
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: 4))
        }
    }

    @Test("A later projection in a tree does not overwrite the fields of an earlier one")
    func laterProjectionInTree() throws {
        try withCache { cache in
            cache.set(Pair("pair:1", Person("p:1", "Anna"), Card("p:1", name: "Zoe", badge: 4)))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: 4))
        }
    }

    @Test("A property that changes from one node to another moves no field between them")
    func changedIdentity() throws {
        try withCache { cache in
            cache.set(Pair("pair:1", Person("p:1", "Anna"), Card("p:1", name: "Anna", badge: 4)))
            cache.set(Pair("pair:1", Person("p:2", "Ben"), Card("p:2", name: "Ben", badge: nil)))
            #expect(cache.read(Card.self, "p:2") == Card("p:2", name: "Ben", badge: nil))
            #expect(cache.read(Card.self, "p:1") == Card("p:1", name: "Anna", badge: 4))
        }
    }
}
