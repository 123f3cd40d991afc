import EspalierRecords

/// What the engine knows of a record besides its content. Stored only where it is not the default, which is a record with
/// one parent that was never accessed directly: almost every record.
///
///     entry = flags, reference count (varint), stamp (varint), [written-at, expiry (varints)], check (4 bytes)
struct StateEntry: Hashable, Sendable {
    struct Flags: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        /// Deleted, but still referred to.
        static let tombstone = Flags(rawValue: 1)
        /// Found damaged.
        static let lost = Flags(rawValue: 2)
        /// Found on its own path.
        static let onCycle = Flags(rawValue: 4)
        /// Its children are being released.
        static let dying = Flags(rawValue: 8)
        /// Written-at and expiry follow.
        static let timed = Flags(rawValue: 16)
    }

    var referenceCount: UInt64 = 1
    var stamp = Stamp.never
    var flags: Flags = []
    var writtenAt: UInt64 = 0
    var expiry: UInt64 = 0

    static let `default` = StateEntry()
    /// A record that nothing refers to yet.
    static let unreferenced = StateEntry(referenceCount: 0)

    var isDefault: Bool { self == .default }

    /// Whether the handle stands in `recency`: roots, and records on a cycle, which never get to count 0.
    var isListed: Bool { (referenceCount == 0 || flags.contains(.onCycle)) && !flags.contains(.tombstone) }
}

extension StateEntry {
    func bytes(for handle: Handle) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(flags.rawValue)
        writer.append(varint: referenceCount)
        writer.append(varint: stamp.rawValue)
        if flags.contains(.timed) {
            writer.append(varint: writtenAt)
            writer.append(varint: expiry)
        }
        writer.append(integer: UInt32(truncatingIfNeeded: writer.check(seed: handle.rawValue)))
        return writer.bytes
    }

    init(reading reader: inout ByteReader, for handle: Handle) throws(FormatError) {
        _ = try reader.verifiedEnd(UInt32.self, seed: handle.rawValue)
        flags = Flags(rawValue: try reader.byte())
        referenceCount = try reader.varint()
        stamp = Stamp(try reader.varint())
        if flags.contains(.timed) {
            writtenAt = try reader.varint()
            expiry = try reader.varint()
        }
    }
}
