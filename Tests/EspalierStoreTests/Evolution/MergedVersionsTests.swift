import EspalierModels
import EspalierRecords
import EspalierStore
import Testing

@Suite("Merges across versions")
struct MergedVersionsTests {
    @Test("A merge keeps the fields that the writing version does not have")
    func keptField() throws {
        let cache = try ReopenedCache()
        try cache.write(CodableMood.Message(mood: "calm"))
        try cache.write(CodableText.Message(text: "Purr"), policy: .merge)
        #expect(
            try cache.read(CodableMood.Message.self).value
                == CodableMood.Message(text: "Purr", mood: "calm"))
        try cache.write(HandWrittenText.Message(), policy: .merge)
        #expect(try cache.read(CodableMood.Message.self).value == CodableMood.Message(mood: "calm"))
        // The next write that replaces removes the field.
        try cache.write(CodableText.Message())
        #expect(try cache.read(CodableMood.Message.self).reason?.name == "incomplete")
        try cache.verify()
    }

    @Test("A merge adds the fields that the record does not have")
    func addedField() throws {
        let cache = try ReopenedCache()
        try cache.write(CodableText.Message())
        try cache.write(CodableOptionalMood.Message(mood: nil), policy: .merge)
        #expect(
            try cache.read(CodableOptionalMood.Message.self).value
                == CodableOptionalMood.Message(mood: nil))
        try cache.write(CodableOptionalMood.Message(mood: "glad"), policy: .merge)
        #expect(try cache.read(CodableMood.Message.self).value == CodableMood.Message(mood: "glad"))
    }

    @Test("A merge replaces a value by one of another type, and a node by an inline value and back")
    func otherType() throws {
        let cache = try ReopenedCache()
        try cache.write(OfInt.Message(value: 7))
        try cache.write(OfString.Message(value: "8"), policy: .merge)
        #expect(try Reading(cache.read(OfString.Message.self)) == .hit("\"8\""))
        try cache.write(OfNode.Message(value: .init()), policy: .merge)
        try cache.write(OfInline.Message(value: .init(name: "Bo")), policy: .merge)
        #expect(try Reading(cache.read(OfInline.Message.self)) == .hit("Bo"))
        #expect(try cache.read(CodableNode.Person.self, "Person:1").value == CodableNode.Person())
        try cache.write(OfNode.Message(value: .init(name: "Cy")), policy: .merge)
        #expect(try Reading(cache.read(OfNode.Message.self)) == .hit("Cy"))
        try cache.verify()
    }

    @Test("A merge of nil keeps even an unreadable value, and a replacing write repairs it")
    func nilOverMismatch() throws {
        let cache = try ReopenedCache()
        try cache.write(OfString.Message(value: "seven"))
        try cache.write(OfOptionalInt.Message(value: nil), policy: .merge)
        #expect(
            try cache.read(OfOptionalInt.Message.self).reason
                == .undecodable(
                    path: "Message:34.value",
                    detail: "expected an integer that fits Int, found string"))
        #expect(try Reading(cache.read(OfString.Message.self)) == .hit("\"seven\""))
        try cache.write(OfOptionalInt.Message(value: nil))
        #expect(try Reading(cache.read(OfOptionalInt.Message.self)) == .hit("nil"))
        try cache.verify()
    }
}
