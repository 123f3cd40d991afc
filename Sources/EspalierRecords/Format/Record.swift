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
    /// The bytes that the record takes in its keyspace: its share of a frame, or its chunks.
    package let storedByteCount: Int
    /// The bytes of the record itself.
    package let rawByteCount: Int
    /// Whether the record stands in chunks of its own, because it does not fit in a container.
    package let isLong: Bool

    /// Makes the record of a node that stands in no container.
    package init(identifier: String, shape: Shape, children: [Handle], values: [UInt8]) {
        handle = Handle(0)
        nameSpace = .node
        shapeNumber = 0
        hasOwnShape = true
        self.shape = shape
        self.children = children
        self.identifier = identifier
        self.values = values
        storedByteCount = values.count
        rawByteCount = values.count
        isLong = false
    }

    /// Parses a record. `shapes` returns the shape of a number.
    package init(
        reading record: ByteReader, storedAs storedByteCount: Int? = nil, isLong: Bool = false,
        handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws {
        var reader = record
        var children: [Handle] = []
        let layout = try RecordLayout(reading: &reader)
        try layout.readChildren(&reader, of: handle, into: &children)
        self.storedByteCount = storedByteCount ?? record.end
        rawByteCount = record.end
        self.isLong = isLong
        let shape = try Self.shape(of: layout, &reader, shapes)
        let identifier = try layout.readIdentifier(&reader)
        self.handle = handle
        nameSpace = layout.nameSpace
        shapeNumber = layout.shapeNumber
        hasOwnShape = layout.hasOwnShape
        self.shape = shape
        self.children = children
        self.identifier = identifier
        values = try reader.bytes(count: reader.remaining)
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
}
