/// A record taken out of the store: everything it says, owned.
///
/// For merging, verifying and showing; reading a tree goes over the stored bytes without making one.
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
    /// Bytes of the stored record, check included.
    package let byteCount: Int

    /// Checks and takes a record apart. `shapes` gives the shape of a number.
    package init(
        reading reader: inout ByteReader, handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws {
        var children: [Handle] = []
        let layout = try RecordLayout(reading: &reader)
        try layout.readChildren(&reader, of: handle, into: &children)
        byteCount = reader.end
        var body = try layout.payload(reader)
        let shape = try Self.shape(of: layout, &body, shapes)
        try layout.verify(reader, handle: handle, shape: shape.fingerprint)
        guard layout.dictionaryNumber == 0 else { throw FormatError.unknownDictionary(layout.dictionaryNumber) }
        guard let identifier = try body.takeString() else {
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

    /// The shape of a record, standing behind its description afterwards where it carries its own.
    @inline(__always)
    package static func shape(
        of layout: RecordLayout, _ body: inout ByteReader, _ shapes: (UInt64) throws -> Shape?
    ) throws -> Shape {
        if layout.hasOwnShape { return try Shape.read(from: &body) }
        if layout.shapeNumber == 0 { return Shape.none }
        guard let shape = try shapes(layout.shapeNumber) else { throw FormatError.unknownShape(layout.shapeNumber) }
        return shape
    }

    /// The payload's first value and the rest, as `RecordLayout.build` wants it.
    package static func payload(identifier: String, values: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: identifier.utf8.count + values.count + 2)
        writer.append(value: identifier)
        writer.append(values)
        return writer.bytes
    }
}
