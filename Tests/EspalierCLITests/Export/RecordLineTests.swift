#if CommandLine
import EspalierRecords
import EspalierStore
import EspalierTestSupport
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Records as lines")
struct RecordLineTests {
    private func line(_ text: String) throws -> RecordLine {
        try RecordLine(
            JSONParser.parse(Array(text.utf8), maximumDepth: ValueNotation.maximumJSONDepth))
    }

    private func text(_ line: RecordLine) -> String { JSONWriter().string(from: line.json) }

    /// The children of random values. Two are deleted or lost.
    private static let references: [RecordReference] =
        (0..<7).map { .node("n:\($0) é $ref \"") } + [.deleted(1), .deleted(2), .lost(1)]

    /// Values as in a record: each child once, in the order of first use.
    private func encoded(_ values: [RecordValue]) -> RestoredValue {
        var writer = ByteWriter()
        var used: [RecordReference] = []
        func renumbered(_ value: RecordValue) -> RecordValue {
            switch value {
            case .child(let number):
                let reference = Self.references[number]
                if !used.contains(reference) { used.append(reference) }
                return .child(used.firstIndex(of: reference) ?? 0)
            case .array(let elements): return .array(elements.map(renumbered))
            case .map(let entries):
                return .map(
                    entries.map { entry in
                        let key = renumbered(entry.key)
                        return .init(key: key, value: renumbered(entry.value))
                    })
            default: return value
            }
        }
        for value in values { writer.append(renumbered(value)) }
        return RestoredValue(bytes: writer.bytes, references: used)
    }

    private func json(_ value: RecordValue) -> JSONValue {
        ValueNotation.json(value) { Self.references[$0].json }
    }

    @Test(
        "Records of random values are restored to the byte, with shapes and children",
        arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) throws {
        var values = RandomValues(
            random: SeededGenerator(seed: seed), childCount: Self.references.count)
        var decoder = RecordLineDecoder()
        for round in 0..<300 {
            let types = Array(
                ["A", "B", "C$", "", "日"].shuffled(using: &values.random).prefix(round % 4))
            let names = ["id", "$value", "", "é", "e\u{301}", "types", "日本"].shuffled(
                using: &values.random
            ).prefix(
                round % 8)
            let all = RecordLine.Field.allTypes(types.count)
            let declarers = names.map { _ in UInt64.random(in: 0...all, using: &values.random) }
            let stored = names.map { _ in values.value() }
            let isOnCycle = round % 5 == 0
            let node = RecordLine(
                identifier: "node \(round)",
                content: .node(
                    types: types,
                    fields: zip(zip(names, declarers), stored).map {
                        RecordLine.Field(name: $0.0, value: json($1), declarers: $0.1)
                    },
                    isOnCycle: isOnCycle))
            let record = try decoder.record(try line(text(node)))
            guard case .node(let shape, let value, isOnCycle) = record.content else {
                Issue.record("\(record)")
                return
            }
            #expect(shape.types.map(Identifier.init) == types.map(Identifier.init))
            #expect(shape.fields.map(\.declarers) == declarers)
            #expect(shape.fields.map { Identifier($0.name) } == names.map(Identifier.init))
            #expect(value == encoded(stored))

            let key = RecordLine(identifier: "key", content: .key(json(stored.first ?? .null)))
            guard case .key(let inKey) = try decoder.record(try line(text(key))).content else {
                return
            }
            #expect(inKey == encoded([stored.first ?? .null]))

            let collection = RecordLine(identifier: "all", content: .collection(stored.map(json)))
            guard
                case .collection(let elements) = try decoder.record(try line(text(collection)))
                    .content
            else {
                return
            }
            #expect(elements == stored.map { encoded([$0]) })
        }
    }

    @Test("A record may have 64 types and no more")
    func manyTypes() throws {
        let types = (0..<64).map { "T\($0)" }
        let fields = [
            RecordLine.Field(name: "a", value: 1, declarers: .max),
            .init(name: "b", value: 2, declarers: 1 << 63),
        ]
        let node = RecordLine(
            identifier: "n", content: .node(types: types, fields: fields, isOnCycle: false))
        #expect(text(node).contains(#""declarers":{"b":["T63"]}"#))
        #expect(try line(text(node)) == node)
        let more = RecordLine(
            identifier: "n", content: .node(types: types + ["x"], fields: [], isOnCycle: false))
        #expect(throws: LineProblem.self) { try line(text(more)) }
    }

    @Test("A line omits declarers of all types and a false onCycle")
    func shortest() throws {
        let node = RecordLine(
            identifier: "n",
            content: .node(
                types: ["A"], fields: [.init(name: "a", value: 1, declarers: 1)], isOnCycle: false))
        #expect(text(node) == #"{"kind":"node","identifier":"n","types":["A"],"fields":{"a":1}}"#)
        let empty = RecordLine(
            identifier: "n", content: .node(types: [], fields: [], isOnCycle: true))
        #expect(
            text(empty)
                == #"{"kind":"node","identifier":"n","types":[],"onCycle":true,"fields":{}}"#)
        #expect(try line(text(empty)) == empty)
    }

    @Test("A line has the time of the write and the maximum age, and an import takes them over")
    func ages() throws {
        let age = RestoredRecord.Age(
            writtenAt: Date(timeIntervalSince1970: 1_796_000_000), maximum: 3_600)
        for content in [.key(1), .collection([1]), .node(types: [], fields: [], isOnCycle: false)]
            as [RecordLine.Content]
        {
            for age in [age, .init(writtenAt: age.writtenAt, maximum: nil), nil] {
                let dated = RecordLine(identifier: "x", content: content, age: age)
                #expect(try line(text(dated)) == dated)
                var decoder = RecordLineDecoder()
                #expect(try decoder.record(dated).age == age)
            }
        }
        #expect(
            text(RecordLine(identifier: "x", content: .key(1), age: age))
                == #"{"kind":"key","identifier":"x","written":"2026-11-30T00:53:20Z","#
                + #""maxAge":3600,"value":1}"#)
    }

    @Test(
        "An invalid record is reported with what is missing or wrong",
        arguments: [
            ("[]", "a record is an object"), ("{}", "kind is missing"),
            (#"{"kind":1}"#, "kind is a string"),
            (#"{"kind":"node"}"#, "identifier is missing"),
            (#"{"kind":"key","identifier":""}"#, "an identifier is not empty"),
            (
                #"{"kind":"segment","identifier":"x"}"#,
                "the kind segment is none of node, key and collection"
            ),
            (#"{"kind":"key","identifier":"x"}"#, "value is missing"),
            (
                #"{"kind":"key","identifier":"x","written":1,"value":1}"#,
                "written is a time such as 2026-11-29T12:00:00Z"
            ),
            (
                #"{"kind":"key","identifier":"x","written":"yesterday","value":1}"#,
                "written is a time such as 2026-11-29T12:00:00Z"
            ),
            (
                #"{"kind":"key","identifier":"x","maxAge":1,"value":1}"#,
                "maxAge is there without written"
            ),
            (
                #"{"kind":"key","identifier":"x","written":"2026-11-29T12:00:00Z","maxAge":-1,"#
                    + #""value":1}"#,
                "maxAge is a whole number of seconds"
            ),
            (
                #"{"kind":"key","identifier":"x","value":1,"fields":{}}"#,
                "a key has no member fields"
            ),
            (#"{"kind":"collection","identifier":"x","elements":{}}"#, "elements is an array"),
            (#"{"kind":"node","identifier":"x","fields":{}}"#, "types is missing"),
            (
                #"{"kind":"node","identifier":"x","types":"A","fields":{}}"#,
                "types is an array of names"
            ),
            (
                #"{"kind":"node","identifier":"x","types":[1],"fields":{}}"#,
                "types is an array of names"
            ),
            (
                #"{"kind":"node","identifier":"x","types":["A","A"],"fields":{}}"#,
                "types names one twice"
            ),
            (#"{"kind":"node","identifier":"x","types":["A"],"fields":[]}"#, "fields is an object"),
            (
                #"{"kind":"node","identifier":"x","types":["A"],"fields":{},"onCycle":1}"#,
                "onCycle is true or false"
            ),
            (
                #"{"kind":"node","identifier":"x","types":["A"],"fields":{},"declarers":1}"#,
                "declarers is an object"
            ),
            (
                #"{"kind":"node","identifier":"x","types":["A"],"fields":{},"#
                    + #""declarers":{"b":["A"]}}"#,
                "declarers names b, which is no field"
            ),
            (
                #"{"kind":"node","identifier":"x","types":["A"],"fields":{"b":1},"#
                    + #""declarers":{"b":["C"]}}"#,
                "declarers names C, which is no type of the node"
            ),
        ])
    func wrong(text: String, message: String) throws {
        let error = #expect(throws: LineProblem.self) { try line(text) }
        #expect(error?.description == message)
    }
}
#endif
