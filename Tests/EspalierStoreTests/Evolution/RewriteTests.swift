import EspalierModels
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("Writes by several versions of a type")
struct RewriteTests {
    private func names(in cache: ReopenedCache, _ identifier: String = "Message:34") throws
        -> [String]
    {
        try cache.open { cache in
            let handle = try #require(try cache.handle(identifier))
            return try #require(try cache.record(handle)).shape.names
        }
    }

    /// Another projection of the same record, as another screen of the app would have it.
    private struct Preview: Codable, NormalizedModel, Equatable {
        var id = 34, text = "Meow", width = 80
        var modelIdentifier: String? { "Message:\(id)" }
    }

    @Test("Versions of a type share a projection by its innermost name, generic types do not")
    func projections() {
        #expect(CodableText.Message().projectionIdentifier == "Message")
        #expect(CodableMood.Message(mood: "calm").projectionIdentifier == "Message")
        #expect(HandWrittenMood.Message().projectionIdentifier == "Message")
        #expect(CodableRenamed.Note().projectionIdentifier == "Note")
        #expect(Box("b:1", 7).projectionIdentifier == "Box<Int>")
        #expect(Box("b:1", "7").projectionIdentifier == "Box<String>")
    }

    @Test("A write removes the fields that its version no longer declares")
    func dropped() throws {
        let cache = try ReopenedCache()
        func expectDropped(_ old: some Versioned, _ new: some Versioned) throws {
            try cache.write(old)
            #expect(try names(in: cache) == ["id", "text", "mood"])
            try cache.write(new)
            #expect(try names(in: cache) == ["id", "text"])
        }
        try expectDropped(CodableMood.Message(mood: "calm"), CodableText.Message())
        try expectDropped(HandWrittenMood.Message(), HandWrittenText.Message())
        try expectDropped(HandWrittenMood.Message(), CodableText.Message())
        try cache.verify()
    }

    @Test("A read by a version that does not know a field leaves the field stored")
    func readOnly() throws {
        let cache = try ReopenedCache()
        try cache.write(CodableMood.Message(mood: "calm"))
        #expect(try cache.read(CodableText.Message.self).value == CodableText.Message())
        #expect(try cache.read(CodableMood.Message.self).value == CodableMood.Message(mood: "calm"))
    }

    @Test("Fields of another projection stay through all versions")
    func otherProjection() throws {
        let cache = try ReopenedCache()
        try cache.write(Preview())
        try cache.write(CodableMood.Message(text: "Purr", mood: "calm"))
        try cache.write(CodableText.Message(text: "Hiss"))
        #expect(try names(in: cache) == ["id", "text", "width"])
        #expect(try cache.read(Preview.self).value == Preview(text: "Hiss"))
        try cache.verify()
    }

    @Test("A field that another projection declares stays when its writing version has dropped it")
    func alsoDeclared() throws {
        let cache = try ReopenedCache()
        try cache.write(Preview())
        try cache.write(CodableBody.Message(body: "Purr"))
        #expect(try names(in: cache) == ["id", "text", "width", "body"])
        // No version writes the text any more, and the text does not follow the body.
        #expect(try cache.read(Preview.self).value == Preview())
    }

    @Test("A renamed type leaves the fields that only its old name declared")
    func renamed() throws {
        let cache = try ReopenedCache()
        try cache.write(CodableMood.Message(mood: "calm"))
        for text in ["Purr", "Hiss"] { try cache.write(CodableRenamed.Note(text: text)) }
        #expect(try names(in: cache) == ["id", "text", "mood"])
        #expect(
            try cache.read(CodableMood.Message.self).value
                == CodableMood.Message(text: "Hiss", mood: "calm"))
        try cache.write(CodableRenamedProperly.Note(text: "Hiss"))
        #expect(try names(in: cache) == ["id", "text"])
    }

    @Test("A generic type leaves the fields that it declared under other arguments")
    func generic() throws {
        struct Wrapper<Value: Codable & Sendable & Equatable>: Codable, NormalizedModel, Equatable {
            var value: Value
            var modelIdentifier: String? { "Message:34" }
        }
        let cache = try ReopenedCache()
        try cache.write(OfInt.Message(value: 7))
        try cache.write(Wrapper(value: 8))
        #expect(try cache.read(OfInt.Message.self).value == OfInt.Message(value: 8))
        try cache.write(Wrapper(value: "9"))
        #expect(try names(in: cache) == ["value", "id", "after"])
        #expect(try cache.read(Wrapper<Int>.self).reason?.name == "undecodable")
    }

    @Test("A child that has become inline stays as a record of its own without references")
    func inlined() throws {
        let cache = try ReopenedCache()
        try cache.write(OfNode.Message(value: .init()))
        try cache.write(OfInline.Message(value: .init(name: "Bo")))
        #expect(try cache.read(CodableNode.Person.self, "Person:1").value == CodableNode.Person())
        let state = try cache.open { try $0.state("Person:1") }
        #expect(state.referenceCount == 0)
        // From here on the inline value and the node are independent.
        try cache.write(CodableNode.Person(name: "Cy"))
        #expect(try Reading(cache.read(OfInline.Message.self)) == .hit("Bo"))
        try cache.verify()
    }

    @Test("A child that has become a node is updated in every place")
    func gainedIdentity() throws {
        let cache = try ReopenedCache()
        try cache.write(OfInline.Message(value: .init()))
        try cache.write(OfNode.Message(value: .init(name: "Bo")))
        try cache.write(CodableNode.Person(name: "Cy"))
        #expect(try Reading(cache.read(OfNode.Message.self)) == .hit("Cy"))
        #expect(try Reading(cache.read(OfInline.Message.self)) == .hit("Cy"))
        try cache.verify()
    }

    @Test("A deleted child is nil for a version that made the reference optional")
    func deletedChild() throws {
        let cache = try ReopenedCache()
        try cache.write(OfNode.Message(value: .init()))
        try cache.open { try $0.delete("Person:1").wait() }
        #expect(try cache.read(OfNode.Message.self).reason == .deleted)
        #expect(try Reading(cache.read(OfOptionalNode.Message.self)) == .hit("nil"))
        let byHand = HandWritten.Message<HandWrittenNode.Person>.self
        let optionalByHand = HandWritten.Message<HandWrittenNode.Person?>.self
        #expect(try cache.read(byHand).reason == .deleted)
        #expect(try Reading(cache.read(optionalByHand)) == .hit("nil"))
    }
}
