import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Decoders that expect fields")
struct ExpectedReadingTests {
    /// Returns all fields, or some of them, in every order.
    static func orders(of fields: [SheetField], upTo count: Int) -> [[SheetField]] {
        guard count > 0 else { return [[]] }
        return [[]]
            + fields.flatMap { first in
                orders(of: fields.filter { $0 != first }, upTo: count - 1).map { [first] + $0 }
            }
    }

    /// Expects the same values, or the same miss, as without a list. The first read makes the plan,
    /// and the second uses it.
    private func expectSame(
        _ source: DictionaryRecordSource, _ reader: SheetReader,
        expecting expected: [SheetField]? = nil, _ what: String
    ) {
        let expected = expected ?? reader.asked.map(\.field)
        let plain = source.read(reader, expecting: nil)
        for _ in 0..<2 {
            let read = source.read(reader, expecting: expected)
            guard read != plain else { continue }
            Issue.record(
                "\(what), asked for \(reader.asked), expecting \(expected): \(read), not \(plain)"
            )
            return
        }
    }

    private func source(_ sheet: Sheet) throws -> DictionaryRecordSource {
        let source = DictionaryRecordSource()
        try source.store(sheet)
        return source
    }

    private static let few: [SheetField] = [.text, .motto, .number, .tag]

    @Test(
        "Every order and subset of expected fields reads as without a list",
        arguments: SheetField.Manner.allCases)
    func everyOrder(manner: SheetField.Manner) throws {
        let lists =
            Self.orders(of: Self.few + [.child], upTo: 3)
            + Self.orders(of: Self.few, upTo: 4).filter { $0.count == 4 }
        for stored in Self.orders(of: Self.few, upTo: 4) {
            let source = try source(Sheet(stored))
            for list in lists { expectSame(source, SheetReader(list, manner), "stored \(stored)") }
        }
    }

    @Test(
        "Every expected field that is present, nil or absent reads as without a list",
        arguments: SheetField.allCases)
    func everyPresence(field: SheetField) throws {
        for presence in Sheet.Presence.allCases {
            for place in 0..<3 {
                var sheet = Sheet([SheetField.text, .rank].filter { $0 != field })
                sheet.entries.insert((field, presence), at: min(place, sheet.entries.count))
                let source = try source(sheet)
                for list in Self.orders(
                    of: [field] + sheet.entries.map(\.field).filter { $0 != field } + [.flag],
                    upTo: 4)
                where Set(list).count == list.count {
                    for manner in SheetField.Manner.allCases {
                        var reader = SheetReader(list, .optional)
                        for index in list.indices where list[index] == field {
                            reader.asked[index].manner = manner
                        }
                        expectSame(source, reader, "\(field) is \(presence) at \(place)")
                    }
                }
            }
        }
    }

    @Test(
        "Random expected fields, asked for in any manner, read as without a list",
        arguments: 1...8 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            var sheet = Sheet(
                Array(
                    SheetField.allCases.shuffled(using: &random).prefix(
                        Int.random(in: 0...6, using: &random))))
            for index in sheet.entries.indices where Int.random(in: 0..<4, using: &random) == 0 {
                sheet.entries[index].presence = Bool.random(using: &random) ? .null : .absent
            }
            let source = try source(sheet)
            // All readers share one shape, as in a cache.
            for _ in 0..<12 {
                let isClose = Bool.random(using: &random)
                var list =
                    isClose
                    ? sheet.entries.map(\.field) : SheetField.allCases.shuffled(using: &random)
                if !isClose { list = Array(list.prefix(Int.random(in: 0...6, using: &random))) }
                let manners = SheetField.Manner.allCases
                let asked = list.map { ($0, manners.randomElement(using: &random) ?? .required) }
                expectSame(source, SheetReader(asked), "stored \(sheet.entries)")
            }
        }
    }

    @Test("A field beyond the list is nil where the record lacks it, and its value where not")
    func oneMore() throws {
        let all: [SheetField] = [.text, .number, .note]
        for stored in Self.orders(of: all, upTo: 3) {
            let source = try source(Sheet(stored))
            for list in Self.orders(of: all, upTo: 2) {
                for more in all + [.tag, .child, .motto, .ratio, .flag] where !list.contains(more) {
                    for manner in SheetField.Manner.allCases {
                        var reader = SheetReader(list, .optional)
                        reader.asked.append((more, manner))
                        expectSame(source, reader, expecting: list, "stored \(stored)")
                    }
                }
            }
        }
    }

    @Test(
        "A field of every type that the record lacks is nil behind all that it has",
        arguments: SheetField.allCases)
    func behindTheLast(field: SheetField) throws {
        let stored = [SheetField.text, .number].filter { $0 != field }
        let source = try source(Sheet(stored))
        var reader = SheetReader(stored, .required)
        reader.asked.append((field, .optional))
        for expected in [stored, stored + [field]] {
            let read = source.read(reader, expecting: expected)
            #expect((try? read.get())?.last == "nil", "expecting \(expected): \(read)")
        }
    }

    @Test("An initialiser that does without a field goes on with the fields after it")
    func lenient() throws {
        let source = try source(Sheet([.text, .rank, .motto]))
        let asked: [(SheetField, SheetField.Manner)] = [
            (.text, .required), (.number, .lenient), (.rank, .required), (.motto, .required),
        ]
        let expected: [String] = [
            "a text", "none of number", "-5", "a motto, which takes more bytes than a text",
        ]
        #expect(source.read(SheetReader(asked), expecting: asked.map(\.0)) == .success(expected))
        // The field is of another type than the initialiser asks for first.
        let retried = SheetReader([(.rank, .required), (.text, .retried), (.motto, .required)])
        let values = source.read(retried, expecting: [.rank, .text, .motto])
        #expect(values == source.read(retried, expecting: nil))
        #expect((try? values.get())?.last == expected.last)
    }

    @Test(
        "A default in the middle of the list reads as without a list",
        arguments: [SheetField.number, .tag],
        Sheet.Presence.allCases)
    func defaults(field: SheetField, presence: Sheet.Presence) throws {
        for isStored in [true, false] where isStored || presence == .present {
            var sheet = Sheet([.text, .motto])
            if isStored { sheet.entries.insert((field, presence), at: 1) }
            let source = try source(sheet)
            let reader = SheetReader([(.text, .required), (field, .defaulted), (.motto, .required)])
            let read = source.read(reader, expecting: [.text, field, .motto])
            #expect(read == source.read(reader, expecting: nil), "stored: \(isStored)")
            guard presence != .null else { continue }
            let values = try read.get()
            #expect(
                values.first == "a text" && values.last?.hasPrefix("a motto") == true, "\(values)")
        }
    }

    @Test("An empty list reads as no list")
    func empty() throws {
        for stored in Self.orders(of: Self.few, upTo: 2) {
            let source = try source(Sheet(stored))
            for manner in SheetField.Manner.allCases {
                expectSame(
                    source, SheetReader(stored.reversed(), manner), expecting: [],
                    "stored \(stored)")
            }
        }
    }

    @Test("A list given after the first field was read changes nothing")
    func late() throws {
        let source = try source(Sheet([.text, .motto, .number]))
        let handle = try #require(source.handle(of: "s"))
        let treeReader = TreeReader(source: source)
        let read = treeReader.read("s") {
            try treeReader.entry(handle, identifier: "s") {
                try $0.decodeModel([String].self) { decoder in
                    let text = try decoder.decode(String.self, forKey: "text")
                    decoder.expect(Leaf.self, fields: ["number", "motto"])
                    let number = try decoder.decode(Int.self, forKey: "number")
                    return [text, "\(number)", try decoder.decode(String.self, forKey: "motto")]
                }
            }
        }
        #expect(read == .success(["a text", "300", "a motto, which takes more bytes than a text"]))
    }
}
