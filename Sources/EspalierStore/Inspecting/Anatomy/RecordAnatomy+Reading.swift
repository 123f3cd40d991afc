import EspalierRecords

// Taking bytes apart: every step leaves what it found, and the first that fails leaves the rest as
// one part.
extension RecordAnatomy {
    /// - Parameters:
    ///   - values: what stands under the handle, with chunk numbers.
    ///   - shapes: the shape of a number.
    init(
        of handle: Handle, values: [(number: UInt32, bytes: [UInt8])],
        by decompressor: RecordDecompressor,
        shapes: (UInt64) throws -> Shape?
    ) {
        self.init(handle: handle)
        join(values)
        readHeader()
        // The whole way of a read, which finds what taking apart does not.
        do {
            try readPayload(by: decompressor, shapes)
        } catch {
            note(error)
        }
    }

    private mutating func note(_ error: any Error) {
        problem = problem ?? (error as? FormatError).map(ReadFailure.detail) ?? "\(error)"
    }

    // MARK: Chunks

    private mutating func join(_ values: [(number: UInt32, bytes: [UInt8])]) {
        if let first = values.first?.bytes {
            // Nothing but the bit says so, which may be damage.
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
        noteMissingChunks()
    }

    private mutating func noteMissingChunks() {
        guard let namedChunks else { return }
        let missing = Set((0..<namedChunks).prefix(1 << 16)).subtracting(
            chunks.map { Int($0.number) })
        if let first = missing.min() {
            problem = problem ?? "chunk \(first) of \(namedChunks) is missing"
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
                note(error)
                let start = parts.last?.range.upperBound ?? 0
                if start < reader.end { parts.append(Part(name: .rest, range: start..<reader.end)) }
            }
        }
    }

    private mutating func readHeader(_ reader: inout ByteReader) throws(FormatError) {
        version = try part(.version, &reader) { reader throws(FormatError) in try reader.byte() }
        guard version == RecordLayout.version else { throw .unknownVersion(version ?? 0) }
        let flags = try part(.flags, &reader) { reader throws(FormatError) in try reader.byte() }
        self.flags = flags
        guard flags & RecordLayout.Flag.chunked == 0 else {
            throw .malformed("a chunk in place of a record")
        }
        if flags & RecordLayout.Flag.extensions != 0 {
            try part(.extensions, &reader) { reader throws(FormatError) in
                try reader.skip(try reader.count())
            }
        }
        shapeNumber = try part(.shape, &reader) { reader throws(FormatError) in try reader.varint()
        }
        dictionaryNumber = try part(.dictionary, &reader) { reader throws(FormatError) in
            try reader.varint()
        }
        let handle = handle
        children = try part(.children, &reader) { reader throws(FormatError) in
            var children: [Handle] = []
            for _ in 0..<(try reader.count()) {
                children.append(
                    Handle(handle.rawValue &+ UInt64(bitPattern: try reader.signedVarint())))
            }
            return children
        }
        let end = reader.end - RecordLayout.checkSize
        guard reader.position <= end else { throw .truncated }
        parts.append(Part(name: .payload, range: reader.position..<end))
        parts.append(Part(name: .check, range: end..<reader.end))
        guard nameSpace != nil else { throw .malformed("an unknown name space") }
    }

    private mutating func part<R>(
        _ name: PartName, _ reader: inout ByteReader,
        _ read: (inout ByteReader) throws(FormatError) -> R
    ) throws(FormatError) -> R {
        let start = reader.position
        let result = try read(&reader)
        parts.append(Part(name: name, range: start..<reader.position))
        return result
    }

    private mutating func readPayload(
        by decompressor: RecordDecompressor, _ shapes: (UInt64) throws -> Shape?
    ) throws {
        if !hasOwnShape, let shapeNumber {
            shape = shapeNumber == 0 ? Shape.none : try? shapes(shapeNumber)
        }
        guard part(.payload) != nil else { return }
        let bytes = joined
        try ByteReader.reading(bytes) { stored in
            decompressor.arena.removeAll()
            let decompressed = try RecordLayout.decompress(
                stored, by: decompressor, in: decompressor.arena)
            if dictionaryNumber != 0 { try keepPayload(of: decompressed.reader) }
            shape = try Record(
                reading: decompressed, storedAs: stored.end, handle: handle, shapes: shapes
            ).shape
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
