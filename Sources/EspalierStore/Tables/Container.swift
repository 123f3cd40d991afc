import EspalierLMDB
import EspalierRecords

/// Frames of records that fill one page: a value of the keyspace `nodes`.
///
///     key       = handle (8 bytes): at most that of the first record
///     value     = directory, frames
///     directory = version, count of frames (varint), entries, check (4 bytes)
///     entry     = first handle less that of the frame before, or the key (varint), count of
///                 records (varint), length (varint)
///     frame     = dictionary (varint), content, check of the block (8 bytes)
///     content   = a block: raw if the dictionary is 0, else compressed, if it is 1 without a
///                 dictionary
///
/// LMDB stores a value of more than half a page on a page of its own, so a container dirties one
/// page. The directory has a check of its own: a damaged frame loses its records, and a damaged
/// directory those of the container.
struct Container {
    /// A frame in a container.
    struct Entry {
        let first: Handle
        /// The number of its records.
        let count: Int
        /// The bytes of the frame in the value.
        let range: Range<Int>
    }

    let entries: [Entry]

    /// Parses and verifies the directory.
    init(reading value: ByteReader, key: Handle) throws(FormatError) {
        var entries: [Entry] = []
        try Self.forEach(in: value, key: key) { entry in
            entries.append(entry)
            return true
        }
        self.entries = entries
    }

    /// Returns the frame in which a record stands if it is there; nil if all frames are behind it.
    static func entry(
        around handle: Handle, in value: ByteReader, key: Handle
    ) throws(FormatError) -> Entry? {
        var found: Entry?
        try forEach(in: value, key: key) { entry in
            guard entry.first <= handle else { return false }
            found = entry
            return true
        }
        return found
    }

    /// Calls `body` with each frame, until it returns false.
    private static func forEach(
        in value: ByteReader, key: Handle, _ body: (Entry) -> Bool
    ) throws(FormatError) {
        var reader = value
        let version = try reader.byte()
        guard version == Chunks.version else { throw .unknownVersion(version) }
        let count = try reader.count(ofAtLeast: 3 + RecordLayout.checkSize)
        var ahead = reader
        for _ in 0..<count {
            for _ in 0..<3 { _ = try ahead.varint() }
        }
        let check = value.check(of: 0..<ahead.position, seed: RecordLayout.seed(handle: key))
        guard try ahead.integer(UInt32.self) == UInt32(truncatingIfNeeded: check) else {
            throw .checkFailed
        }
        var (first, start) = (key.rawValue, ahead.position)
        for index in 0..<count {
            first &+= try reader.varint()
            let records = Int(clamping: try reader.varint())
            let length = try reader.varint()
            guard length <= UInt64(value.end - start), length > UInt64(RecordLayout.checkSize)
            else { throw .truncated }
            let end = start + Int(length)
            guard index < count - 1 || end == value.end else { throw .truncated }
            guard body(Entry(first: Handle(first), count: records, range: start..<end)) else {
                return
            }
            start = end
        }
    }

    /// A frame that is to be stored.
    struct Frame {
        let first: Handle
        let count: Int
        let bytes: ByteReader
    }

    /// The bytes of a directory without its entries, at most.
    static let headSize = 1 + 2 + 4

    /// Returns the bytes that a frame takes in a container. `last` is the first handle of the frame
    /// before, or the key.
    static func size(of frame: Frame, after last: Handle) -> Int {
        let distance = frame.first.rawValue &- last.rawValue
        return varintSize(distance) + varintSize(UInt64(frame.count))
            + varintSize(UInt64(frame.bytes.end)) + frame.bytes.end
    }

    private static func varintSize(_ value: UInt64) -> Int {
        max(1, (64 - value.leadingZeroBitCount + 6) / 7)
    }

    /// Replaces the content of `writer` by a container.
    static func write(_ frames: ArraySlice<Frame>, key: Handle, to writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(Chunks.version)
        writer.append(varint: UInt64(frames.count))
        var last = key.rawValue
        for frame in frames {
            writer.append(varint: frame.first.rawValue &- last)
            writer.append(varint: UInt64(frame.count))
            writer.append(varint: UInt64(frame.bytes.end))
            last = frame.first.rawValue
        }
        let check = writer.check(seed: RecordLayout.seed(handle: key))
        writer.append(integer: UInt32(truncatingIfNeeded: check))
        for frame in frames { frame.bytes.copy(0..<frame.bytes.end, into: &writer) }
    }
}
