import EspalierModels
import EspalierRecords
import Foundation
import Testing

@testable import EspalierStore

// Models that encode a value and take it back: by a second value under the same key, or by an
// error that they swallow.

@Suite("Values that are replaced, or that fail, while they are encoded")
struct UnfinishedValuesTests {
    /// Stores a note, and checks that it is intact, before and after a repair.
    private func expectIntact<Note: NormalizedModel & Codable & Equatable>(
        _ note: Note
    ) throws {
        try withCache { cache in
            // Twice: the second write compares the record with the stored one.
            for _ in 0..<2 { try cache.set(note).wait() }
            #expect(try cache.verify().isClean)
            try cache.repair().wait()
            let outcome = cache.readOutcome(Note.self, "Note:1")
            #expect(outcome.value == note, "\(String(describing: outcome.reason))")
        }
    }

    @Test("A record refers only to the last of two nodes under one key")
    func sameKey() throws {
        try expectIntact(TwiceOwned(owner: Author("b", "Bea"), last: Author("c", "Cleo")))
    }

    @Test("A record does not refer to the node of a value whose encoding has failed")
    func swallowed() throws {
        try expectIntact(LenientNote(text: "text", last: Author("c", "Cleo")))
    }

    @Test("A key's value refers only to the last of two nodes under one key")
    func inlineInKey() throws {
        try withCache { cache in
            let setting = Setting(owner: Author("b", "Bea"), last: Author("c", "Cleo"))
            for _ in 0..<2 { try cache.setModel(setting, forKey: "setting").wait() }
            #expect(try cache.verify().isClean)
            #expect(cache.modelOutcome(Setting.self, forKey: "setting").value == setting)
        }
    }

    @Test("A write fails if a model swallows that one of its fields can't be encoded")
    func misaligned() throws {
        try withCache { cache in
            for fields in [["inner"], ["list"], ["codable"], ["kind"]] {
                let failure = code(cache.set(Swallowing(fields: fields)))
                #expect(failure?.isNotFlattened == true, "\(fields)")
            }
            #expect(code(cache.set(Swallowing(fields: []))) == nil)
            #expect(cache.read(Swallowing.self, "Note:1")?.text == "Meow")
        }
    }

    @Test("The time to encode an array of enums, or a value with many keys, grows with its length")
    func linear() throws {
        func time<Value: Codable & Sendable>(of value: Value) throws -> Double {
            let note = Holder(value: value)
            let start = Moment.now
            try withCache { cache in
                try cache.set(note).wait()
                #expect(cache.read(Holder<Value>.self, "Note:1") != nil)
            }
            return Double(Moment.now.nanoseconds(since: start))
        }
        let text = String(repeating: "x", count: 40)
        let blocks = (0..<40_000).map { $0 % 2 == 0 ? Block.text(text) : .image(text, width: $0) }
        let few = try time(of: Array(blocks.prefix(2_500)))
        // Sixteen times as many; the square would be 256 times the time.
        #expect(try time(of: blocks) / few < 100)
        func names(_ count: Int) -> Dynamic {
            Dynamic(
                names: Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\(10_000 + $0)", $0) })
            )
        }
        let short = try time(of: names(2_500))
        #expect(try time(of: names(40_000)) / short < 100)
    }
}

private struct Author: NormalizedModel, Codable, Equatable {
    var id: String
    var name: String
    var modelIdentifier: String? { id }
    init(_ id: String, _ name: String) { (self.id, self.name) = (id, name) }
}

/// A node that encodes two owners under one key, as a class and its subclass do.
private struct TwiceOwned: NormalizedModel, Codable, Equatable {
    var owner: Author
    var last: Author
    var modelIdentifier: String? { "Note:1" }

    enum Key: String, CodingKey { case owner, last }

    init(owner: Author, last: Author) { (self.owner, self.last) = (owner, last) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        owner = try container.decode(Author.self, forKey: .owner)
        last = try container.decode(Author.self, forKey: .last)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Author("a", "Ada"), forKey: .owner)
        try container.encode(owner, forKey: .owner)
        try container.encode(last, forKey: .last)
    }
}

/// The same without an identifier.
private struct Setting: NormalizedModel, Codable, Equatable {
    var owner: Author
    var last: Author
    var modelIdentifier: String? { nil }

    init(owner: Author, last: Author) { (self.owner, self.last) = (owner, last) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TwiceOwned.Key.self)
        owner = try container.decode(Author.self, forKey: .owner)
        last = try container.decode(Author.self, forKey: .last)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TwiceOwned.Key.self)
        try container.encode(Author("a", "Ada"), forKey: .owner)
        try container.encode(owner, forKey: .owner)
        try container.encode(last, forKey: .last)
    }
}

/// A node that leaves out what it can't encode.
private struct LenientNote: NormalizedModel, Codable, Equatable {
    var text: String
    var last: Author
    var modelIdentifier: String? { "Note:1" }

    private enum Key: String, CodingKey { case text, extra, last }

    private struct Extra: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Author("a", "Ada"), forKey: .extra)
            throw EncodingError.invalidValue((), .init(codingPath: [], debugDescription: "no"))
        }
    }

    init(text: String, last: Author) { (self.text, self.last) = (text, last) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        text = try container.decode(String.self, forKey: .text)
        last = try container.decode(Author.self, forKey: .last)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
        try? container.encode(Extra(), forKey: .extra)
        try container.encode(last, forKey: .last)
    }
}

/// A hand-written model that swallows errors.
private struct Swallowing: NormalizedModel {
    var text = "Meow"
    var fields: [String]
    var modelIdentifier: String? { "Note:1" }

    private struct Failing: NormalizedModel {
        var modelIdentifier: String? { nil }
        init() {}
        init(from decoder: inout RecordDecoder) throws {}
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encode("x", forKey: "a")
            throw CancellationError()
        }
    }

    private struct FailingCodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }

    init(fields: [String]) { self.fields = fields }

    init(from decoder: inout RecordDecoder) throws {
        fields = []
        text = try decoder.decode(forKey: "text")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        if fields.contains("inner") { try? encoder.encode(Failing(), forKey: "inner") }
        if fields.contains("list") { try? encoder.encode([Failing(), Failing()], forKey: "list") }
        if fields.contains("codable") { try? encoder.encode(FailingCodable(), forKey: "codable") }
        if fields.contains("kind") {
            try? encoder.encodeCase("kind") {
                try $0.encode(1, forKey: "_0")
                throw CancellationError()
            }
        }
        try encoder.encode(text, forKey: "text")
    }
}

private struct Holder<Value: Codable & Sendable>: NormalizedModel, Codable {
    var value: Value
    var modelIdentifier: String? { "Note:1" }
}

private enum Block: Codable, Sendable {
    case text(String)
    case image(String, width: Int)
}

/// An object with names that are known only when it is encoded.
private struct Dynamic: Codable, Sendable {
    var names: [String: Int]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(names: [String: Int]) { self.names = names }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        names = [:]
        for key in container.allKeys {
            names[key.stringValue] = try container.decode(Int.self, forKey: key)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in names { try container.encode(value, forKey: Key(stringValue: name)) }
    }
}
