/// Records that are compressed and checked together: about eight, in the order of their handles.
///
///     block   = count of shapes (varint), shapes, count of records (varint), entries, records
///     shape   = number (varint), the low 4 bytes of its fingerprint
///     entry   = handle less that of the record before (varint), length (varint)
///
/// The handle of the first record stands outside of the block, and so does the check: XXH64 of the
/// block, seeded with that handle and the fingerprint of the dictionary. `shapes` lists the shapes
/// whose numbers the records name, so that a record is never read with another shape.
///
/// A block in memory is immutable, and threads share it.
package final class RecordBlock: Sendable {
    /// The records of a block, at most.
    package static let recordLimit = 8
    /// The bytes of the records of a block, at most, if it has more than one.
    package static let byteLimit = 2_048

    package let first: Handle
    package let check: UInt64
    /// The bytes of the frame that holds the block, 0 if it is in none.
    package let frameByteCount: Int
    private let buffer: RecordBuffer
    private let entries: [Entry]
    private let shapes: [BlockShape]
    /// The shapes of `shapes` with which no record may be read.
    private let refused: [UInt64: FormatError]

    private struct Entry {
        /// The handle less that of the first record.
        let distance: UInt64
        let start: Int
        let end: Int
    }

    /// Parses and verifies a block.
    ///
    /// - Parameters:
    ///   - dictionary: The fingerprint of the dictionary with which the block was compressed, or 0.
    ///   - frameByteCount: The bytes of the frame that holds the block.
    ///   - lookUp: Returns the shape of a number; nil if there is none.
    package init(
        _ buffer: RecordBuffer, first: Handle, check: UInt64, dictionary: UInt64 = 0,
        frameByteCount: Int = 0, shapes lookUp: (UInt64) throws -> Shape?
    ) throws {
        var reader = buffer.reader
        let seed = RecordLayout.seed(handle: first, dictionary: dictionary)
        guard reader.check(of: 0..<reader.end, seed: seed) == check else {
            throw FormatError.checkFailed
        }
        let shapes = try Self.readShapes(&reader)
        entries = try Self.readEntries(&reader, first: first)
        var refused: [UInt64: FormatError] = [:]
        for shape in shapes {
            let found = try? lookUp(shape.number)
            guard let found else {
                refused[shape.number] = .unknownShape(shape.number)
                continue
            }
            if BlockShape(shape.number, found) != shape { refused[shape.number] = .checkFailed }
        }
        self.first = first
        self.check = check
        self.frameByteCount = frameByteCount
        self.buffer = buffer
        self.shapes = shapes
        self.refused = refused
    }

    private static func readShapes(
        _ reader: inout ByteReader
    ) throws(FormatError) -> [BlockShape] {
        var shapes: [BlockShape] = []
        for _ in 0..<(try reader.count(ofAtLeast: 5)) {
            shapes.append(
                BlockShape(
                    number: try reader.varint(), fingerprint: try reader.integer(UInt32.self)))
        }
        return shapes
    }

    private static func readEntries(
        _ reader: inout ByteReader, first: Handle
    ) throws(FormatError) -> [Entry] {
        let count = try reader.count(ofAtLeast: 2)
        guard count > 0 else { throw .malformed("a block without records") }
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        var (distance, end): (UInt64, Int) = (0, 0)
        for index in 0..<count {
            let step = try reader.varint()
            let (sum, overflow) = distance.addingReportingOverflow(step)
            guard (step == 0) == (index == 0), !overflow, sum <= UInt64.max - first.rawValue else {
                throw .malformed("handles that do not ascend")
            }
            let length = try reader.count()
            entries.append(Entry(distance: sum, start: end, end: end + length))
            (distance, end) = (sum, end + length)
        }
        let start = reader.position
        guard end == reader.remaining else { throw .truncated }
        return entries.map {
            Entry(distance: $0.distance, start: $0.start + start, end: $0.end + start)
        }
    }

    package var count: Int { entries.count }

    /// The bytes of the block in memory.
    package var byteCount: Int { buffer.count + entries.count * MemoryLayout<Entry>.stride + 160 }

    /// The bytes of the block as it was compressed.
    package var rawByteCount: Int { buffer.count }

    /// A copy of the block.
    package var rawBytes: [UInt8] {
        var writer = ByteWriter(capacity: buffer.count)
        buffer.reader.copy(0..<buffer.count, into: &writer)
        return writer.bytes
    }

    /// The bytes of the records.
    package var recordByteCount: Int { entries.reduce(0) { $0 + $1.end - $1.start } }

    /// Whether every record can be read with its shape.
    package var isWhole: Bool { refused.isEmpty }

    package func handle(at index: Int) -> Handle {
        Handle(first.rawValue + entries[index].distance)
    }

    package var handles: [Handle] { entries.indices.map(handle) }

    /// Returns the share that a record has of the frame's bytes. The shares of all records add up
    /// to the frame.
    package func storedByteCount(at index: Int) -> Int {
        let start = entries[0].start
        let length = entries[entries.count - 1].end - start
        // The check of a record refuses an empty one.
        guard length > 0 else { return frameByteCount / entries.count }
        let before = (entries[index].start - start) * frameByteCount / length
        return (entries[index].end - start) * frameByteCount / length - before
    }

    /// The handle of the last record.
    package var last: Handle { handle(at: entries.count - 1) }

    /// Returns the bytes of a record, lent as long as the block lives; nil if it is not there.
    @inline(__always)
    package func record(_ handle: Handle) throws(FormatError) -> ByteReader? {
        guard let index = index(of: handle) else { return nil }
        return try record(at: index)
    }

    @inline(__always)
    package func index(of handle: Handle) -> Int? {
        let distance = handle.rawValue &- first.rawValue
        // In most blocks the handles are consecutive.
        if distance < UInt64(entries.count), entries[Int(distance)].distance == distance {
            return Int(distance)
        }
        return entries.firstIndex { $0.distance == distance }
    }

    @inline(__always)
    package func record(at index: Int) throws(FormatError) -> ByteReader {
        let record = bytes(at: index)
        guard refused.isEmpty else { return try checked(record) }
        return record
    }

    /// Returns the bytes of a record, whether or not its shape is there.
    package func bytes(at index: Int) -> ByteReader {
        buffer.reader.slice(entries[index].start..<entries[index].end)
    }

    @inline(never)
    private func checked(_ record: ByteReader) throws(FormatError) -> ByteReader {
        var reader = record
        if let error = refused[try RecordLayout(reading: &reader).shapeNumber] { throw error }
        return record
    }

    /// Returns the record as another block can take it over.
    package func blockRecord(at index: Int) throws(FormatError) -> BlockRecord {
        let bytes = bytes(at: index)
        var reader = bytes
        let number = try RecordLayout(reading: &reader).shapeNumber
        return BlockRecord(
            handle: handle(at: index), bytes: bytes,
            shape: shapes.first { $0.number == number } ?? .none)
    }
}

/// A shape as a block names it: its number, and a part of its fingerprint.
package struct BlockShape: Hashable, Sendable {
    let number: UInt64
    let fingerprint: UInt32

    /// No shape, or the record's own.
    package static let none = BlockShape(number: 0, fingerprint: 0)

    fileprivate init(number: UInt64, fingerprint: UInt32) {
        self.number = number
        self.fingerprint = fingerprint
    }

    package init(_ number: UInt64, _ shape: Shape) {
        self.number = number
        fingerprint = UInt32(truncatingIfNeeded: shape.fingerprint)
    }

    package init(_ reference: RecordLayout.ShapeReference) {
        self =
            if case .number(let number, let shape) = reference { BlockShape(number, shape) } else {
                .none
            }
    }
}

/// A record that is to be stored in a block. Its bytes are lent.
package struct BlockRecord {
    package let handle: Handle
    package let bytes: ByteReader
    package let shape: BlockShape

    package init(handle: Handle, bytes: ByteReader, shape: BlockShape) {
        self.handle = handle
        self.bytes = bytes
        self.shape = shape
    }
}

extension RecordBlock {
    /// Replaces the content of `writer` by a block of `records`, whose handles ascend.
    package static func write(_ records: ArraySlice<BlockRecord>, to writer: inout ByteWriter) {
        writer.removeAll()
        var shapes: [BlockShape] = []
        for record in records where record.shape.number != 0 && !shapes.contains(record.shape) {
            shapes.append(record.shape)
        }
        // In the same order in every block, which compresses better.
        shapes.sort { $0.number < $1.number }
        writer.append(varint: UInt64(shapes.count))
        for shape in shapes {
            writer.append(varint: shape.number)
            writer.append(integer: shape.fingerprint)
        }
        writer.append(varint: UInt64(records.count))
        var last = records.first?.handle.rawValue ?? 0
        for record in records {
            writer.append(varint: record.handle.rawValue &- last)
            writer.append(varint: UInt64(record.bytes.end))
            last = record.handle.rawValue
        }
        for record in records { record.bytes.copy(0..<record.bytes.end, into: &writer) }
    }
}
