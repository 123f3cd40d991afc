/// The layout of a record.
///
///     record     = version, flags, [extensions], shape, dictionary, children, payload, check
///     version    = one byte, 1
///     flags      = one byte: bits 0-2 name space, bit 3 extensions follow, bit 4 the payload
///                  starts with its own shape, bit 7 the value is the first chunk of a long record
///     extensions = length (varint), that many bytes; unknown ones are skipped
///     shape      = number (varint), 0 where there is none
///     dictionary = number (varint), 0 where the payload is raw, 1 where it is compressed without
///                  a dictionary
///     children   = count (varint), then a signed varint each: the child's handle less the
///                  record's own
///     payload    = [shape description,] identifier (a string value), then a value per field; as a
///                  `Frame` where it is compressed
///     check      = XXH64, big-endian, of everything before it, the payload uncompressed, seeded
///                  with handle and fingerprints
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

    /// Reads the header and leaves `reader` at the children. Does not verify the record.
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

    /// Returns a reader of the payload. `reader` stands at it.
    @inline(__always)
    package func payload(_ reader: ByteReader) throws(FormatError) -> ByteReader {
        let end = reader.end - Self.checkSize
        guard reader.position <= end else { throw .truncated }
        return reader.limited(to: end)
    }

    /// Throws unless the check matches. `shape` and `dictionary` are the fingerprints of the shape
    /// and the dictionary that the record names by number; 0 stands for no dictionary.
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

    /// A payload in its compressed form.
    package struct CompressedPayload {
        package let dictionary: (number: UInt64, fingerprint: UInt64)
        let frame: ArraySlice<UInt8>
        /// The number of bytes by which the frame is shorter than the payload.
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

    /// Returns the part of a record that is compressed. `content` holds identifier and values.
    package static func payload(_ content: [UInt8], shape: ShapeReference) -> [UInt8] {
        guard case .own(let shape) = shape else { return content }
        return shape.description + content
    }

    /// Returns the bytes of a record. `content` holds identifier and values; `compressed` is the
    /// form in which the payload is stored if not raw.
    package static func build(
        handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        payload content: [UInt8], compressed: CompressedPayload? = nil
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

    /// Returns the bytes of a record with a raw payload, without making the payload first.
    package static func build(
        handle: Handle, nameSpace: NameSpace, shape: ShapeReference, children: [Handle],
        identifier: String, values: ArraySlice<UInt8>
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

// MARK: - Decompression

/// Decompresses payloads. This module does not depend on a compression library, so a caller
/// supplies the decompressor.
package protocol PayloadDecompressor: AnyObject {
    /// Loads a payload that was compressed with the dictionary of that number. Returns the length
    /// that the payload claims, checked against the longest payload, and the dictionary's
    /// fingerprint.
    func load(_ payload: RawSpan, dictionary number: UInt64) throws -> (
        byteCount: Int, fingerprint: UInt64
    )

    /// Decompresses the payload loaded last into as many bytes as it claimed.
    func decompress(into output: inout MutableRawSpan) throws
}

/// A record with its payload as it was before it was compressed.
package struct DecompressedRecord {
    /// Valid as long as the arena that holds the bytes.
    package internal(set) var reader: ByteReader
    /// The fingerprint of the dictionary, which is part of the check's seed; 0 for no dictionary.
    package let dictionary: UInt64

    package init(reader: ByteReader, dictionary: UInt64) {
        self.reader = reader
        self.dictionary = dictionary
    }
}

extension RecordLayout {
    /// The number that stands for compression without a dictionary.
    package static let noDictionary: UInt64 = 1

    /// Returns a stored record with its payload decompressed; a raw record as it is.
    package static func decompress(
        _ stored: ByteReader, by decompressor: some PayloadDecompressor, in arena: RecordArena
    ) throws -> DecompressedRecord {
        try decompress(stored) { try $1.decompress($0, by: decompressor, in: arena) }
    }

    /// Returns a stored record with its payload decompressed by `decompress`, which is called only
    /// for a compressed record.
    static func decompress(
        _ stored: ByteReader, by decompress: (ByteReader, RecordLayout) throws -> DecompressedRecord
    ) throws -> DecompressedRecord {
        var reader = stored
        let layout = try RecordLayout(reading: &reader)
        guard layout.dictionaryNumber != 0 else {
            return DecompressedRecord(reader: stored, dictionary: 0)
        }
        for _ in 0..<layout.childCount { _ = try reader.varint() }
        var decompressed = try decompress(reader, layout)
        decompressed.reader.position = stored.position
        return decompressed
    }

    /// Returns a compressed record with its payload decompressed. `reader` stands at the payload,
    /// and so does the reader returned.
    package func decompress(
        _ reader: ByteReader, by decompressor: some PayloadDecompressor, in arena: RecordArena
    ) throws -> DecompressedRecord {
        let payload = reader.position..<(try self.payload(reader).end)
        let claim = try reader.withBytes(payload) {
            try decompressor.load($0, dictionary: dictionaryNumber)
        }
        var decompressed = try arena.copy(reader, with: claim.byteCount, inPlaceOf: payload) {
            try decompressor.decompress(into: &$0)
        }
        decompressed.position = payload.lowerBound
        return DecompressedRecord(reader: decompressed, dictionary: claim.fingerprint)
    }
}
