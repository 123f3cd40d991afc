import EspalierInspection
import EspalierLMDB
import EspalierRecords
import Testing

@testable import EspalierStore

@Suite("JSON with deep nesting or many names")
struct NestedArrayTests {
    /// A JSON value that consists of arrays only.
    private indirect enum Nested: Codable, Hashable {
        case list([Nested])

        init(depth: Int) { self = (0..<depth).reduce(.list([])) { below, _ in .list([below]) } }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            var elements: [Nested] = []
            while !container.isAtEnd { elements.append(try container.decode(Nested.self)) }
            self = .list(elements)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            guard case .list(let elements) = self else { return }
            for element in elements { try container.encode(element) }
        }
    }

    private struct Document: Codable, Hashable, IdentifiedModel {
        var id = "d"
        var value: Nested
        var modelIdentifier: String? { id }
    }

    /// A model that reads only one field.
    private struct Shallow: Codable, Hashable, IdentifiedModel {
        var id: String
        var modelIdentifier: String? { id }
    }

    @Test("A thousand nested arrays are refused with the limit, and a hundred are read back")
    func writing() throws {
        try withCache { cache in
            #expect(
                code(cache.set(Document(value: Nested(depth: 1_000))))
                    == .notFlattened(.tooDeep(limit: 256)))
            #expect(cache.readOutcome(Document.self, "d").reason == .notFound)
            let document = Document(value: Nested(depth: 100))
            #expect(code(cache.set(document)) == nil)
            #expect(cache.read(Document.self, "d") == document)
        }
    }

    @Test(
        """
        A thousand nested arrays that are stored are a miss with that reason, and types that skip \
        them read the rest
        """,
        arguments: [1_000, 3_000])
    func reading(depth: Int) throws {
        try withCache(isDamaged: true) { cache in
            try cache.set(Document(value: Nested(depth: 1))).wait()
            let handle = try present(try cache.handle("d"))
            var values = ByteWriter()
            values.append(value: "d")
            values.append([UInt8](repeating: 0x91, count: depth) + [0x90])
            let shape = RecordLayout.ShapeReference.own(
                Shape(type: "Document", fields: ["id", "value"]))
            let record = RecordLayout.build(
                handle: handle, nameSpace: .node, shape: shape, children: [], identifier: "d",
                values: values.bytes)
            try cache.replaceRecord(handle, by: record, shape)
            #expect(cache.readOutcome(Document.self, "d", access: .peek).reason?.name == "tooDeep")
            #expect(cache.readOutcome(Shallow.self, "d", access: .peek).value == Shallow(id: "d"))
            try #expect(cache.record(handle) != nil)
            #expect(code(cache.set(Document(value: Nested(depth: 2)), policy: .merge)) == nil)
            #expect(cache.read(Document.self, "d") == Document(value: Nested(depth: 2)))
        }
    }

    @Test(
        """
        With 10,000 sets of keys, compressed, the shapes stay bounded and all records are read \
        back
        """
    )
    func manyKeys() throws {
        let scratch = try Scratch()
        var cache = try scratch.open()
        let text = String(repeating: "a value that says the same again and again; ", count: 6)
        let bags = (0..<10_000).map { number in
            Bag(
                "b:\(number)",
                ["key \(number)": "\(text)\(number)", "other \(number % 7)": "x"])
        }
        for (number, bag) in bags.enumerated() {
            let ticket = cache.set(bag)
            if number % 1_000 == 999 { try ticket.wait() }
        }
        try cache.compact().wait()
        let statistics = try cache.statistics()
        #expect(statistics.nodes == 10_000)
        #expect(statistics.shapes <= ShapeTable.maximumShapes)
        try cache.inspect { inspection in
            var forms: [Bool: Int] = [:]
            for number in stride(from: 0, to: 10_000, by: 50) {
                let handle = try present(try inspection.handle(of: "b:\(number)", in: .node))
                guard case .record(let record) = try inspection.record(handle) else {
                    throw Missing()
                }
                if try inspection.anatomy(of: handle)?.dictionaryNumber != 0 {
                    forms[record.hasOwnShape, default: 0] += 1
                }
            }
            #expect(forms[true, default: 0] > 100, "\(forms)")
        }
        cache.close()
        cache = try scratch.open()
        for bag in bags { #expect(cache.read(Bag.self, bag.id, access: .peek) == bag) }
        try expectClean(cache)
        cache.close()
    }
}
