import EspalierRecords
import Testing

/// Types that change, and types of both kinds over one record.
struct BridgeEvolutionTests {
    private let store = BridgeStore()

    fileprivate struct Old: Codable, IdentifiedModel {
        var a = 1, b = "two", c = [3], d = Person(id: 4, name: "four"), e = 5
        var modelIdentifier: String? { "Record" }
    }

    @Test("Fields may be read in another order than they were written")
    func reordered() throws {
        struct New: Decodable, IdentifiedModel {
            var e: Int, d: Person, a: Int, c: [Int], b: String
            var modelIdentifier: String? { nil }
        }
        try store.write(Old())
        let new = try store.read(New.self, "Record").get()
        #expect((new.a, new.b, new.c, new.d.id, new.e) == (1, "two", [3], 4, 5))
    }

    @Test("Unknown fields are ignored, before, between and behind the known ones")
    func unknown() throws {
        struct Some: Decodable, IdentifiedModel, Equatable {
            var b: String, d: Person
            var modelIdentifier: String? { nil }
        }
        try store.write(Old())
        let some = try store.read(Some.self, "Record").get()
        #expect((some.b, some.d.name) == ("two", "four"))
        try store.write(Holder(value: [Old.Inline(), Old.Inline()]))
        struct SomeInline: Codable, Sendable { var y: Int }
        #expect(try store.read(Holder<[SomeInline]>.self, "Holder").get().value.map(\.y) == [2, 2])
    }

    @Test("A missing optional is nil whatever its type, and a missing required field is a miss")
    func missing() throws {
        struct New: Decodable, IdentifiedModel {
            var a: Int
            var new: String?, newPerson: Person?, newList: [Int]?
            var e: Int
            var modelIdentifier: String? { nil }
        }
        struct Strict: Decodable, IdentifiedModel {
            var a: Int, new: [Int]
            var modelIdentifier: String? { nil }
        }
        try store.write(Old())
        let new = try store.read(New.self, "Record").get()
        #expect((new.a, new.new, new.newPerson, new.newList, new.e) == (1, nil, nil, nil, 5))
        #expect(
            store.read(Strict.self, "Record").map { _ in 0 }
                == .failure(
                    .undecodable(path: "Record.new", detail: "the record lacks this required field")
                ))
        _ = try store.probeRecord { decoder in
            let container = try decoder.container(keyedBy: Key.self)
            #expect(try container.decode(Int?.self, forKey: "none") == nil)
            #expect(try container.decode([Int]?.self, forKey: "none") == nil)
            #expect(try container.decode(Person?.self, forKey: "none") == nil)
            #expect(try container.decode(Int?.self, forKey: "e") == 5)
        }
    }

    /// The same fields, through the calls of hand-written models.
    private struct ByHand: FieldValue, IdentifiedModel, Equatable {
        var id: Int
        var text: String
        var sender: Person
        var modelIdentifier: String? { "Message:\(id)" }
        var projectionIdentifier: String { "Message" }

        func encodeValue(into encoder: ValueEncoder) throws {
            try encoder.encodeModel(identifier: modelIdentifier, projection: projectionIdentifier) {
                try $0.encode(id, forKey: "id")
                try $0.encode(text, forKey: "text")
                try $0.encode(sender, forKey: "sender")
            }
        }

        static func decodeValue(from decoder: inout ValueDecoder) throws -> ByHand {
            try decoder.decodeModel(ByHand.self) {
                ByHand(
                    id: try $0.decode(forKey: "id"), text: try $0.decode(forKey: "text"),
                    sender: try $0.decode(Person.self, forKey: "sender"))
            }
        }
    }

    @Test("Hand-written and Codable models write the same bytes and read each other's")
    func bothKinds() throws {
        let byHand = ByHand(id: 34, text: "hello", sender: Person())
        try store.write(byHand)
        let bytes = store.bytes(of: "Message:34")
        #expect(store.read(Message.self, "Message:34") == .success(Message()))
        try store.write(Message())
        #expect(store.bytes(of: "Message:34") == bytes)
        #expect(store.read(ByHand.self, "Message:34") == .success(byHand))
        store.delete("Person:1")
        #expect(store.read(ByHand.self, "Message:34") == .failure(.deleted))
    }

    @Test("A hand-written model's miss names its Codable field that is missing or wrong")
    func byHandErrors() throws {
        try store.write(Holder(value: 1))
        #expect(
            store.read(ByHand.self, "Holder")
                == .failure(
                    .undecodable(path: "Holder.id", detail: "the record lacks this required field"))
        )
    }
}

extension BridgeEvolutionTests.Old {
    fileprivate struct Inline: Codable, Sendable { var x = 1, y = 2, z = "3" }
}

extension BridgeStore {
    fileprivate func probeRecord(_ decode: @escaping (any Decoder) throws -> Void) throws -> Probing
    {
        try Probing.$script.withValue(Probing.Script(decode)) {
            try read(Probing.self, "Record").get()
        }
    }
}
