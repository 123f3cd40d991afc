/// Where the parts of a record stand.
///
///     record     = version, flags, [extensions], shape, dictionary, children, payload, check
///     version    = one byte, 1
///     flags      = one byte: bits 0-2 name space, bit 3 extensions follow, bit 4 the payload starts with its own shape,
///                  bit 7 the value is the first chunk of a long record
///     extensions = length (varint), that many bytes; unknown ones are skipped
///     shape      = number (varint), 0 where there is none
///     dictionary = number (varint), 0 where the payload is raw, 1 where it is compressed without a dictionary
///     children   = count (varint), then a signed varint each: the child's handle less the record's own
///     payload    = [shape description,] identifier (a string value), then a value per field; as a `Frame` where it is
///                  compressed
///     check      = XXH64, big-endian, of everything before it, the payload uncompressed, seeded with handle and fingerprints
package struct RecordLayout {
    package static let version: UInt8 = 1
    package static let checkSize = 8

    package enum Flag {
        package static let nameSpaceMask: UInt8 = 0b111
        package static let extensions: UInt8 = 1 << 3
        package static let ownShape: UInt8 = 1 << 4
        package static let chunked: UInt8 = 1 << 7
    }

    package let nameSpace: NameSpace
    package let hasOwnShape: Bool
    package let shapeNumber: UInt64
    package let dictionaryNumber: UInt64
    package let childCount: Int

    /// Reads the header and leaves `reader` at the children. Nothing is verified yet.
    @inline(__always)
    package init(reading reader: inout ByteReader) throws(FormatError) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let flags = try reader.byte()
        guard flags & Flag.chunked == 0 else { throw .malformed("a chunk in place of a record") }
        guard let nameSpace = NameSpace(rawValue: flags & Flag.nameSpaceMask) else {
            throw .malformed("an unknown name space")
        }
        self.nameSpace = nameSpace
        hasOwnShape = flags & Flag.ownShape != 0
        if flags & Flag.extensions != 0 { try reader.skip(try reader.count()) }
        shapeNumber = try reader.varint()
        dictionaryNumber = try reader.varint()
        childCount = try reader.count()
    }

    /// Reads the children into `children` and leaves `reader` at the payload.
    @inline(__always)
    package func readChildren(
        _ reader: inout ByteReader, of handle: Handle, into children: inout [Handle]
    ) throws(FormatError) {
        for _ in 0..<childCount {
            children.append(
                Handle(handle.rawValue &+ UInt64(bitPattern: try reader.signedVarint())))
        }
    }

    /// A reader of the payload, for one that stands at it.
    @inline(__always)
    package func payload(_ reader: ByteReader) throws(FormatError) -> ByteReader {
        let end = reader.end - Self.checkSize
        guard reader.position <= end else { throw .truncated }
        return reader.limited(to: end)
    }

    /// Throws unless the check matches. `shape` and `dictionary` are the fingerprints of what the
    /// record names by number; no dictionary has 0.
    @inline(__always)
    package func verify(
        _ reader: ByteReader, handle: Handle, shape: UInt64, dictionary: UInt64
    ) throws(FormatError) {
        _ = try reader.verifiedEnd(
            seed: Self.seed(handle: handle, shape: shape, dictionary: dictionary))
    }

    @inline(__always)
    package static func seed(handle: Handle, shape: UInt64, dictionary: UInt64 = 0) -> UInt64 {
        (handle.rawValue &* 0x9E37_79B9_7F4A_7C15) ^ shape ^ dictionary
    }
}

extension RecordLayout {
    /// The shape a record is written with.
    package enum ShapeReference {
        case none
        case number(UInt64, Shape)
        /// The record carries the shape itself, because the table of shapes is full.
        case own(Shape)

        package var shape: Shape {
            switch self {
            case .none: Shape.none
            case .number(_, let shape), .own(let shape): shape
            }
        }
    }

    /// A payload as it is stored where compressing it pays.
    package struct CompressedPayload {
        package let dictionary: (number: UInt64, fingerprint: UInt64)
        let frame: ArraySlice<UInt8>
        /// Bytes fewer than the payload has.
        package let savedBytes: Int

        package init(
            dictionary number: UInt64, fingerprint: UInt64, frame: ArraySlice<UInt8>,
            of payload: [UInt8]
        ) {
            dictionary = (number, fingerprint)
            self.frame = frame
            savedBytes = payload.count - frame.count
        }
    }

    /// What of a record is compressed, if it is. `content` holds identifier and values.
    package static func payload(_ content: [UInt8], shape: ShapeReference) -> [UInt8] {
        guard case .own(let shape) = shape else { return content }
        return shape.description + content
    }

    /// The bytes of a record. `content` holds identifier and values; `compressed` is what the
    /// payload is stored as, if not raw.
    package static func build(
        handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        payload content: [UInt8],
        compressed: CompressedPayload? = nil
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: content.count + children.count * 3 + 24)
        append(
            handle, nameSpace, shape, children, dictionary: compressed?.dictionary.number ?? 0,
            to: &writer)
        let head = writer.count
        writer.append(payload(content, shape: shape))
        let check = writer.check(
            seed: seed(
                handle: handle, shape: shape.shape.fingerprint,
                dictionary: compressed?.dictionary.fingerprint ?? 0))
        if let compressed {
            writer.truncate(to: head)
            writer.append(compressed.frame)
        }
        writer.append(integer: check)
        return writer.bytes
    }

    /// The same for a raw payload, which is not made first.
    package static func build(
        handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        identifier: String,
        values: ArraySlice<UInt8>
    ) -> [UInt8] {
        var writer = ByteWriter(
            capacity: identifier.utf8.count + values.count + children.count * 3 + 24)
        append(handle, nameSpace, shape, children, dictionary: 0, to: &writer)
        if case .own(let shape) = shape { writer.append(shape.description) }
        writer.append(value: identifier)
        writer.append(values)
        writer.append(
            integer: writer.check(seed: seed(handle: handle, shape: shape.shape.fingerprint)))
        return writer.bytes
    }

    private static func append(
        _ handle: Handle, _ nameSpace: NameSpace, _ shape: ShapeReference, _ children: [Handle],
        dictionary: UInt64, to writer: inout ByteWriter
    ) {
        writer.append(version)
        switch shape {
        case .none:
            writer.append(nameSpace.rawValue)
            writer.append(varint: 0)
        case .number(let number, _):
            writer.append(nameSpace.rawValue)
            writer.append(varint: number)
        case .own:
            writer.append(nameSpace.rawValue | Flag.ownShape)
            writer.append(varint: 0)
        }
        writer.append(varint: dictionary)
        writer.append(varint: UInt64(children.count))
        for child in children {
            writer.append(signedVarint: Int64(bitPattern: child.rawValue &- handle.rawValue))
        }
    }
}
