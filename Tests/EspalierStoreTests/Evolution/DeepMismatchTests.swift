import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Mismatches deep in a tree")
struct DeepMismatchTests {
    private static let age = MissReason.undecodable(
        path: "Person:1.age", detail: "expected a String, found integer")

    @Test(
        "A mismatch in any reference between Codable models is a miss that names its field",
        arguments: [0, 1, 2])
    func codableChild(place: Int) throws {
        let cache = try ReopenedCache()
        var feed = TreeV1.Feed(messages: [])
        switch place {
        case 0: feed.messages = [TreeV1.Message()]
        case 1: feed.pinned = TreeV1.Message()
        default: feed.people = ["ada": TreeV1.Person()]
        }
        try cache.write(feed)
        #expect(try cache.read(TreeV2.Feed.self, "Feed:1").reason == Self.age)
        #expect(try cache.read(TreeV1.Feed.self, "Feed:1").value == feed)
        // The person's record is the only one that does not match.
        try cache.write(TreeV2.Person(age: "37"))
        #expect(try cache.read(TreeV2.Feed.self, "Feed:1").value?.id == 1)
        #expect(
            try cache.read(TreeV1.Feed.self, "Feed:1").reason
                == .undecodable(
                    path: "Person:1.age", detail: "expected an integer that fits Int, found string")
        )
        try cache.verify()
    }

    private typealias Old = TreeByHand.Feed<TreeByHand.Person<Int>, TreeByHand.Note<Int>>
    private typealias New = TreeByHand.Feed<TreeByHand.Person<String>, TreeByHand.Note<String>>

    @Test(
        "A mismatch in any reference between hand-written models is a miss that names its field",
        arguments: [0, 1, 2])
    func handWrittenChild(place: Int) throws {
        let cache = try ReopenedCache()
        var feed = Old()
        switch place {
        case 0: feed.senders = [TreeByHand.Person(age: 36)]
        case 1: feed.pinned = TreeByHand.Person(age: 36)
        default: feed.people = ["ada": TreeByHand.Person(age: 36)]
        }
        try cache.write(feed)
        #expect(try cache.read(New.self, "Feed:1").reason == Self.age)
        #expect(try cache.read(Old.self, "Feed:1").value == feed)
        try cache.write(TreeByHand.Person(age: "37"))
        #expect(try cache.read(New.self, "Feed:1").value?.id == 1)
        try cache.verify()
    }

    @Test("A mismatch in an inline value is a miss that names fields, indices and keys to it")
    func inline() throws {
        let detail = "expected a String, found integer"
        let cache = try ReopenedCache()
        try cache.write(TreeV1.Feed(messages: [], notes: [.init(), .init()]))
        #expect(
            try cache.read(TreeV2.Feed.self, "Feed:1").reason
                == .undecodable(path: "Feed:1.notes[0].stars", detail: detail))
        try cache.write(TreeV1.Feed(messages: [], cover: ["front": .init()]))
        #expect(
            try cache.read(TreeV2.Feed.self, "Feed:1").reason
                == .undecodable(path: "Feed:1.cover.front.stars", detail: detail))
        var feed = Old()
        feed.notes = [TreeByHand.Note(stars: 5)]
        try cache.write(feed)
        #expect(
            try cache.read(New.self, "Feed:1").reason
                == .undecodable(path: "Feed:1.notes[0].stars", detail: detail))
        feed.notes = []
        feed.cover = ["front": TreeByHand.Note(stars: 5)]
        try cache.write(feed)
        #expect(
            try cache.read(New.self, "Feed:1").reason
                == .undecodable(path: "Feed:1.cover.front.stars", detail: detail))
    }

    @Test("A mismatch in an element is a miss that names its index")
    func element() throws {
        let cache = try ReopenedCache()
        try cache.write(OfMoreMoodList.Message(value: [.calm, .wild]))
        guard case .miss(.undecodable(let path, _)) = try cache.read(OfMoodList.Message.self) else {
            Issue.record("a hit")
            return
        }
        #expect(path == "Message:34.value[1]")
    }

    private struct Refusing: Codable, Equatable {
        init(from decoder: any Decoder) throws { throw UnknownKind() }
        init() {}
    }

    private struct RefusingMessage: Codable, NormalizedModel {
        var value: Refusing
    }

    @Test("A model's own error names the field if hand-written, and the record if Codable")
    func ownError() throws {
        let cache = try ReopenedCache()
        let detail = "the model's initialiser threw UnknownKind()"
        try cache.write(HandWritten.Message(value: HandWrittenV2.Content.video(link: "cat")))
        #expect(
            try cache.read(HandWritten.Message<HandWrittenV1.Content>.self).reason
                == .undecodable(path: "Message:34.value", detail: detail))
        #expect(
            try cache.read(RefusingMessage.self).reason
                == .undecodable(path: "Message:34", detail: detail))
    }

    @Test("A collection with an element of another version is a miss as a whole")
    func collection() throws {
        let cache = try ReopenedCache()
        try cache.open {
            try $0.setCollection([TreeV1.Person(id: 1), TreeV1.Person(id: 2)], forKey: "people")
                .wait()
        }
        try cache.write(TreeV2.Person(id: 1))
        let outcome = try cache.open {
            $0.collectionOutcome(of: TreeV2.Person.self, forKey: "people")
        }
        #expect(
            outcome.reason
                == .undecodable(path: "Person:2.age", detail: "expected a String, found integer"))
        try cache.write(TreeV2.Person(id: 2))
        let people = try cache.open { $0.collection(of: TreeV2.Person.self, forKey: "people") }
        #expect(people?.map(\.id) == [1, 2])
    }

    @Test("The path of a mismatch begins at its record, whatever the read began with")
    func shared() throws {
        let cache = try ReopenedCache()
        try cache.write(TreeV1.Feed(messages: [.init(), .init(id: 35)], pinned: .init()))
        #expect(try cache.read(TreeV2.Feed.self, "Feed:1").reason == Self.age)
        #expect(try cache.read(TreeV2.Message.self, "Message:35").reason == Self.age)
        #expect(try cache.read(TreeV2.Person.self, "Person:1").reason == Self.age)
    }

    @Test("Misses for a mismatch are counted and are not damage")
    func counted() throws {
        let cache = try ReopenedCache()
        try cache.write(TreeV1.Feed())
        try cache.open { cache in
            _ = cache.readOutcome(TreeV2.Feed.self, "Feed:1")
            let statistics = try cache.statistics()
            #expect(statistics.misses == ["undecodable": 1])
            #expect(statistics.nodes == 3)
        }
        try cache.verify()
    }
}
