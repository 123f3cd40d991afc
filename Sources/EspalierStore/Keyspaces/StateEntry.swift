import EspalierRecords

/// What the engine knows of a record besides its content. Stored only where it is not the default,
/// which is a record with one parent that was never accessed directly: almost every record.
///
///     entry = flags, reference count (varint), stamp (varint), [written-at, expiry (varints)], [released (varint)],
///             check (4 bytes)
package struct StateEntry: Hashable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Deleted, but still referred to.
        package static let tombstone = Flags(rawValue: 1)
        /// Found damaged, or not restored yet.
        package static let lost = Flags(rawValue: 2)
        /// Found on its own path.
        package static let onCycle = Flags(rawValue: 4)
        /// It has no name any more; its children are being released, a few with each commit.
        package static let pendingRemoval = Flags(rawValue: 8)
        /// Written-at and expiry follow.
        package static let timed = Flags(rawValue: 16)
        /// Lost, and no identifier leads to it: nothing can write it anew, and it goes with the
        /// last reference.
        package static let nameless = Flags(rawValue: 32)
        /// On a cycle that is referred to from outside, as far as was seen: not listed until a
        /// reference to it goes. If it is dying: not to be released before that.
        package static let blocked = Flags(rawValue: 64)
    }

    package var referenceCount: UInt64 = 1
    package var stamp = Stamp.never
    package var flags: Flags = []
    package var writtenAt: UInt64 = 0
    package var expiry: UInt64 = 0
    /// How many of a dying record's children are released; `allReleased` when only its bytes are
    /// left.
    package var released: UInt64 = 0

    package static let allReleased = UInt64.max

    package static let `default` = StateEntry()
    /// A record that nothing refers to yet.
    static let unreferenced = StateEntry(referenceCount: 0)

    package var isDefault: Bool { self == .default }

    /// The stamp under which the handle stands in `recency`, if it does: roots, and records on a
    /// cycle, which never get to count 0. Dying ones stand before all others.
    package var recencyStamp: Stamp? {
        if flags.contains(.pendingRemoval) { return flags.contains(.blocked) ? nil : .never }
        if flags.contains(.tombstone) { return nil }
        return referenceCount == 0 || flags.contains(.onCycle) && !flags.contains(.blocked)
            ? stamp : nil
    }

    package var isInRecency: Bool { recencyStamp != nil }
}

extension StateEntry {
    /// A root that was never accessed: its place in the order of accesses is still to be told.
    var isUnstamped: Bool {
        referenceCount == 0 && stamp == .never
            && flags.isDisjoint(with: [.tombstone, .pendingRemoval])
    }

    /// One reference fewer, because what referred to it was evicted: it was accessed when that was.
    ///
    /// Where something else refers to the record, too, that is younger and hands on its own stamp,
    /// except on cycles.
    mutating func drop(evictedAt stamp: Stamp) {
        drop()
        if referenceCount == 0 || flags.contains(.onCycle) { self.stamp = max(self.stamp, stamp) }
    }

    /// One reference fewer, because what referred to it is dying: since when and why is in its
    /// stamp.
    mutating func drop(removedAt stamp: Stamp) {
        drop()
        self.stamp = max(self.stamp, stamp)
    }

    /// Its cycle is referred to from outside: not listed until a reference to it goes.
    mutating func block() { flags.formUnion([.onCycle, .blocked]) }

    /// It is on no cycle.
    mutating func unflag() { flags.subtract([.onCycle, .blocked]) }

    /// One reference fewer.
    mutating func drop() {
        // Below zero only after damage; a cache goes on.
        if referenceCount > 0 { referenceCount -= 1 }
        flags.remove(.blocked)
    }

    func bytes(for handle: Handle) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(flags.rawValue)
        writer.append(varint: referenceCount)
        writer.append(varint: stamp.rawValue)
        if flags.contains(.timed) {
            writer.append(varint: writtenAt)
            writer.append(varint: expiry)
        }
        if flags.contains(.pendingRemoval) { writer.append(varint: released) }
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
        if flags.contains(.pendingRemoval) { released = try reader.varint() }
    }
}
