import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Expected fields are found in records of every shape")
struct ExpectedShapesTests {
    private static let lists: [[SheetField]] = ExpectedReadingTests.orders(
        of: [.text, .motto, .number, .tag], upTo: 3)

    @Test(
        "Expected fields are found in records that two projections share", arguments: [0, 1, 2, 3])
    func projections(shared: Int) throws {
        let fields: [SheetField] = [.text, .motto, .number]
        let source = DictionaryRecordSource()
        try source.store(Sheet(fields))
        var other = Sheet(Array(fields.prefix(shared).reversed()) + [.tag, .rank])
        other.projectionIdentifier = "Other"
        try source.store(other)
        // Beside records that only the first type writes.
        try source.store(Sheet(fields, id: "alone"))
        for list in Self.lists {
            for manner in [SheetField.Manner.required, .optional, .defaulted] {
                for identifier in ["s", "alone", "s"] {
                    let reader = SheetReader(list, manner)
                    let plain = source.read(reader, of: identifier, expecting: nil)
                    #expect(
                        source.read(reader, of: identifier, expecting: list) == plain,
                        "\(list) of \(identifier)")
                }
            }
        }
    }

    @Test("Expected fields are found in inline models, and so are the fields after these")
    func inline() throws {
        for stored in [[], [.text], [.motto, .text], [.tag, .text, .motto, .number]]
            as [[SheetField]]
        {
            for list in Self.lists {
                let source = DictionaryRecordSource()
                var outer = Sheet([], id: "outer")
                outer.others = [Sheet(stored, id: nil), Sheet([.text], id: nil)]
                try source.store(outer)
                let reader = SheetReader(list, .optional)
                let plain = try read(source, reader, expecting: nil)
                #expect(try read(source, reader, expecting: list) == plain, "\(list) of \(stored)")
                #expect(plain.count == 2)
            }
        }
    }

    private func read(
        _ source: DictionaryRecordSource, _ reader: SheetReader, expecting list: [SheetField]?
    ) throws -> [[String]] {
        let treeReader = TreeReader(source: source)
        let handle = try #require(source.handle(of: "outer"))
        return try treeReader.read("outer") {
            try treeReader.decodeModel(at: handle, as: [[String]].self) { decoder in
                guard try decoder.seek("others") else { throw MissReason.notFound }
                var all: [[String]] = []
                try decoder.values.decodeElements { element in
                    all.append(
                        try element.decodeModel([String].self) {
                            try reader.values(expecting: list, &$0)
                        })
                }
                return all
            }
        }.get()
    }

    /// Encodes its fields in one order and decodes them in another.
    private struct Turned: NormalizedModel, Equatable {
        var id: String
        var first = "first"
        var second = "second"
        var rest: [Turned] = []
        var modelIdentifier: String? { id }

        init(_ id: String, rest: [Turned] = []) { (self.id, self.rest) = (id, rest) }

        init(from decoder: inout RecordDecoder) throws {
            decoder.expect(Turned.self, fields: ["second", "first", "id", "rest"])
            second = try decoder.decode(forKey: "second")
            first = try decoder.decode(forKey: "first")
            id = try decoder.decode(forKey: "id")
            rest = try decoder.decode(forKey: "rest")
        }

        func encode(to encoder: inout RecordEncoder) throws {
            encoder.expect(Turned.self, fields: ["id", "first", "second", "rest"])
            try encoder.encode(id, forKey: "id")
            try encoder.encode(first, forKey: "first")
            try encoder.encode(second, forKey: "second")
            try encoder.encode(rest, forKey: "rest")
        }
    }

    @Test("A type whose encoder and decoder have different orders swaps no values, however often")
    func turned() throws {
        let store = BridgeStore()
        let tree = Turned("top", rest: [Turned("a"), Turned("b", rest: [Turned("c")])])
        for _ in 0..<3 {
            try store.write(tree)
            #expect(store.read(Turned.self, "top") == .success(tree))
            for id in ["top", "a", "b", "c"] {
                #expect(try store.fields(of: id).map(\.name) == ["id", "first", "second", "rest"])
                #expect(store.read(Turned.self, id).map(\.first) == .success("first"))
            }
        }
    }

    /// Decoded by `Codable`, in the order of its properties.
    private struct Plain: Codable, Equatable {
        var text: String?
        var motto: String?
        var number: Int?
        var tag: SheetField.Tag?
    }

    @Test(
        "A Codable model finds its fields in its own order, whatever was expected",
        arguments: [false, true])
    func codable(isTurned: Bool) throws {
        let order: [SheetField] =
            isTurned ? [.tag, .number, .motto, .text] : [.text, .motto, .number, .tag]
        for stored in ExpectedReadingTests.orders(of: [.text, .motto, .number, .tag], upTo: 4) {
            let source = DictionaryRecordSource()
            try source.store(Sheet(stored))
            let plain = try codable(source, expecting: nil)
            #expect(plain.text == (stored.contains(.text) ? "a text" : nil))
            for _ in 0..<2 {
                let read = try? codable(source, expecting: order)
                #expect(read == plain, "stored \(stored)")
            }
        }
    }

    private func codable(_ source: DictionaryRecordSource, expecting order: [SheetField]?) throws
        -> Plain
    {
        let handle = try #require(source.handle(of: "s"))
        let treeReader = TreeReader(source: source)
        return try treeReader.read("s") {
            try treeReader.entry(handle, identifier: "s") {
                try $0.decodeModel(Plain.self) { decoder in
                    if let order {
                        let list = NoFields.type(of: order)
                        decoder.expect(list, fields: order.map(\.rawValue))
                    }
                    return try decoder.decodeFields(as: Plain.self)
                }
            }
        }.get()
    }
}
