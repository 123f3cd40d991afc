import EspalierRecords
import Testing

@Suite("A record is built and taken apart again")
struct RecordLayoutTests {
    static let shape = Shape(type: "Person", fields: ["name", "friends"])
    static let values = written {
        $0.append(value: "Ann")
        $0.append(arrayOf: 2)
        $0.append(child: 0)
        $0.append(child: 1)
    }

    static func build(
        _ handle: Handle = Handle(1_000),
        _ reference: RecordLayout.ShapeReference = .number(3, shape),
        children: [Handle] = [Handle(999), Handle(70_000)]
    ) -> [UInt8] {
        RecordLayout.build(
            handle: handle, nameSpace: .node, shape: reference, children: children,
            payload: Record.payload(identifier: "Person:1", values: values))
    }

    static func parse(_ bytes: [UInt8], _ handle: Handle = Handle(1_000)) throws -> Record {
        try taken(bytes) { try Record(reading: &$0, handle: handle) { $0 == 3 ? shape : nil } }
    }

    @Test("A record is read as it was built, with a shape from the table, one of its own, or none")
    func roundTrip() throws {
        for reference in [
            RecordLayout.ShapeReference.number(3, Self.shape), .own(Self.shape), .none,
        ] {
            let bytes = Self.build(Handle(1_000), reference)
            let record = try Self.parse(bytes)
            #expect(record.identifier == "Person:1")
            #expect(record.values == Self.values)
            #expect(record.children == [Handle(999), Handle(70_000)])
            #expect(record.shape == reference.shape)
            #expect(record.nameSpace == .node)
            #expect(record.storedByteCount == bytes.count)
        }
        #expect(try Self.parse(Self.build()).shapeNumber == 3)
        #expect(try Self.parse(Self.build(Handle(1_000), .own(Self.shape))).hasOwnShape)
    }

    @Test("A record may have itself, far records and those at the ends of the handles as children")
    func children() throws {
        let children = [Handle(0), Handle(.max), Handle(1_000), Handle(1), Handle(1 << 63)]
        for handle in [Handle(0), Handle(1_000), Handle(.max), Handle(1 << 63)] {
            #expect(
                try Self.parse(Self.build(handle, children: children), handle).children == children)
        }
        let many = (0..<1_000).map { Handle($0 * 3) }
        #expect(try Self.parse(Self.build(children: many)).children == many)
    }

    @Test("A record of every name space is read as it was built", arguments: NameSpace.allCases)
    func nameSpaces(nameSpace: NameSpace) throws {
        let bytes = RecordLayout.build(
            handle: Handle(5), nameSpace: nameSpace, shape: .none, children: [],
            payload: Record.payload(identifier: "", values: []))
        #expect(try Self.parse(bytes, Handle(5)).nameSpace == nameSpace)
    }

    @Test("Unknown extensions of a record are skipped")
    func extensions() throws {
        let plain = Self.build()
        let head = [plain[0], plain[1] | RecordLayout.Flag.extensions, 3, 9, 9, 9]
        let body = head + plain[2..<plain.count - RecordLayout.checkSize]
        let bytes = written {
            $0.append(body)
            $0.append(
                integer: XXHash64.hash(
                    body,
                    seed: RecordLayout.seed(handle: Handle(1_000), shape: Self.shape.fingerprint)))
        }
        #expect(try Self.parse(bytes).identifier == "Person:1")
    }

    @Test("Unknown versions, name spaces, shapes and compression are errors of their own")
    func unknown() throws {
        var bytes = Self.build()
        bytes[0] = 2
        #expect(throws: FormatError.unknownVersion(2)) { try Self.parse(bytes) }
        bytes = Self.build()
        bytes[1] = 7
        #expect(throws: FormatError.malformed("an unknown name space")) { try Self.parse(bytes) }
        bytes = Self.build(Handle(1_000), .number(4, Self.shape))
        #expect(throws: FormatError.unknownShape(4)) { try Self.parse(bytes) }
        bytes = Self.build()
        bytes[1] |= RecordLayout.Flag.chunked
        #expect(throws: FormatError.malformed("a chunk in place of a record")) {
            try Self.parse(bytes)
        }
    }
}
