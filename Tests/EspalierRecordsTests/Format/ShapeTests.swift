import EspalierRecords
import Testing

@Suite("Shapes are values that mean the same in every process")
struct ShapeTests {
    @Test("The fingerprints of shapes never change")
    func fingerprints() {
        #expect(Shape.none.fingerprint == Self.expected[0])
        #expect(Shape(type: "Person", fields: ["name", "age"]).fingerprint == Self.expected[1])
        let two = Shape(
            types: ["Person", "PersonSummary"],
            fields: [.init(name: "name", declarers: 3), .init(name: "großes Ü", declarers: 2)])
        #expect(two.fingerprint == Self.expected[2])
    }

    // Computed once with `xxhsum -H64` from the descriptions.
    static let expected: [UInt64] = [0x9AABA41FFA2DA101, 0x45E17259F5221ED9, 0xD466CF794B8D25C6]

    @Test("Shapes differ by their names, order, types and declarers")
    func differences() {
        let shapes = [
            Shape(type: "A", fields: ["a", "b"]), Shape(type: "A", fields: ["b", "a"]),
            Shape(type: "B", fields: ["a", "b"]), Shape(type: "A", fields: ["a"]),
            Shape(type: "A", fields: ["ab"]),
            Shape(
                types: ["A"],
                fields: [.init(name: "a", declarers: 1), .init(name: "b", declarers: 0)]),
            Shape(
                types: ["A", "B"],
                fields: [.init(name: "a", declarers: 1), .init(name: "b", declarers: 1)]),
            Shape(type: "A", fields: ["\u{E9}"]), Shape(type: "A", fields: ["e\u{301}"]),
        ]
        #expect(Set(shapes).count == shapes.count)
        #expect(Set(shapes.map(\.fingerprint)).count == shapes.count)
        #expect(Shape(type: "A", fields: ["a", "b"]) == shapes[0])
    }

    @Test("A shape is read from its description, and from no byte less")
    func description() throws {
        let many = Shape(
            types: (0..<64).map { "Type \($0)" },
            fields: (0..<200).map {
                Shape.Field(name: "field \($0)", declarers: .max >> UInt64($0 % 64))
            })
        for shape in [
            Shape.none, Shape(type: "", fields: [""]), Shape(type: "Pérson", fields: ["a", "猫"]),
            many,
        ] {
            let bytes = shape.description
            #expect(try takenWhole(bytes) { try Shape.read(from: &$0) } == shape)
            for count in bytes.indices {
                #expect(throws: FormatError.truncated) {
                    try taken(Array(bytes[..<count])) { try Shape.read(from: &$0) }
                }
            }
        }
    }

    @Test("A description with a name twice or too many types is refused")
    func malformed() {
        let twice = Shape(
            types: ["A"], fields: [.init(name: "a", declarers: 1), .init(name: "a", declarers: 1)])
        #expect(throws: FormatError.malformed("a shape that names a field twice")) {
            try taken(twice.description) { try Shape.read(from: &$0) }
        }
        let sameType = Shape(
            types: ["A", "A"], fields: [.init(name: "id", declarers: 3)])
        #expect(throws: FormatError.malformed("a shape that names a type twice")) {
            try taken(sameType.description) { try Shape.read(from: &$0) }
        }
        let types = written {
            $0.append(varint: 65)
            for _ in 0..<65 { $0.append(string: "T") }
            $0.append(varint: 0)
        }
        #expect(throws: FormatError.malformed("a shape with too many types")) {
            try taken(types) { try Shape.read(from: &$0) }
        }
    }

    @Test("A field of a shape is found by its bytes, in its slot and out of order")
    func slots() {
        let shape = Shape(type: "A", fields: ["a", "\u{E9}", "b"])
        #expect(shape.slot(of: "b") == 2)
        #expect(shape.slot(of: "\u{E9}") == 1)
        #expect(shape.slot(of: "e\u{301}") == nil)
        #expect(shape.holds("\u{E9}", at: 1))
        #expect(!shape.holds("e\u{301}", at: 1))
        #expect(!shape.holds("a", at: 1))
        #expect(!shape.holds("a", at: 3))
        #expect(!Shape(type: "A", fields: ["e"]).holds("e\u{301}", at: 0))
    }

    @Test("A type declares the fields that carry its bit")
    func declarers() {
        let shape = Shape(
            types: ["A", "B"],
            fields: [.init(name: "a", declarers: 1), .init(name: "b", declarers: 3)])
        #expect(shape.isDeclared(0, by: "A"))
        #expect(!shape.isDeclared(0, by: "B"))
        #expect(shape.isDeclared(1, by: "B"))
        #expect(!shape.isDeclared(1, by: "C"))
    }
}
