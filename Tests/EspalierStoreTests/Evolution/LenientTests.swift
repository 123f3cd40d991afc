import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Initialisers that tolerate a mismatch")
struct LenientTests {
    private struct Lenient: VersionedValue, Codable {
        var id = 34, value: Int? = nil, after = ""
        var projectionIdentifier: String { "Message" }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            value = try? container.decode(Int.self, forKey: .value)
            after = try container.decode(String.self, forKey: .after)
        }
    }

    private struct LenientByHand: VersionedValue {
        var id = 34, value: Int? = nil, after = ""
        var projectionIdentifier: String { "Message" }

        init(from decoder: inout RecordDecoder) throws {
            id = try decoder.decode(forKey: "id")
            value = try? decoder.decode(Int.self, forKey: "value")
            after = try decoder.decode(forKey: "after")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode(id, forKey: "id")
            try encoder.encode(value, forKey: "value")
            try encoder.encode(after, forKey: "after")
        }
    }

    @Test("A lenient initialiser gets nil for any mismatch and reads the fields after it")
    func values() throws {
        let cache = try ReopenedCache()
        func expectNil(
            _ model: some VersionedValue, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            try cache.write(model)
            #expect(
                try Reading(cache.read(Lenient.self)) == .hit("nil"), sourceLocation: sourceLocation
            )
            #expect(
                try Reading(cache.read(LenientByHand.self)) == .hit("nil"),
                sourceLocation: sourceLocation)
        }
        try expectNil(OfString.Message(value: "seven"))
        try expectNil(OfDouble.Message(value: 7.5))
        try expectNil(OfInts.Message(value: [7, 8]))
        try expectNil(OfDictionary.Message(value: ["a": "b"]))
        try expectNil(OfNode.Message(value: .init()))
        try expectNil(OfInline.Message(value: .init()))
        try expectNil(OfContent.Message(value: .image(link: "cat")))
        try expectNil(OfOptionalInt.Message(value: nil))
        try cache.write(OfInt.Message(value: 7))
        #expect(try Reading(cache.read(Lenient.self)) == .hit("7"))
        #expect(try Reading(cache.read(LenientByHand.self)) == .hit("7"))
    }

    @Test("A lenient initialiser gets nil for a mismatch in a record below")
    func child() throws {
        let cache = try ReopenedCache()
        try cache.write(TreeV1.Message())
        #expect(
            try cache.read(TreeV2.LenientMessage.self).value == TreeV2.LenientMessage(sender: nil))
        try cache.write(TreeV2.Person())
        #expect(
            try cache.read(TreeV2.LenientMessage.self).value
                == TreeV2.LenientMessage(sender: TreeV2.Person()))

        var feed = TreeByHand.Feed<TreeByHand.Person<Int>, TreeByHand.Note<Int>>()
        feed.pinned = TreeByHand.Person(age: 36)
        feed.people = ["ada": TreeByHand.Person(age: 36)]
        try cache.write(feed)
        let lenient = try cache.read(
            TreeByHand.LenientFeed<TreeByHand.Person<String>>.self, "Feed:1"
        ).value
        #expect(lenient?.pinned == nil && lenient?.people == [:] && lenient?.id == 1)
    }

    @Test("A lenient initialiser cannot hide damage in a record below")
    func damage() throws {
        let scratch = try Scratch()
        let cache = try scratch.open()
        defer { cache.close() }
        try cache.set(TreeV2.Message()).wait()
        #expect(cache.read(TreeV2.LenientMessage.self, "Message:34")?.sender == TreeV2.Person())
        try cache.damage("Person:1")
        #expect(
            cache.readOutcome(TreeV2.LenientMessage.self, "Message:34").reason?.name == "damaged")
    }

    @Test("A model that ignored a mismatch overwrites the field when it is written back")
    func writtenBack() throws {
        let cache = try ReopenedCache()
        try cache.write(TreeV1.Message())
        let lenient = try #require(try cache.read(TreeV2.LenientMessage.self).value)
        try cache.write(lenient)
        #expect(
            try cache.read(TreeV1.Message.self).reason
                == .incomplete([
                    MissingField(identifier: "Message:34", type: "Message", path: "sender")
                ]))
        // The person's record is still stored, and nothing refers to it.
        #expect(try cache.read(TreeV1.Person.self, "Person:1").value == TreeV1.Person())
        try cache.verify()
    }
}
