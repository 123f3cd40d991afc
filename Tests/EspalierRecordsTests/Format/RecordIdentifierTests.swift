import Testing

@testable import EspalierRecords

@Suite("The identifier of a record")
struct RecordIdentifierTests {
    private static func build(
        _ identifier: String, _ nameSpace: NameSpace = .node, values: [UInt8]
    ) -> [UInt8] {
        RecordLayout.build(
            handle: Handle(1), nameSpace: nameSpace, shape: .none, children: [],
            identifier: identifier, values: values)
    }

    private static func parse(_ bytes: [UInt8]) throws -> Record {
        try taken(bytes) { try Record(reading: $0, handle: Handle(1)) { _ in nil } }
    }

    /// The bits of the flags that name the value which ends the identifier.
    private static func tail(_ bytes: [UInt8]) -> UInt8 { bytes[0] >> 5 }

    @Test(
        "Text that ends the identifier and is one of the first values is stored once",
        arguments: [
            ("Post:1000414", "1000414", true), ("é:né", "né", true), ("a-b", "-b", true),
            ("u:6ba7b810-9dad-11d1-80b4-00c0", "6ba7b810-9dad-11d1-80b4-00c0", true),
            ("Post:1", "1", false), ("Post", "Post", false), ("Post:12", "123", false),
            ("Post:12", "Post:1", false), ("Post:12", "", false),
        ])
    func strings(identifier: String, value: String, isSplit: Bool) throws {
        let values = written {
            $0.append(value: value)
            $0.append(value: true)
        }
        let bytes = Self.build(identifier, values: values)
        #expect(Self.tail(bytes) == (isSplit ? 1 : 0))
        let saved = isSplit ? value.utf8.count : 0
        #expect(bytes.count == Self.build(identifier, .key, values: values).count - saved)
        let record = try Self.parse(bytes)
        #expect(Array(record.identifier.utf8) == Array(identifier.utf8))
        #expect(record.values == values)
    }

    @Test(
        "Digits that end the identifier and are an integer are stored once",
        arguments: [
            ("Post:1000414", 1_000_414, true), ("Post:-12", -12, true), ("Post:12", -12, false),
            ("Post:007", 7, false), ("Post:\(Int64.min)", Int64.min, true),
        ] as [(String, Int64, Bool)])
    func integers(identifier: String, value: Int64, isSplit: Bool) throws {
        let bytes = Self.build(identifier, values: written { $0.append(value: value) })
        #expect(Self.tail(bytes) == (isSplit ? 1 : 0))
        #expect(try Self.parse(bytes).identifier == identifier)
        let large = Self.build("P:\(UInt64.max)", values: written { $0.append(value: UInt64.max) })
        #expect(Self.tail(large) == 1)
        #expect(try Self.parse(large).identifier == "P:\(UInt64.max)")
    }

    @Test("The value may be one of the first seven, behind values of any kind", arguments: 0..<9)
    func positions(position: Int) throws {
        let values = written { writer in
            for index in 0..<position {
                if index % 2 == 0 {
                    writer.append(arrayOf: 2)
                    writer.append(value: "1000414")
                    writer.append(value: "x")
                } else {
                    writer.append(value: 0.5)
                }
            }
            writer.append(value: "1000414")
        }
        let bytes = Self.build("Post:1000414", values: values)
        #expect(Self.tail(bytes) == (position < 7 ? UInt8(position) + 1 : 0))
        #expect(try Self.parse(bytes).identifier == "Post:1000414")
    }

    @Test("Keys, collections and segments store their identifiers whole")
    func nameSpaces() throws {
        let values = written { $0.append(value: "1000414") }
        for nameSpace in NameSpace.allCases where nameSpace != .node {
            let bytes = Self.build("k:1000414", nameSpace, values: values)
            #expect(Self.tail(bytes) == 0)
            #expect(try Self.parse(bytes).identifier == "k:1000414")
        }
    }

    @Test("An identifier that ends with a value without text, or with none, is an error")
    func damage() throws {
        var bytes = Self.build("Post:1000414", values: written { $0.append(value: true) })
        bytes[0] |= 1 << 5
        #expect(
            throws: FormatError.malformed("an identifier that ends with a value without text")
        ) { try Self.parse(bytes) }
        bytes[0] |= 7 << 5
        #expect(throws: FormatError.truncated) { try Self.parse(bytes) }
    }

    @Test("A write finds the stored record whose identifier ends with a value, and no other")
    func likeness() throws {
        let identifier = "Post:1000414"
        let bytes = Self.build(identifier, values: written { $0.append(value: "1000414") })
        for name in [identifier, "Post:1000415", "Posu:1000414", "1000414", "Post:", ""] {
            let matches = try taken(bytes) { reader in
                let layout = try RecordLayout(reading: &reader)
                // The record has no children.
                return try layout.matchIdentifier(name, &reader)
            }
            #expect(matches == (name == identifier), "\(name)")
        }
    }
}
