/// A record that was read as a whole and owns its parts.
///
/// It serves merging, verifying and showing. A read of a tree goes over the stored bytes and makes
/// no `Record`.
package struct Record {
    package let handle: Handle
    package let nameSpace: NameSpace
    package let shapeNumber: UInt64
    package let hasOwnShape: Bool
    package let shape: Shape
    package let children: [Handle]
    package let identifier: String
    /// The values of the fields, one after the other.
    package let values: [UInt8]
    /// The bytes of the record as stored, check included, before it is cut into chunks.
    package let storedByteCount: Int
    /// The bytes of the record before its payload was compressed.
    package let rawByteCount: Int
    /// 0 for a raw payload.
    package let dictionaryNumber: UInt64

    /// Parses and verifies a record. `shapes` returns the shape of a number.
    package init(
        reading record: DecompressedRecord, storedAs storedByteCount: Int, handle: Handle,
        shapes: (UInt64) throws -> Shape?
    ) throws {
        var reader = record.reader
        var children: [Handle] = []
        let layout = try RecordLayout(reading: &reader)
        try layout.readChildren(&reader, of: handle, into: &children)
        self.storedByteCount = storedByteCount
        rawByteCount = reader.end
        dictionaryNumber = layout.dictionaryNumber
        var body = try layout.payload(reader)
        let shape = try Self.shape(of: layout, &body, shapes)
        try layout.verify(
            reader, handle: handle, shape: shape.fingerprint, dictionary: record.dictionary)
        guard let identifier = try body.readString() else {
            throw FormatError.malformed("a record without an identifier")
        }
        self.handle = handle
        nameSpace = layout.nameSpace
        shapeNumber = layout.shapeNumber
        hasOwnShape = layout.hasOwnShape
        self.shape = shape
        self.children = children
        self.identifier = identifier
        values = try body.bytes(count: body.remaining)
    }

    /// Parses and verifies a record whose payload is raw.
    package init(
        reading reader: inout ByteReader, handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws {
        try self.init(
            reading: DecompressedRecord(reader: reader, dictionary: 0), storedAs: reader.end,
            handle: handle, shapes: shapes)
    }

    /// The part of the record that is compressed: its own shape, if it carries one, identifier and
    /// values.
    package var payload: [UInt8] {
        (hasOwnShape ? shape.description : [])
            + Self.payload(identifier: identifier, values: values)
    }

    /// Returns the shape of a record. Moves `body` past the description if the record carries its
    /// own shape.
    @inline(__always)
    package static func shape(
        of layout: RecordLayout, _ body: inout ByteReader, _ shapes: (UInt64) throws -> Shape?
    ) throws -> Shape {
        if layout.hasOwnShape { return try Shape.read(from: &body) }
        if layout.shapeNumber == 0 { return Shape.none }
        guard let shape = try shapes(layout.shapeNumber) else {
            throw FormatError.unknownShape(layout.shapeNumber)
        }
        return shape
    }

    /// Returns identifier and values as the payload that `RecordLayout.build` takes.
    package static func payload(identifier: String, values: [UInt8]) -> [UInt8] {
        payload(identifier: identifier, values: values[...])
    }

    package static func payload(identifier: String, values: ArraySlice<UInt8>) -> [UInt8] {
        var writer = ByteWriter(capacity: identifier.utf8.count + values.count + 2)
        writer.append(value: identifier)
        writer.append(values)
        return writer.bytes
    }
}
