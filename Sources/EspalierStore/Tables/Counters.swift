import EspalierConfinement
package import EspalierLMDB
import EspalierRecords
import Synchronization

/// The numbers that every commit changes: the next free handle and numbers, and the size of the
/// cache.
///
///     counters = count of fields (varint), fields (varints), check (8 bytes)
///
/// The fields stand in the order of `forEachField`. A reader takes the fields that it knows; fields
/// that the stored value lacks are zero.
package struct Counters: Hashable, Sendable {
    package var nextHandle: UInt64 = 1
    var nextShape: UInt64 = 1
    /// Number 1 stands for "no dictionary".
    var nextDictionary: UInt64 = 2
    package var stamp: UInt64 = 0

    // How much there is.
    var nodes: UInt64 = 0
    var keys: UInt64 = 0
    var collections: UInt64 = 0
    var segments: UInt64 = 0
    var tombstones: UInt64 = 0
    /// Bytes of all records as stored.
    package var recordBytes: UInt64 = 0
    /// Bytes of all records before compression.
    var rawBytes: UInt64 = 0

    // What was done since the generation began.
    var writes: UInt64 = 0
    var deletes: UInt64 = 0
    var recordsWritten: UInt64 = 0
    var recordsUnchanged: UInt64 = 0
    var commits: UInt64 = 0
    var bytesWritten: UInt64 = 0

    /// The cost of pinned records in bytes. It may include records that are not pinned any more.
    package var pinnedBytes: UInt64 = 0

    /// `bytesWritten` when the last scan for cycles began.
    var cyclesCollectedAt: UInt64 = 0
    /// The handle at which the running scan for cycles goes on; 0 while no scan runs.
    var cycleScanHandle: UInt64 = 0

    /// `bytesWritten` at the last training of dictionaries; 0 before the first.
    var trainedAt: UInt64 = 0
    /// Stored bytes of payloads in thousandths of their raw bytes, measured at the last training.
    var trainedRatio: UInt64 = 0
    /// Raw and stored bytes of payloads that were written since the last training.
    var rawSinceTraining: UInt64 = 0
    var storedSinceTraining: UInt64 = 0

    /// How often a record on a large cycle was detached from its children.
    package var detachments: UInt64 = 0

    /// Visits all fields in the order in which they are stored. A new field goes to the end.
    ///
    /// Visiting a list of key paths took a hundred times as long, and every commit reads and writes
    /// the fields.
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
        try body(&detachments)
    }

    private static let fieldCount = {
        var (counters, count) = (Counters(), 0)
        counters.forEachField { _ in count += 1 }
        return count
    }()

    static let key = [UInt8]("counters".utf8)

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

    /// The number of records in a name space.
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

    /// Counts a payload that was written. A payload too short for compression says nothing about
    /// dictionaries and is left out.
    mutating func countWritten(raw: Int, stored: Int) {
        guard raw >= BlockCompressor.shortest else { return }
        rawSinceTraining &+= UInt64(raw)
        storedSinceTraining &+= UInt64(stored)
    }
}

/// The counters as one transaction changes them. The tables of the transaction share them.
///
/// Confined to the thread that commits.
final class CounterTable {
    private let counters: Confined<Counters>

    var value: Counters {
        _read { yield counters.value }
        _modify { yield &counters.value }
    }

    /// Whether a handle was given out before. An index entry with another handle is damaged.
    func isGivenOut(_ handle: Handle) -> Bool {
        (1..<counters.value.nextHandle).contains(handle.rawValue)
    }

    init(loading transaction: borrowing WriteTransaction, _ keyspaces: Keyspaces) throws {
        counters = Confined(try transaction.counters(keyspaces))
    }

    func flush(_ transaction: inout WriteTransaction, _ keyspaces: Keyspaces) throws {
        try transaction.put(keyspaces.info, Counters.key, counters.value.bytes)
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the stored counters.
    ///
    /// A generation is created with counters, so their absence is damage. Counting from 1 again
    /// would give new records the handles of old ones.
    package func counters(_ keyspaces: Keyspaces) throws -> Counters {
        let counters = try withValue(keyspaces.info, Counters.key) { span in
            try ByteReader.reading(span) { try Counters(reading: &$0) }
        }
        guard let counters else { throw FormatError.truncated }
        return counters
    }
}

/// Whether records of a cache may expire: the entry `expiry` in the keyspace `info`.
///
///     no entry    no record was ever written that may expire
///     1           only records whose types say so, so that reads of other types need not look
///     other       any record may
///
/// The entry is never removed.
enum ExpiryMark: UInt8, Comparable {
    case none = 0
    case typed = 1
    case any = 2

    static let key = [UInt8]("expiry".utf8)

    static func < (a: ExpiryMark, b: ExpiryMark) -> Bool { a.rawValue < b.rawValue }
}

extension ReadableTransaction where Self: ~Copyable {
    func expiryMark(_ keyspaces: Keyspaces) throws -> ExpiryMark {
        let stored = try value(keyspaces.info, ExpiryMark.key)
        guard let stored else { return .none }
        return stored == [ExpiryMark.typed.rawValue] ? .typed : .any
    }
}

extension Generation {
    /// Whether records may expire whose types do not say so. Looks once for each commit.
    func hasUntypedAges(in transaction: borrowing ReadTransaction) -> Bool {
        let number = transaction.number << 1
        let known = untypedAges.load(ordering: .relaxed)
        if known & 1 == 1 { return true }
        if known == number { return false }
        // Where that can't be read, nothing else can.
        let isAny = (try? transaction.expiryMark(keyspaces)) == .any
        untypedAges.store(isAny ? number | 1 : number, ordering: .relaxed)
        return isAny
    }
}
