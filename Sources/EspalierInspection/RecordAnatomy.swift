package import EspalierRecords

/// The stored bytes of one record, divided into their parts as far as damage allows.
///
///     chunks        the values under the record's handle: one, or the chunks of a long record
///     joined        the slices of the chunks, one after the other
///     parts         the ranges of version, flags, shape, ... in `joined`; the bytes behind damage
///                   are one part, `rest`
///     decompressed  the payload before compression
///
/// Any bytes have an anatomy. `problem` describes the first damage.
package struct RecordAnatomy: Sendable {
    /// A stored value.
    package struct Chunk: Sendable {
        package let number: UInt32
        package let bytes: [UInt8]
        /// The range of its slice of the record.
        package let slice: Range<Int>
        /// Whether the chunk's check matches; nil for a record of one value, which has only the
        /// check of the record.
        package let isIntact: Bool?
    }

    package enum PartName: String, Sendable, CaseIterable {
        case version, flags, extensions, shape, dictionary, children, payload, check
        /// The bytes behind the damage.
        case rest
    }

    package struct Part: Sendable, Equatable {
        package let name: PartName
        package let range: Range<Int>
    }

    package let handle: Handle
    package private(set) var chunks: [Chunk] = []
    /// The number of chunks that the first one states; nil for a record of one value.
    package private(set) var namedChunks: Int?
    package private(set) var joined: [UInt8] = []
    package private(set) var parts: [Part] = []
    package private(set) var version: UInt8?
    package private(set) var flags: UInt8?
    package private(set) var shapeNumber: UInt64?
    package private(set) var dictionaryNumber: UInt64?
    package private(set) var children: [Handle]?
    /// The record's shape, if it could be read.
    package private(set) var shape: Shape?
    /// The payload before compression; nil if it is stored uncompressed or can't be decompressed.
    package private(set) var decompressed: [UInt8]?
    /// A description of the first damage; nil for an intact record.
    package fileprivate(set) var problem: String?

    package var isChunked: Bool { namedChunks != nil }

    /// The stored bytes, all chunks together.
    package var storedByteCount: Int { chunks.reduce(0) { $0 + $1.bytes.count } }

    /// The bytes of the record before it was compressed and cut into chunks; nil if unknown.
    package var rawByteCount: Int? {
        guard let payload = part(.payload), let dictionaryNumber else { return nil }
        guard dictionaryNumber != 0 else { return joined.count }
        return decompressed.map { joined.count - payload.count + $0.count }
    }

    package func part(_ name: PartName) -> Range<Int>? { parts.first { $0.name == name }?.range }

    package var nameSpace: NameSpace? {
        flags.flatMap { NameSpace(rawValue: $0 & RecordLayout.Flag.nameSpaceMask) }
    }

    package var hasOwnShape: Bool { (flags ?? 0) & RecordLayout.Flag.ownShape != 0 }

    /// The names of the flags, the kind of the record first. Unknown bits are named by their
    /// number.
    package var flagNames: [String] {
        guard let flags else { return [] }
        var names = [
            nameSpace.map { "\($0)" } ?? "unknown kind \(flags & RecordLayout.Flag.nameSpaceMask)"
        ]
        if flags & RecordLayout.Flag.extensions != 0 { names.append("extensions") }
        if flags & RecordLayout.Flag.ownShape != 0 { names.append("own shape") }
        for bit in [5, 6] where flags & 1 << UInt8(bit) != 0 { names.append("unknown bit \(bit)") }
        if isChunked || flags & RecordLayout.Flag.chunked != 0 { names.append("chunked") }
        return names
    }
}

// MARK: - Dividing the bytes

// Each step stores what it found. The first one that fails makes the remaining bytes one part.
extension RecordAnatomy {
    /// Divides the bytes of a record.
    ///
    /// - Parameters:
    ///   - values: The values under the handle, with the numbers of their chunks.
    ///   - inspection: The inspection that finds shapes and dictionaries.
    fileprivate init(
        of handle: Handle, values: [(number: UInt32, bytes: [UInt8])], in inspection: Inspection
    ) {
        self.handle = handle
        join(values)
        readHeader()
        // Decodes the whole record as a read does, which finds damage that the division does not.
        do {
            try readPayload(inspection)
        } catch {
            report(error)
        }
    }

    private mutating func report(_ error: any Error) {
        problem = problem ?? (error as? FormatError).map(ReadFailure.detail) ?? "\(error)"
    }

    // MARK: Chunks

    private mutating func join(_ values: [(number: UInt32, bytes: [UInt8])]) {
        if let first = values.first?.bytes {
            // A single bit marks a record of several chunks, and damage may have set it.
            let count = try? ByteReader.reading(first) { try Chunks.count(&$0) }
            namedChunks = count ?? (values.count > 1 ? values.count : nil)
        }
        for (number, bytes) in values {
            guard isChunked else {
                chunks.append(
                    Chunk(number: number, bytes: bytes, slice: 0..<bytes.count, isIntact: nil))
                joined = bytes
                continue
            }
            let isIntact = Self.isIntact(bytes, number: number, handle: handle)
            if !isIntact {
                problem = problem ?? "chunk \(number) is damaged: the check does not match"
            }
            let end = max(0, bytes.count - RecordLayout.checkSize)
            let start = min(number == 0 ? Self.sliceStart(of: bytes) : 0, end)
            chunks.append(
                Chunk(number: number, bytes: bytes, slice: start..<end, isIntact: isIntact))
            joined += bytes[start..<end]
        }
        guard let namedChunks else { return }
        let found = Set(chunks.map { Int($0.number) })
        if let missing = (0..<namedChunks).prefix(1 << 16).first(where: { !found.contains($0) }) {
            problem = problem ?? "chunk \(missing) of \(namedChunks) is missing"
        }
    }

    private static func isIntact(_ bytes: [UInt8], number: UInt32, handle: Handle) -> Bool {
        var ignored = ByteWriter()
        return
            (try? ByteReader.reading(bytes) {
                try Chunks.join(&$0, number: Int(number), handle: handle, into: &ignored)
            }) != nil
    }

    private static func sliceStart(of first: [UInt8]) -> Int {
        ByteReader.reading(first) { reader in
            guard (try? reader.skip(2)) != nil, (try? reader.varint()) != nil else { return 0 }
            return reader.position
        }
    }

    // MARK: The record

    private mutating func readHeader() {
        let bytes = joined
        ByteReader.reading(bytes) { reader in
            do {
                try readHeader(&reader)
            } catch {
                report(error)
                let start = parts.last?.range.upperBound ?? 0
                if start < reader.end { parts.append(Part(name: .rest, range: start..<reader.end)) }
            }
        }
    }

    private mutating func readHeader(_ reader: inout ByteReader) throws {
        version = try part(.version, &reader) { try $0.byte() }
        guard version == RecordLayout.version else {
            throw FormatError.unknownVersion(version ?? 0)
        }
        let flags = try part(.flags, &reader) { try $0.byte() }
        self.flags = flags
        guard flags & RecordLayout.Flag.chunked == 0 else {
            throw FormatError.malformed("a chunk in place of a record")
        }
        if flags & RecordLayout.Flag.extensions != 0 {
            try part(.extensions, &reader) { try $0.skip(try $0.count()) }
        }
        shapeNumber = try part(.shape, &reader) { try $0.varint() }
        dictionaryNumber = try part(.dictionary, &reader) { try $0.varint() }
        let handle = handle
        children = try part(.children, &reader) { reader in
            try (0..<reader.count()).map { _ in
                Handle(handle.rawValue &+ UInt64(bitPattern: try reader.signedVarint()))
            }
        }
        let end = reader.end - RecordLayout.checkSize
        guard reader.position <= end else { throw FormatError.truncated }
        parts.append(Part(name: .payload, range: reader.position..<end))
        parts.append(Part(name: .check, range: end..<reader.end))
        guard nameSpace != nil else { throw FormatError.malformed("an unknown name space") }
    }

    private mutating func part<R>(
        _ name: PartName, _ reader: inout ByteReader, _ read: (inout ByteReader) throws -> R
    ) throws -> R {
        let start = reader.position
        let result = try read(&reader)
        parts.append(Part(name: name, range: start..<reader.position))
        return result
    }

    private mutating func readPayload(_ inspection: Inspection) throws {
        if !hasOwnShape, let shapeNumber {
            shape = shapeNumber == 0 ? Shape.none : try? inspection.shape(shapeNumber)
        }
        guard part(.payload) != nil else { return }
        try inspection.decompress(joined) { stored, decompressed in
            if dictionaryNumber != 0 { try keepPayload(of: decompressed.reader) }
            shape = try Record(
                reading: decompressed, storedAs: stored.end, handle: handle
            ) { try inspection.shape($0) }.shape
        }
    }

    private mutating func keepPayload(of decompressed: ByteReader) throws {
        var reader = decompressed
        let layout = try RecordLayout(reading: &reader)
        for _ in 0..<layout.childCount { _ = try reader.varint() }
        var payload = try layout.payload(reader)
        self.decompressed = try payload.bytes(count: payload.remaining)
    }
}

extension Inspection {
    /// Returns the anatomy of the bytes under a handle; nil if there are none.
    package func anatomy(of handle: Handle) throws -> RecordAnatomy? {
        let values = try values(of: handle)
        guard values.first?.number == 0 else { return nil }
        var anatomy = RecordAnatomy(of: handle, values: values, in: self)
        // A damaged dictionary makes the checks of all its records fail.
        if anatomy.problem != nil, let number = anatomy.dictionaryNumber,
            number > RecordLayout.noDictionary,
            let problem = try dictionary(number).problem
        {
            anatomy.problem = "dictionary \(number): \(problem)"
        }
        return anatomy
    }
}
