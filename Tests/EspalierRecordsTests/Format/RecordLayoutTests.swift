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
            identifier: "Person:1", values: values)
    }

    static func parse(_ bytes: [UInt8], _ handle: Handle = Handle(1_000)) throws -> Record {
        try taken(bytes) { try Record(reading: $0, handle: handle) { $0 == 3 ? shape : nil } }
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
            identifier: "", values: [])
        #expect(try Self.parse(bytes, Handle(5)).nameSpace == nameSpace)
    }

    @Test("Unknown extensions of a record are skipped")
    func extensions() throws {
        let plain = Self.build()
        let bytes = [plain[0] | RecordLayout.Flag.extensions, 3, 9, 9, 9] + plain[1...]
        #expect(try Self.parse(bytes).identifier == "Person:1")
    }

    @Test("Unknown name spaces and shapes are errors of their own")
    func unknown() throws {
        var bytes = Self.build()
        bytes[0] = 7
        #expect(throws: FormatError.malformed("an unknown name space")) { try Self.parse(bytes) }
        bytes = Self.build(Handle(1_000), .number(4, Self.shape))
        #expect(throws: FormatError.unknownShape(4)) { try Self.parse(bytes) }
    }

    @Test("Near and far children take the bytes that the format says")
    func childCodes() {
        func children(_ children: [UInt64]) -> ArraySlice<UInt8> {
            RecordLayout.build(
                handle: Handle(1_000), nameSpace: .key, shape: .none,
                children: children.map { Handle($0) }, identifier: "", values: []
            ).dropFirst(3).dropLast()
        }
        #expect(children([1_001]) == [0x04])
        #expect(children([999]) == [0x02])
        #expect(children([1_010, 1_011]) == [0x28, 0x04])
        #expect(children([5_000]) == [0x91, 0x4E])
        // A far child does not move the place from which the next near one is counted.
        #expect(children([5_000, 1_001]) == [0x91, 0x4E, 0x04])
        #expect(children([1 << 63]) == [0x01, 0x80, 0, 0, 0, 0, 0, 0, 0])
    }
}
