import EspalierModels
import EspalierRecords
import EspalierTestSupport
import Testing

@Suite("Nodes that occur several times in one merge")
struct OccurrenceTests {
    /// Stores `model` in an empty store under a policy, and returns what is there.
    private func stored<Model: NormalizedModel>(
        _ model: Model, _ policy: TreePolicy, limits: TreeLimits = TreeLimits()
    ) throws -> DictionaryRecordSource {
        let source = DictionaryRecordSource()
        try source.store(model, policy: policy, limits: limits)
        return source
    }

    private let poorThenRich = Contact(
        "a", name: "Ada",
        friends: [Contact("b", city: "Bern", friends: [Contact("a", city: "Rome")])]
    )

    @Test("A merge keeps the fields of every occurrence, and of those that differ the first")
    func keepsAll() throws {
        let tree = Contact(
            "root",
            friends: [
                Contact("a", name: "Ada"), Contact("a", name: "Eve", city: "Rome"),
                Contact("a", city: "Oslo", friends: [Contact("b", name: "Bo")]),
            ])
        let merged = try stored(tree, .merge)
        let ada = try merged.read("a", as: Contact.self).get()
        #expect(
            ada == Contact("a", name: "Ada", city: "Rome", friends: [Contact("b", name: "Bo")]))
        let replaced = try stored(tree, .replace)
        #expect(try replaced.read("a", as: Contact.self).get() == Contact("a", name: "Ada"))
        #expect(replaced.handle(of: "b") == nil)
    }

    @Test("A node met inside itself keeps the fields of both, and the outer one counts first")
    func insideItself() throws {
        let source = try stored(poorThenRich, .merge)
        let ada = try source.read("a", as: Contact.self).get()
        #expect((ada.name, ada.city) == ("Ada", "Rome"))
        let thrice = Contact(
            "a",
            friends: [
                Contact("a", city: "Rome", friends: [Contact("a", name: "Ann", city: "Oslo")]),
                Contact("a", name: "Eve"),
            ])
        let innermost = try stored(thrice, .merge).read("a", as: Contact.self).get()
        #expect((innermost.name, innermost.city) == ("Ann", "Rome"))
    }

    @Test("Writing the same tree again gives the same tree, and equal occurrences add nothing")
    func idempotent() throws {
        let source = try stored(poorThenRich, .merge)
        let before = source.records
        try source.store(poorThenRich, policy: .merge)
        #expect(source.records == before)
        let page = Page(id: "p", list: [Leaf("l", "x"), Leaf("l", "x"), Leaf("l", "x")])
        let (merged, replaced) = try (
            DictionaryRecordSource.flatten(page, policy: .merge),
            DictionaryRecordSource.flatten(page)
        )
        #expect(merged.byteCount == replaced.byteCount)
        #expect(!merged.hasProjections && !merged.mayLoseChildren)
    }

    @Test("Objects with different sets of fields get the fields of both")
    func otherFields() throws {
        let tree = Loose(
            "root", [:],
            [
                Loose("a", ["x": 1, "y": nil], []), Loose("b", [:], []),
                Loose("a", ["y": 2, "z": 3], []),
            ])
        let source = try stored(tree, .merge)
        let handle = try #require(source.handle(of: "a"))
        let record = try #require(try source.parsedRecord(handle))
        #expect(record.shape.names == ["x", "y", "children", "cases", "z"])
        #expect(record.values == [1, 2, 0x90, 0x90, 3])
    }

    @Test("A node without fields does not take the explicit nulls of the next one")
    func emptyFields() throws {
        let source = DictionaryRecordSource()
        for identifier in ["a", "b"] {
            try source.store(Sparse(identifier, ["x": .value(1), "y": .value(2)]))
        }
        let list = [
            Sparse("a", [:]), Sparse("b", ["x": .null]),
            Sparse("a", ["x": .absent, "y": .value(3)]),
        ]
        try source.store(Bundle("root", list), policy: .merge)
        func values(_ identifier: String) throws -> [UInt8]? {
            try source.parsedRecord(try #require(source.handle(of: identifier)))?.values.map(\.self)
        }
        #expect(try values("a") == [1, 3])
        #expect(try values("b") == [0xC0, 2])
    }

    @Test("Of an enum with payloads the first case counts")
    func cases() throws {
        let tree = Loose("root", [:], [], cases: ["a", "b"])
        let source = try stored(tree, .merge)
        let handle = try #require(source.handle(of: "case"))
        #expect(try source.parsedRecord(handle)?.shape.names == ["a"])
    }

    @Test("A node that only a later occurrence refers to is stored, also if the first one counts")
    func leftOut() throws {
        let first = Stem("s", Leaf("l:1"))
        let second = Stem("s", Leaf("l:2"))
        let flattened = try DictionaryRecordSource.flatten(
            Bundle("root", [first, second]), policy: .merge)
        #expect(flattened.mayLoseChildren)
        let source = DictionaryRecordSource()
        try source.store(flattened)
        #expect(try source.read("s", as: Stem.self).get() == first)
        #expect(try source.read("l:2", as: Leaf.self).get() == Leaf("l:2"))
    }

    // MARK: - Bounds

    @Test("A diamond of objects is walked once for each object")
    func diamondOfObjects() throws {
        let tree = try DictionaryRecordSource.flatten(SharingTests.diamond(40), policy: .merge)
        #expect(tree.nodes.count == 41)
    }

    @Test("Objects that refer to each other in a circle end the walk")
    func circle() throws {
        let (a, b) = (Knot("a"), Knot("b"))
        a.next = b
        b.next = a
        defer { a.next = nil }
        let tree = try DictionaryRecordSource.flatten(a, policy: .merge)
        #expect(tree.nodes.map(\.isOnCycle) == [true, false])
    }

    @Test("A diamond of values fails at the limit on occurrences, with an error that names it")
    func diamondOfValues() throws {
        func diamond(_ levels: Int) -> Contact {
            (0..<levels).reduce(Contact("bottom")) { Contact("\($1)", friends: [$0, $0]) }
        }
        var limits = TreeLimits()
        limits.maximumLogicalNodes = 1_000
        #expect(throws: FlattenError.tooManyOccurrences(limit: 1_000)) {
            try DictionaryRecordSource.flatten(diamond(40), policy: .merge, limits: limits)
        }
        // Nothing of the limit concerns a write that replaces.
        #expect(try DictionaryRecordSource.flatten(diamond(40), limits: limits).nodes.count == 41)
        // 511 nodes at 8 levels, of which 9 are the first of their level.
        #expect(
            try DictionaryRecordSource.flatten(diamond(8), policy: .merge, limits: limits)
                .nodes.count == 9)
    }

    @Test("A failure in a later occurrence fails the write, even if a model swallows the error")
    func failure() {
        #expect(throws: FlattenError.self) {
            try DictionaryRecordSource.flatten(
                Bundle("root", [Picky("p", fails: false), Picky("p", fails: true)]),
                policy: .merge)
        }
    }
}

// MARK: - Models

/// A person of whom parts are known.
private struct Contact: NormalizedModel, Equatable {
    let id: String
    var name: String?
    var city: String?
    var friends: [Contact]?
    var modelIdentifier: String? { id }

    init(_ id: String, name: String? = nil, city: String? = nil, friends: [Contact]? = nil) {
        (self.id, self.name, self.city, self.friends) = (id, name, city, friends)
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        city = try decoder.decode(forKey: "city")
        friends = try decoder.decode(forKey: "friends")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(city, forKey: "city")
        try encoder.encode(friends, forKey: "friends")
    }
}

/// An object whose fields differ from value to value, as those of JSON do.
private struct Loose: NormalizedModel {
    let id: String
    let fields: KeyValuePairs<String, Int?>
    let children: [Loose]
    var cases: [String] = []
    var modelIdentifier: String? { id }

    init(
        _ id: String, _ fields: KeyValuePairs<String, Int?>, _ children: [Loose],
        cases: [String] = []
    ) {
        (self.id, self.fields, self.children, self.cases) = (id, fields, children, cases)
    }

    init(from decoder: inout RecordDecoder) throws { self.init("", [:], []) }

    func encode(to encoder: inout RecordEncoder) throws {
        for (name, value) in fields { try encoder.encode(value, forKey: name) }
        try encoder.encode(children, forKey: "children")
        try encoder.encode(cases.map(Choice.init), forKey: "cases")
    }

    /// A node that is a case of an enum.
    private struct Choice: NormalizedModel {
        let name: String
        var modelIdentifier: String? { "case" }

        init(_ name: String) { self.name = name }
        init(from decoder: inout RecordDecoder) throws { name = try decoder.caseName() }
        func encode(to encoder: inout RecordEncoder) throws {
            try encoder.encodeCase(name) { _ in }
        }
    }
}

/// A node that encodes only the fields that it has.
private struct Sparse: NormalizedModel {
    let id: String
    let fields: KeyValuePairs<String, Field<Int>>
    var modelIdentifier: String? { id }

    init(_ id: String, _ fields: KeyValuePairs<String, Field<Int>>) {
        (self.id, self.fields) = (id, fields)
    }

    init(from decoder: inout RecordDecoder) throws { self.init("", [:]) }

    func encode(to encoder: inout RecordEncoder) throws {
        for (name, value) in fields { try encoder.encode(value, forKey: name) }
    }
}

private struct Bundle<Element: NormalizedModel>: NormalizedModel {
    let id: String
    let elements: [Element]
    var modelIdentifier: String? { id }

    init(_ id: String, _ elements: [Element]) { (self.id, self.elements) = (id, elements) }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        elements = try decoder.decode(forKey: "elements")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        // Swallows errors, as a lenient model does.
        try? encoder.encode(elements, forKey: "elements")
    }
}

private struct Picky: NormalizedModel {
    let id: String
    let fails: Bool
    var modelIdentifier: String? { id }

    init(_ id: String, fails: Bool) { (self.id, self.fails) = (id, fails) }
    init(from decoder: inout RecordDecoder) throws { self.init("", fails: false) }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        if fails { throw Refusal() }
    }

    private struct Refusal: Error {}
}

/// Unchecked, because a test alone changes `next`, on one thread.
private final class Knot: NormalizedModel, @unchecked Sendable {
    let id: String
    var next: Knot?
    var modelIdentifier: String? { id }

    init(_ id: String) { self.id = id }
    init(from decoder: inout RecordDecoder) throws { id = try decoder.decode(forKey: "id") }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(next, forKey: "next")
    }
}
