import EspalierLMDB
package import EspalierRecords
import EspalierStore

/// Where one record is stored, and its bytes, divided into their parts as far as damage allows.
///
///     container   the value of `nodes` that holds the record's frame; none for a long record
///     chunks      the values of `long` that hold the frame of a long record
///     frame       dictionary, content, and check of the block
///     record      the record in the decompressed block, by part: flags, shape, children, payload
///
/// Any bytes have an anatomy. `problem` describes the first damage. Where a frame can't be read,
/// the record has no bytes.
package struct RecordAnatomy: Sendable {
    /// The container of a record.
    package struct Place: Sendable {
        /// The key of the container.
        package let key: Handle
        package let byteCount: Int
        /// The number of its frames, and which of them has the record; nil if it is damaged.
        package fileprivate(set) var frameCount: Int?
        package fileprivate(set) var frameIndex: Int?
    }

    /// A stored chunk.
    package struct Chunk: Sendable {
        package let number: UInt32
        package let bytes: [UInt8]
        /// The range of its slice of the frame.
        package let slice: Range<Int>
        package let isIntact: Bool
    }

    package enum PartName: String, Sendable, CaseIterable {
        case flags, extensions, shape, children, payload
        /// The bytes behind the damage.
        case rest
    }

    package struct Part: Sendable, Equatable {
        package let name: PartName
        package let range: Range<Int>
    }

    package let handle: Handle
    package private(set) var place: Place?
    package private(set) var chunks: [Chunk] = []
    /// The number of chunks that the first one states; nil for a record in a container.
    package private(set) var namedChunks: Int?
    /// The frame as stored; empty if there is none.
    package private(set) var frame: [UInt8] = []
    /// The first handle of the frame.
    package private(set) var first: Handle?
    /// The number of the records in the block; nil if it can't be read.
    package private(set) var blockCount: Int?
    package private(set) var dictionaryNumber: UInt64?
    /// The bytes of the record; empty if its block can't be read.
    package private(set) var bytes: [UInt8] = []
    package private(set) var parts: [Part] = []
    package private(set) var flags: UInt8?
    package private(set) var shapeNumber: UInt64?
    package private(set) var children: [Handle]?
    /// The record's shape, if it could be read.
    package private(set) var shape: Shape?
    /// A description of the first damage; nil for an intact record.
    package fileprivate(set) var problem: String?

    package var isLong: Bool { namedChunks != nil }

    /// The bytes that the record takes: its share of the frame, or its chunks.
    package private(set) var storedByteCount = 0

    /// The bytes of the record before compression; nil if unknown.
    package var rawByteCount: Int? { bytes.isEmpty ? nil : bytes.count }

    package func part(_ name: PartName) -> Range<Int>? { parts.first { $0.name == name }?.range }

    package var nameSpace: NameSpace? {
        flags.flatMap { NameSpace(rawValue: $0 & RecordLayout.Flag.nameSpaceMask) }
    }

    package var hasOwnShape: Bool { (flags ?? 0) & RecordLayout.Flag.ownShape != 0 }

    /// The names of the flags, the kind of the record first, the tail of the identifier last.
    package var flagNames: [String] {
        guard let flags else { return [] }
        var names = [
            nameSpace.map { "\($0)" } ?? "unknown kind \(flags & RecordLayout.Flag.nameSpaceMask)"
        ]
        if flags & RecordLayout.Flag.extensions != 0 { names.append("extensions") }
        if flags & RecordLayout.Flag.ownShape != 0 { names.append("own shape") }
        let tail = flags >> RecordLayout.Flag.tailShift
        if tail != 0 { names.append("tail \(tail)") }
        return names
    }
}

// Each step stores what it found. The first one that fails ends the division.
extension RecordAnatomy {
    fileprivate init?(of handle: Handle, in inspection: Inspection) throws {
        self.handle = handle
        let chunks = try inspection.snapshot.longChunks(inspection.keyspaces, handle)
        if chunks.isEmpty {
            guard try findFrame(inspection) else { return nil }
        } else {
            join(chunks)
            first = handle
        }
        storedByteCount = try inspection.storedByteCount(of: handle) ?? 0
        guard let first, !frame.isEmpty else { return }
        dictionaryNumber = try? ByteReader.reading(frame) { try $0.varint() }
        do {
            let block = try inspection.stored.decode(frame, first: first)
            guard let index = block.index(of: handle) else { return nil }
            blockCount = block.count
            read(block.bytes(at: index))
            _ = try block.record(at: index)
            shape = try inspection.stored.record(handle)?.shape
        } catch {
            report(error)
        }
    }

    private mutating func report(_ error: any Error) {
        problem = problem ?? (error as? FormatError).map(ReadFailure.detail) ?? "\(error)"
    }

    // MARK: Containers

    /// Finds the frame in which the record stands if it is there. Returns false if there is none.
    private mutating func findFrame(_ inspection: Inspection) throws -> Bool {
        guard let found = try inspection.stored.container(around: handle) else { return false }
        place = Place(key: found.key, byteCount: found.value.count)
        do {
            let frames = try inspection.stored.frames(of: found.value, key: found.key)
            place?.frameCount = frames.count
            guard let index = frames.lastIndex(where: { $0.first <= handle }) else { return false }
            place?.frameIndex = index
            first = frames[index].first
            frame = Array(found.value[frames[index].range])
        } catch {
            report(error)
        }
        return true
    }

    // MARK: Chunks

    private mutating func join(_ values: [(number: UInt32, bytes: [UInt8])]) {
        let named = values.first.flatMap { first in
            first.number == 0 ? try? first.bytes.withRawSpan(Chunks.count) : nil
        }
        namedChunks = named ?? values.count
        for (number, bytes) in values {
            let isIntact = Self.isIntact(bytes, number: number, handle: handle)
            if !isIntact {
                problem = problem ?? "chunk \(number) is damaged: the check does not match"
            }
            let end = max(0, bytes.count - RecordLayout.checkSize)
            let start = min(number == 0 ? Self.sliceStart(of: bytes) : 0, end)
            chunks.append(
                Chunk(number: number, bytes: bytes, slice: start..<end, isIntact: isIntact))
            frame += bytes[start..<end]
        }
        let found = Set(chunks.map { Int($0.number) })
        if let namedChunks,
            let missing = (0..<namedChunks).prefix(1 << 16).first(where: { !found.contains($0) })
        {
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
            guard (try? reader.skip(1)) != nil, (try? reader.varint()) != nil else { return 0 }
            return reader.position
        }
    }

    // MARK: The record

    /// Divides the bytes of the record, which were verified with their block.
    private mutating func read(_ record: ByteReader) {
        var reader = record
        bytes = (try? reader.bytes(count: reader.end)) ?? []
        reader.position = 0
        do {
            try readHeader(&reader)
        } catch {
            report(error)
            let start = parts.last?.range.upperBound ?? 0
            if start < reader.end { parts.append(Part(name: .rest, range: start..<reader.end)) }
        }
    }

    private mutating func readHeader(_ reader: inout ByteReader) throws {
        let flags = try part(.flags, &reader) { try $0.byte() }
        self.flags = flags
        if flags & RecordLayout.Flag.extensions != 0 {
            try part(.extensions, &reader) { try $0.skip(try $0.count()) }
        }
        shapeNumber = try part(.shape, &reader) { try $0.varint() }
        if shapeNumber == 0, !hasOwnShape { shape = Shape.none }
        var again = reader
        again.position = 0
        let layout = try RecordLayout(reading: &again)
        let start = reader.position
        var children: [Handle] = []
        try layout.readChildren(&again, of: handle, into: &children)
        self.children = children
        parts.append(Part(name: .children, range: start..<again.position))
        parts.append(Part(name: .payload, range: again.position..<again.end))
    }

    private mutating func part<R>(
        _ name: PartName, _ reader: inout ByteReader, _ read: (inout ByteReader) throws -> R
    ) throws -> R {
        let start = reader.position
        let result = try read(&reader)
        parts.append(Part(name: name, range: start..<reader.position))
        return result
    }
}

extension Inspection {
    /// Returns the anatomy of the record under a handle; nil if there is none.
    package func anatomy(of handle: Handle) throws -> RecordAnatomy? {
        guard var anatomy = try RecordAnatomy(of: handle, in: self) else { return nil }
        // A damaged dictionary makes the checks of all its frames fail.
        if anatomy.problem != nil, let number = anatomy.dictionaryNumber,
            number > FrameDecoder.noDictionary, let problem = try dictionary(number).problem
        {
            anatomy.problem = "dictionary \(number): \(problem)"
        }
        return anatomy
    }
}
