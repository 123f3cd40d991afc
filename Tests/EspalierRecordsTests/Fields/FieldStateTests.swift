import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Foundation
import Testing

@Suite("Fields that are absent, null or a value")
struct FieldStateTests {
    static let states: [Field<Int>] = [.absent, .null, .value(7)]

    // MARK: - JSON

    @Test(
        "JSON keeps a missing key, a null and a value apart, in both directions",
        arguments: [
            (#"{"id":"i"}"#, Field<Int>.absent), (#"{"closed":null,"id":"i"}"#, .null),
            (#"{"closed":7,"id":"i"}"#, .value(7)),
        ])
    func json(_ text: String, _ closed: Field<Int>) throws {
        let issue = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        #expect(issue == Report(id: "i", closed: closed))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(issue), as: UTF8.self) == text)
    }

    @Test("JSON without a key for a field is null where the field is absent")
    func jsonArray() throws {
        let data = try JSONEncoder().encode(Self.states)
        #expect(String(decoding: data, as: UTF8.self) == "[null,null,7]")
        #expect(
            try JSONDecoder().decode([Field<Int>].self, from: data) == [.null, .null, .value(7)])
    }

    @Test("A value of another type in JSON is an error with its path")
    func wrongType() {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Report.self, from: Data(#"{"id":"i","closed":"x"}"#.utf8))
        }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["closed"])
    }

    // MARK: - Records

    @Test("A record keeps the three states apart, under both policies", arguments: states)
    func roundTrip(_ closed: Field<Int>) throws {
        for policy in TreePolicy.allCases {
            let source = DictionaryRecordSource()
            try source.store(Report(id: "i", closed: closed), policy: policy)
            #expect(try source.read("i", as: Report.self).get().closed == closed)
            #expect(try source.read("i", as: HandWritten.self).get().closed == closed)
            let again = DictionaryRecordSource()
            try again.store(HandWritten(id: "i", closed: closed), policy: policy)
            #expect(try again.read("i", as: Report.self).get().closed == closed)
        }
    }

    @Test("An explicit null is one byte on disk, as any nil is")
    func bytes() throws {
        for policy in TreePolicy.allCases {
            let source = DictionaryRecordSource()
            try source.store(HandWritten(id: "i", closed: .null), policy: policy)
            let handle = try #require(source.handle(of: "i"))
            #expect(try source.parsedRecord(handle)?.values == [0xA1, 0x69, 0xC0])
        }
    }

    @Test("A record without the field, and one with a plain nil, read as absent and null")
    func olderRecords() throws {
        let source = DictionaryRecordSource()
        try source.store(Leaf("i"))
        #expect(try source.read("i", as: HandWritten.self).get().closed == .absent)
        try source.store(Plain(id: "j", closed: nil))
        #expect(try source.read("j", as: HandWritten.self).get().closed == .null)
        #expect(try source.read("j", as: Report.self).get().closed == .null)
    }

    // MARK: - Merging

    @Test("A merge keeps a field for absent, and overwrites it with null or a value")
    func merge() throws {
        for before in Self.states {
            for after in Self.states {
                let source = DictionaryRecordSource()
                try source.store(Report(id: "i", closed: before))
                try source.store(Report(id: "i", closed: after), policy: .merge)
                let expected = before.merging(after)
                #expect(try source.read("i", as: Report.self).get().closed == expected)
                try source.store(HandWritten(id: "i", closed: after), policy: .merge)
                #expect(try source.read("i", as: HandWritten.self).get().closed == expected)
            }
        }
    }

    @Test("Under .replace an absent field is stored as absent")
    func replace() throws {
        let source = DictionaryRecordSource()
        try source.store(Report(id: "i", closed: .value(7)))
        try source.store(Report(id: "i", closed: .absent))
        #expect(try source.read("i", as: Report.self).get().closed == .absent)
    }

    @Test("A plain nil keeps what an explicit null has set, and a plain value")
    func plainNil() throws {
        let source = DictionaryRecordSource()
        try source.store(Plain(id: "i", closed: 7))
        try source.store(Plain(id: "i", closed: nil), policy: .merge)
        #expect(try source.read("i", as: Plain.self).get().closed == 7)
        try source.store(Report(id: "i", closed: .null), policy: .merge)
        #expect(try source.read("i", as: Plain.self).get().closed == nil)
    }

    @Test("Of occurrences in one merge, the first that is not absent counts")
    func occurrences() throws {
        for first in Self.states {
            for second in Self.states {
                let source = DictionaryRecordSource()
                try source.store(
                    Report(
                        id: "root",
                        children: [
                            Report(id: "i", closed: first), Report(id: "i", closed: second),
                        ]), policy: .merge)
                try source.store(Report(id: "i", closed: .absent), policy: .merge)
                #expect(
                    try source.read("i", as: Report.self).get().closed == second.merging(first))
            }
        }
    }

    @Test("A null overwrites a field of every kind: a model, a Codable value, an inline model")
    func kinds() throws {
        let source = DictionaryRecordSource()
        let full = Kinds(
            id: "k", node: .value(Leaf("l", "x")), codable: .value(.init(x: 1)),
            frame: .value(Frame(Leaf("m"))), list: .value([1, 2]))
        try source.store(full, policy: .merge)
        #expect(try source.read("k", as: Kinds.self).get() == full)
        try source.store(Kinds(id: "k"), policy: .merge)
        #expect(try source.read("k", as: Kinds.self).get() == full)
        let none = Kinds(id: "k", node: .null, codable: .null, frame: .null, list: .null)
        try source.store(none, policy: .merge)
        #expect(try source.read("k", as: Kinds.self).get() == none)
    }

    @Test("A field whose record was deleted reads as null")
    func deleted() throws {
        let source = DictionaryRecordSource()
        try source.store(Kinds(id: "k", node: .value(Leaf("l", "x"))))
        source.delete("l")
        #expect(try source.read("k", as: Kinds.self).get().node == .null)
    }

    @Test("A null beside nested containers, and inside of them, is read as null")
    func nestedContainers() throws {
        let source = DictionaryRecordSource()
        try source.store(Nesting(id: "n", before: .value(1), inside: .value(2), after: .value(3)))
        let nulls = Nesting(id: "n", before: .null, inside: .null, after: .null)
        try source.store(nulls, policy: .merge)
        #expect(try source.read("n", as: Nesting.self).get() == nulls)
        let handle = try #require(source.handle(of: "n"))
        let values = try #require(try source.parsedRecord(handle)).values
        #expect(!values.contains(0xD4))
    }

    @Test("Fields in sets, in dictionaries and outside of records have the bytes of nil")
    func elsewhere() throws {
        let flattener = Flattener()
        flattener.policy = .merge
        let set = try flattener.value { try Set([Field<Int>.null]).encodeValue(into: $0) }
        #expect(set.bytes == [0x91, 0xC0])
        let table = try flattener.value {
            try [Field<Int>.null: Field<Int>.null].encodeValue(into: $0)
        }
        #expect(table.bytes == [0x81, 0xC0, 0xC0])
    }
}

// MARK: - Models

private struct Report: Codable, NormalizedModel, Equatable {
    let id: String
    var closed: Field<Int> = .absent
    var children: [Report]?
    var modelIdentifier: String? { id }
}

private struct HandWritten: NormalizedModel, Equatable {
    let id: String
    let closed: Field<Int>
    var modelIdentifier: String? { id }
    var projectionIdentifier: String { "Report" }

    init(id: String, closed: Field<Int>) { (self.id, self.closed) = (id, closed) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        closed = try decoder.decode(forKey: "closed")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(closed, forKey: "closed")
    }
}

/// The same records with an optional.
private struct Plain: Codable, NormalizedModel, Equatable {
    let id: String
    let closed: Int?
    var modelIdentifier: String? { id }
    var projectionIdentifier: String { "Report" }
}

private struct Kinds: NormalizedModel, Equatable {
    struct Value: Codable, Equatable, Sendable {
        let x: Int
    }

    let id: String
    var node: Field<Leaf> = .absent
    var codable: Field<Value> = .absent
    var frame: Field<Frame> = .absent
    var list: Field<[Int]> = .absent
    var modelIdentifier: String? { id }
}

extension Kinds {
    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        node = try decoder.decode(forKey: "node")
        codable = try decoder.decode(forKey: "codable")
        frame = try decoder.decode(forKey: "frame")
        list = try decoder.decode(forKey: "list")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(node, forKey: "node")
        try encoder.encode(codable, forKey: "codable")
        try encoder.encode(frame, forKey: "frame")
        try encoder.encode(list, forKey: "list")
    }
}

/// Encodes its fields around a nested container, whose bytes replace a null in the end.
private struct Nesting: Codable, NormalizedModel, Equatable {
    let id: String
    let before: Field<Int>
    let inside: Field<Int>
    let after: Field<Int>
    var modelIdentifier: String? { id }

    init(id: String, before: Field<Int>, inside: Field<Int>, after: Field<Int>) {
        (self.id, self.before, self.inside, self.after) = (id, before, inside, after)
    }

    private enum Key: CodingKey { case id, before, nested, inside, after }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = try values.decode(String.self, forKey: .id)
        before = try values.decode(Field<Int>.self, forKey: .before)
        inside = try values.nestedContainer(keyedBy: Key.self, forKey: .nested)
            .decode(Field<Int>.self, forKey: .inside)
        after = try values.decode(Field<Int>.self, forKey: .after)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(id, forKey: .id)
        var nested = values.nestedContainer(keyedBy: Key.self, forKey: .nested)
        try values.encode(before, forKey: .before)
        try nested.encode(inside, forKey: .inside)
        try values.encode(after, forKey: .after)
    }
}
