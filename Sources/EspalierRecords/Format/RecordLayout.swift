/// The layout of a record, as a ``RecordBlock`` holds it.
///
///     record     = flags, [extensions], shape, children, payload
///     flags      = one byte: bits 0-2 name space, bit 3 extensions follow, bit 4 the payload
///                  starts with its own shape, bits 5-7 the value that ends the identifier
///     extensions = length (varint), that many bytes; unknown ones are skipped
///     shape      = number (varint), 0 where there is none
///     children   = count (varint), then a child each
///     child      = near: (signed varint of the handle less that of the near child before, or of
///                  the record) * 2; far: handle * 2 + 1 (varint); 1, and 8 bytes: any handle
///     payload    = [shape description,] identifier, then a value per field
///
/// A child is near if its handle differs by less than 1,024. Records of a tree that is written
/// at once have near children. Those that it shares with other trees are far.
package struct RecordLayout {
    package static let checkSize = 8

    package enum Flag {
        package static let nameSpaceMask: UInt8 = 0b111
        package static let extensions: UInt8 = 1 << 3
        package static let ownShape: UInt8 = 1 << 4
        /// The lowest of the bits that name the value which ends the identifier.
        package static let tailShift: UInt8 = 5
    }

    package let nameSpace: NameSpace
    package let hasOwnShape: Bool
    package let shapeNumber: UInt64
    package let childCount: Int
    /// 0 if the identifier stands alone; else 1 more than the position of the value that ends it.
    let tailCode: UInt8

    /// Reads the header and leaves `reader` at the children.
    @inline(__always)
    package init(reading reader: inout ByteReader) throws(FormatError) {
        let flags = try reader.byte()
        guard let nameSpace = NameSpace(rawValue: flags & Flag.nameSpaceMask) else {
            throw .malformed("an unknown name space")
        }
        self.nameSpace = nameSpace
        hasOwnShape = flags & Flag.ownShape != 0
        tailCode = flags >> Flag.tailShift
        if flags & Flag.extensions != 0 { try reader.skip(try reader.count()) }
        shapeNumber = try reader.varint()
        childCount = try reader.count()
    }

    /// Reads the children into `children` and leaves `reader` at the payload.
    @inline(__always)
    package func readChildren(
        _ reader: inout ByteReader, of handle: Handle, into children: inout [Handle]
    ) throws(FormatError) {
        var last = handle.rawValue
        for _ in 0..<childCount {
            children.append(try Self.readChild(&reader, after: &last))
        }
    }

    /// Reads one child. `last` is the near child before, or the record.
    @inline(__always)
    private static func readChild(
        _ reader: inout ByteReader, after last: inout UInt64
    ) throws(FormatError) -> Handle {
        let code = try reader.varint()
        guard code & 1 == 0 else {
            return Handle(code == 1 ? try reader.integer(UInt64.self) : code >> 1)
        }
        let distance = code >> 1
        last &+= (distance >> 1) ^ (0 &- (distance & 1))
        return Handle(last)
    }

    /// The seed of the check of something under a handle. `shape` and `dictionary` are
    /// fingerprints, 0 where there is none.
    @inline(__always)
    package static func seed(handle: Handle, shape: UInt64 = 0, dictionary: UInt64 = 0) -> UInt64 {
        (handle.rawValue &* 0x9E37_79B9_7F4A_7C15) ^ shape ^ dictionary
    }
}

// MARK: - Writing

extension RecordLayout {
    /// The shape with which a record is written.
    package enum ShapeReference {
        case none
        case number(UInt64, Shape)
        /// The record carries the shape, because the table of shapes is full.
        case own(Shape)

        package var shape: Shape {
            switch self {
            case .none: Shape.none
            case .number(_, let shape), .own(let shape): shape
            }
        }
    }

    /// Appends a record to `writer`.
    package static func write(
        _ handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        identifier: String, values: ArraySlice<UInt8>, to writer: inout ByteWriter
    ) {
        let tail = nameSpace == .node ? splitIdentifier(identifier, in: values) : nil
        let flags = nameSpace.rawValue | UInt8((tail?.field ?? -1) + 1) << Flag.tailShift
        switch shape {
        case .none:
            writer.append(flags)
            writer.append(varint: 0)
        case .number(let number, _):
            writer.append(flags)
            writer.append(varint: number)
        case .own:
            writer.append(flags | Flag.ownShape)
            writer.append(varint: 0)
        }
        writer.append(varint: UInt64(children.count))
        var last = handle.rawValue
        for child in children { write(child.rawValue, after: &last, to: &writer) }
        if case .own(let shape) = shape { writer.append(shape.description) }
        if let tail {
            let prefix = identifier.utf8.prefix(tail.prefix)
            writer.append(value: String(decoding: prefix, as: UTF8.self))
        } else {
            writer.append(value: identifier)
        }
        writer.append(values)
    }

    /// Returns the bytes of a record.
    package static func build(
        handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        identifier: String, values: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        write(
            handle, nameSpace: nameSpace, shape: shape, children: children, identifier: identifier,
            values: values[...], to: &writer)
        return writer.bytes
    }

    private static func write(
        _ child: UInt64, after last: inout UInt64, to writer: inout ByteWriter
    ) {
        let distance = Int64(bitPattern: child &- last)
        if distance > -1_024, distance < 1_024 {
            writer.append(varint: UInt64(bitPattern: (distance << 1) ^ (distance >> 63)) << 1)
            last = child
        } else if child == 0 || child >> 63 != 0 {
            writer.append(varint: 1)
            writer.append(integer: child)
        } else {
            writer.append(varint: child << 1 | 1)
        }
    }
}
