import EspalierRecords

/// The numbers that every commit moves on: what is handed out next, and what there is.
///
///     counters = count of fields (varint), fields (varints, in the order of `fields`), check (8 bytes)
///
/// A reader takes the fields it knows; a record with fewer has zeros for the rest.
struct Counters: Hashable, Sendable {
    var nextHandle: UInt64 = 1
    var nextShape: UInt64 = 1
    /// 1 stands for no dictionary.
    var nextDictionary: UInt64 = 2
    var stamp: UInt64 = 0
    // What there is.
    var nodes: UInt64 = 0
    var keys: UInt64 = 0
    var collections: UInt64 = 0
    var segments: UInt64 = 0
    var tombstones: UInt64 = 0
    var recordBytes: UInt64 = 0
    // What was done since the generation began.
    var writes: UInt64 = 0
    var deletes: UInt64 = 0
    var recordsWritten: UInt64 = 0
    var recordsUnchanged: UInt64 = 0
    var commits: UInt64 = 0
    /// Bytes of all records before they are compressed and cut into chunks.
    var rawBytes: UInt64 = 0
    /// Bytes of records written since the generation began, and of that when the last sweep began.
    var bytesWritten: UInt64 = 0
    var cyclesCollectedAt: UInt64 = 0
    /// What pinned records cost, at most.
    var pinnedBytes: UInt64 = 0
    /// What `bytesWritten` was when dictionaries were trained last; 0 when they never were.
    var trainedAt: UInt64 = 0
    /// What payloads then took of their raw bytes, in thousandths.
    var trainedRatio: UInt64 = 0
    /// Of payloads written since by those who compress: raw bytes and stored bytes.
    var rawSinceTraining: UInt64 = 0
    var storedSinceTraining: UInt64 = 0
    /// Where the sweep under way goes on; 0 when none is.
    var cycleScanHandle: UInt64 = 0

    /// All fields in the order in which they are stored; new ones go to the end. Not as key paths,
    /// which took a hundred times as long: every commit reads and writes them.
    private mutating func forEachField<E>(_ body: (inout UInt64) throws(E) -> Void) throws(E) {
        try body(&nextHandle)
        try body(&nextShape)
        try body(&nextDictionary)
        try body(&stamp)
        try body(&nodes)
        try body(&keys)
        try body(&collections)
        try body(&segments)
        try body(&tombstones)
        try body(&recordBytes)
        try body(&writes)
        try body(&deletes)
        try body(&recordsWritten)
        try body(&recordsUnchanged)
        try body(&commits)
        try body(&rawBytes)
        try body(&bytesWritten)
        try body(&cyclesCollectedAt)
        try body(&pinnedBytes)
        try body(&cycleScanHandle)
        try body(&trainedAt)
        try body(&trainedRatio)
        try body(&rawSinceTraining)
        try body(&storedSinceTraining)
    }

    private static let fieldCount = {
        var (counters, count) = (Counters(), 0)
        counters.forEachField { _ in count += 1 }
        return count
    }()

    static let key = [UInt8]("counters".utf8)

    /// Payloads that are too short to be compressed tell nothing of dictionaries.
    mutating func noteWritten(payload: Int, stored: Int) {
        guard payload >= RecordCompressor.shortest else { return }
        rawSinceTraining &+= UInt64(payload)
        storedSinceTraining &+= UInt64(stored)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append(varint: UInt64(Self.fieldCount))
        var copy = self
        copy.forEachField { writer.append(varint: $0) }
        writer.append(integer: writer.check(seed: 0))
        return writer.bytes
    }

    init() {}

    init(reading reader: inout ByteReader) throws(FormatError) {
        _ = try reader.verifiedEnd(seed: 0)
        var left = try reader.count()
        try forEachField { (field) throws(FormatError) in
            guard left > 0 else { return }
            left -= 1
            field = try reader.varint()
        }
    }

    /// How many records of the name space there are.
    subscript(count nameSpace: NameSpace) -> UInt64 {
        get {
            switch nameSpace {
            case .node: nodes
            case .key: keys
            case .collection: collections
            case .segment: segments
            }
        }
        set {
            switch nameSpace {
            case .node: nodes = newValue
            case .key: keys = newValue
            case .collection: collections = newValue
            case .segment: segments = newValue
            }
        }
    }
}
