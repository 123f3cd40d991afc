import EspalierRecords
package import Foundation

/// The state of a record besides its content: how many references lead to it, when it was accessed,
/// and its flags. The head of `Eviction/EvictionPolicy.swift` draws the states of a record.
///
///     state = head, [flags], [reference count (varint)], stamp (varint),
///             [written-at (varint)], [expiry (varint)], [released (varint)]
///     head  = byte: the reference count, or 7F if it follows; 80 more if flags follow
///
/// A ``StateGroup`` holds it only where it differs from the default: a record with one reference
/// that was never accessed directly. Almost every record is the default.
package struct StateEntry: Hashable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The record was deleted, and references to it are left.
        package static let tombstone = Flags(rawValue: 1)
        /// The record was found damaged, or is not restored yet.
        package static let lost = Flags(rawValue: 2)
        /// A search found that the record lies on a cycle.
        package static let onCycle = Flags(rawValue: 4)
        /// The record has no index entry, and its children are released a few with each commit.
        package static let pendingRemoval = Flags(rawValue: 8)
        /// The record is lost and has no index entry. No write can refill it. Its entry is removed
        /// with the last reference.
        package static let nameless = Flags(rawValue: 32)
        /// The evictor could not evict the cycle of the record, because external references keep
        /// it. `recency` does not list the record until a reference to it goes, or a scan finds
        /// that the cycle can be evicted.
        package static let blocked = Flags(rawValue: 64)
        /// The record stands in for the children from which eviction has detached a record, or for
        /// a long record that eviction has taken from a large cycle. Nothing was damaged.
        package static let stub: Flags = [.lost, .nameless, .blocked]
        /// The flags that decide what a reference to the record reads.
        private static let seenByReads: Flags = [
            .tombstone, .lost, .pendingRemoval, .nameless, .blocked,
        ]

        /// Returns whether reads see the change from other flags to these. Once a record was
        /// detached, reads touch the records on cycles, and so have to see new flags for that.
        func differForReads(from before: Flags, _ counters: Counters) -> Bool {
            !symmetricDifference(before).isDisjoint(with: Self.seenByReads)
                || counters.detachments > 0 && subtracting(before).contains(.onCycle)
        }
    }

    package var referenceCount: UInt64 = 1
    package var stamp = Stamp.never
    package var flags: Flags = []
    /// When the record was last written by itself, and not as a part of another one; nil if that
    /// never happened. Of a record that expires, when it was last written at all. The bytes have a
    /// flag for it.
    package var writtenAt: WriteTime?
    /// How old the record may be, in seconds, as its last write said; nil if it does not expire.
    /// The bytes have a flag for it.
    package var expiry: UInt64?
    /// How many children of a record with a pending removal have been released; `allReleased` when
    /// only its bytes are left.
    package var released: UInt64 = 0

    package static let allReleased = UInt64.max

    package static let `default` = StateEntry()
    /// The entry of a record that nothing refers to yet.
    package static let unreferenced = StateEntry(referenceCount: 0)

    package var isDefault: Bool { self == .default }

    /// The stamp under which `recency` lists the record; nil if `recency` does not list it.
    ///
    /// `recency` lists roots, and records on a cycle, whose count never reaches 0. Records with a
    /// pending removal come before all others.
    package var recencyStamp: Stamp? {
        if flags.contains(.pendingRemoval) { return .never }
        if flags.contains(.tombstone) { return nil }
        return referenceCount == 0 || isListedCycle ? stamp : nil
    }

    package var isInRecency: Bool { recencyStamp != nil }

    /// Whether `recency` lists the record because it is on a cycle, so that the evictor judges the
    /// cycle. A blocked record is not listed.
    var isListedCycle: Bool {
        referenceCount > 0 && flags.contains(.onCycle) && !flags.contains(.blocked)
    }
}

extension StateEntry {
    /// Whether this is a root without a stamp. The commit that makes it a root gives it a stamp.
    var isUnstamped: Bool {
        referenceCount == 0 && stamp == .never
            && flags.isDisjoint(with: [.tombstone, .pendingRemoval])
    }

    /// Whether the record is on a cycle that is blocked.
    var isBlockedCycle: Bool { flags.isSuperset(of: [.onCycle, .blocked]) }

    /// Whether the record may get the flag of a cycle: it is a record, and has no such flag yet.
    var mayBeFlagged: Bool { flags.isDisjoint(with: [.onCycle, .pendingRemoval, .tombstone]) }

    /// Removes one reference.
    mutating func dropReference() {
        // A count is 0 here only after damage, which must not stop the cache.
        if referenceCount > 0 { referenceCount -= 1 }
        unblock()
    }

    /// Lists a blocked record again. For a stub the flag means something else, and stays.
    mutating func unblock() {
        if !flags.contains(.stub) { flags.remove(.blocked) }
    }

    /// Removes one reference because the record that held it was evicted at `stamp`. Hands the
    /// stamp on.
    ///
    /// A record to which other references lead needs no stamp: the records that hold them are
    /// younger and hand on theirs. Records on cycles do need it.
    package mutating func dropReference(evictedAt stamp: Stamp) {
        dropReference()
        if referenceCount == 0 || flags.contains(.onCycle) { self.stamp = max(self.stamp, stamp) }
    }

    /// Adds one reference. A deleted record whose bytes are still there loses the flag of a
    /// tombstone with its last reference, and gets it back.
    package mutating func addReference() {
        referenceCount += 1
        if referenceCount == 1, flags == .pendingRemoval { flags.insert(.tombstone) }
    }

    /// Whether `addReference` has given the flag of a tombstone back.
    var isTombstoneAgain: Bool {
        referenceCount == 1 && flags == [.pendingRemoval, .tombstone]
    }

    /// Removes one reference because the record that held it is being removed since `stamp`.
    package mutating func dropReference(removedAt stamp: Stamp) {
        dropReference()
        self.stamp = max(self.stamp, stamp)
    }

    /// Takes the record out of `recency` until a reference to it goes: external references keep its
    /// cycle.
    package mutating func block() { flags.formUnion([.onCycle, .blocked]) }

    /// Forgets when the record was written: it is gone, or will be.
    mutating func forgetTimes() {
        writtenAt = nil
        expiry = nil
    }

    /// Notes that the record lies on no cycle.
    package mutating func unflag() { flags.subtract([.onCycle, .blocked]) }

    private static let longCount: UInt8 = 0x7F
    private static let flagged: UInt8 = 0x80
    // Flags of the bytes alone: they follow from the entry.
    private static let written = Flags(rawValue: 16)
    private static let expires = Flags(rawValue: 128)

    /// The last values of the earlier entries of a group. An entry has the differences to them.
    struct Base: Equatable {
        /// The last stamp that is not 0.
        var stamp = Stamp.never
        /// The last date and the last age that an entry has; 0 if none has one.
        fileprivate var writtenAt: UInt64 = 0
        fileprivate var expiry: UInt64 = 0
    }

    func append(to writer: inout ByteWriter, after base: inout Base) {
        var flags = flags
        if writtenAt != nil { flags.insert(Self.written) }
        if expiry != nil { flags.insert(Self.expires) }
        let isShort = referenceCount < Self.longCount
        writer.append(
            (isShort ? UInt8(referenceCount) : Self.longCount) | (flags.isEmpty ? 0 : Self.flagged))
        if !flags.isEmpty { writer.append(flags.rawValue) }
        if !isShort { writer.append(varint: referenceCount) }
        if stamp == .never {
            writer.append(signedVarint: 0)
        } else {
            let change = Int64(bitPattern: stamp.rawValue &- base.stamp.rawValue)
            // 0 stands for no stamp. Stamps count accesses: no two are 2^63 apart.
            writer.append(signedVarint: change >= 0 ? change &+ 1 : change)
            base.stamp = stamp
        }
        if let writtenAt {
            writer.append(
                signedVarint: Int64(bitPattern: writtenAt.rawValue &- base.writtenAt))
            base.writtenAt = writtenAt.rawValue
        }
        if let expiry {
            writer.append(signedVarint: Int64(bitPattern: expiry &- base.expiry))
            base.expiry = expiry
        }
        if flags.contains(.pendingRemoval) { writer.append(varint: released) }
    }

    init(reading reader: inout ByteReader, after base: inout Base) throws(FormatError) {
        let head = try reader.byte()
        if head & Self.flagged != 0 { flags = Flags(rawValue: try reader.byte()) }
        let count = head & ~Self.flagged
        referenceCount = count == Self.longCount ? try reader.varint() : UInt64(count)
        let change = try reader.signedVarint()
        if change != 0 {
            let difference = UInt64(bitPattern: change > 0 ? change - 1 : change)
            base.stamp = Stamp(base.stamp.rawValue &+ difference)
            stamp = base.stamp
        }
        if flags.remove(Self.written) != nil {
            base.writtenAt &+= UInt64(bitPattern: try reader.signedVarint())
            writtenAt = WriteTime(base.writtenAt)
        }
        if flags.remove(Self.expires) != nil {
            base.expiry &+= UInt64(bitPattern: try reader.signedVarint())
            expiry = base.expiry
        }
        if flags.contains(.pendingRemoval) { released = try reader.varint() }
    }
}

/// When a record was written: seconds since the beginning of 2026, UTC. Until mid-2034 such a
/// number takes 4 bytes.
package struct WriteTime: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    private static let epoch = 1_767_225_600.0

    /// A date before 2026, which only a wrong clock tells, counts as the beginning of 2026.
    package init(_ date: Date) {
        let seconds = date.timeIntervalSince1970 - Self.epoch
        rawValue = seconds > 0 ? UInt64(min(seconds, 0x1p40)) : 0
    }

    package var date: Date {
        Date(timeIntervalSince1970: Self.epoch + Double(min(rawValue, 1 << 40)))
    }
}
