package import EspalierLMDB
package import EspalierRecords

/// A record that may be evicted, and the stamp that orders it.
package struct RecencyEntry: Hashable, Comparable {
    package let stamp: Stamp
    package let handle: Handle

    package init(stamp: Stamp, handle: Handle) {
        self.stamp = stamp
        self.handle = handle
    }

    /// The entry that is the key of a group; nil if the key is damaged and has another length.
    init?(key: RawSpan) {
        guard let pair = KeyPair(key) else { return nil }
        self.init(stamp: Stamp(pair.first), handle: Handle(pair.second))
    }

    /// The entry at or before all others.
    package static let first = RecencyEntry(stamp: .never, handle: Handle(0))

    var key: KeyPair { KeyPair(stamp.rawValue, handle.rawValue) }

    package static func < (a: RecencyEntry, b: RecencyEntry) -> Bool {
        (a.stamp, a.handle) < (b.stamp, b.handle)
    }
}

/// The `recency` keyspace: the records that eviction may take, the least recently accessed first,
/// in groups of records that follow each other.
///
/// It lists a record exactly under its `StateEntry.recencyStamp`. `ReferenceCounts` keeps that
/// invariant: it moves a record here whenever it writes the record's state.
///
/// A group that can't be read lists nothing. A commit that changes it, or evicts past it, lists all
/// records anew.
struct Recency {
    private let keyspaces: Keyspaces
    private var keyspace: Keyspace { keyspaces.recency }

    init(_ keyspaces: Keyspaces) { self.keyspaces = keyspaces }

    /// A record whose place changes.
    struct Move {
        let handle: Handle
        var from: Stamp?
        var to: Stamp?
    }

    /// An entry that is added or removed.
    fileprivate struct Change {
        let entry: RecencyEntry
        let isAdded: Bool
    }

    /// Moves records from the places of their old states to those of their new ones. Returns false
    /// if a group could not be read: the records that it listed have to be listed anew.
    @discardableResult
    func apply(_ moves: [Move], in transaction: inout WriteTransaction) throws -> Bool {
        var changes: [Change] = []
        changes.reserveCapacity(moves.count * 2)
        for move in moves {
            for (stamp, isAdded) in [(move.from, false), (move.to, true)] {
                guard let stamp else { continue }
                changes.append(
                    Change(
                        entry: RecencyEntry(stamp: stamp, handle: move.handle), isAdded: isAdded))
            }
        }
        return try write(changes, in: &transaction)
    }

    /// Lists exactly these records, and rewrites only the groups that differ.
    ///
    /// - Parameter keepsUnknown: Whether a group of states can't be read: what is listed of its
    ///   records stays.
    /// - Complexity: Walks the keyspace.
    func rebuild(
        _ wanted: Set<RecencyEntry>, keepingUnknown keepsUnknown: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        func isUnknown(
            _ entry: RecencyEntry, in transaction: borrowing WriteTransaction
        ) throws -> Bool {
            guard keepsUnknown else { return false }
            return try transaction.stateRange(keyspaces, around: entry.handle).group == nil
        }
        var missing = wanted
        var changes: [Change] = []
        var damaged: [[UInt8]] = []
        try transaction.forEachRecencyEntry(keyspaces, damaged: { damaged.append($0) }) { entry in
            if missing.remove(entry) == nil { changes.append(Change(entry: entry, isAdded: false)) }
            return true
        }
        changes = try changes.filter { try !isUnknown($0.entry, in: transaction) }
        for key in damaged { try transaction.delete(keyspace, key) }
        changes += missing.map { Change(entry: $0, isAdded: true) }
        _ = try write(changes, in: &transaction)
    }

    /// Writes changes into their groups. Returns false if a group could not be read.
    ///
    /// A group that is too long is split. One that is less than half full takes in the next one, if
    /// both fit together.
    private func write(
        _ changes: [Change], in transaction: inout WriteTransaction
    ) throws -> Bool {
        let changes = changes.sorted { $0.entry < $1.entry }
        var isIntact = true
        var writer = ByteWriter(capacity: RecencyGroup.byteLimit)
        // A group that is not written yet, because it is short.
        var short: RecencyRange?
        var rest = changes[...]
        while let first = rest.first {
            var range = try transaction.recencyRange(keyspaces, around: first.entry)
            let part = rest.prefix { range.contains($0.entry) }
            rest = rest.dropFirst(part.count)
            if range.group == nil { isIntact = false }
            range.apply(part, &writer)
            if var last = short.take() {
                if last.next == range.first, last.mayTakeIn(range) {
                    if range.isStored { try transaction.delete(keyspace, range.first.key) }
                    last.takeIn(range, &writer)
                    range = last
                } else {
                    try store(last, before: range.first, &writer, in: &transaction)
                }
            }
            if range.isShort {
                short = range
            } else {
                try store(range, before: nil, &writer, in: &transaction)
            }
        }
        if let short { try store(short, before: nil, &writer, in: &transaction) }
        return isIntact
    }

    /// Writes a group that was changed.
    ///
    /// - Parameter upcoming: The key of the group that is changed next; nil if there is none, or if
    ///   this one is not short.
    private func store(
        _ changed: RecencyRange, before upcoming: RecencyEntry?, _ writer: inout ByteWriter,
        in transaction: inout WriteTransaction
    ) throws {
        var range = changed
        guard let group = range.group, let first = group.entries.first else {
            if range.isStored { try transaction.delete(keyspace, range.first.key) }
            return
        }
        if !range.isStored { range.group?.key = first }
        if range.isShort, let next = range.next, next != upcoming,
            case let neighbour = try transaction.recencyRange(keyspaces, around: next),
            range.mayTakeIn(neighbour)
        {
            try transaction.delete(keyspace, next.key)
            range.takeIn(neighbour, &writer)
        }
        guard let group = range.group else { return }
        for part in range.byteCount > RecencyGroup.byteLimit
            ? group.split(ofBytes: range.byteCount, areFull: range.isAppend) : [group]
        {
            part.write(to: &writer)
            try transaction.put(keyspace, part.key.key, writer.bytes)
        }
    }
}

/// Records that follow each other in the order of eviction: a value of the keyspace `recency`.
///
///     key   = stamp, handle (8 bytes each): at most those of the first entry
///     value = count (varint), entries, check (8 bytes)
///     entry = stamp less that of the entry before (varint),
///             handle less that of the entry before (signed varint)
///
/// The differences of the first entry are those to the key. An entry usually takes 2 to 6 bytes. As
/// an entry of LMDB it would take 26, and LMDB lets pages become three quarters empty before it
/// joins them: where reads touch records at random, roots took a third of the cache.
private struct RecencyGroup {
    /// The most bytes of a group: eight groups fill a page, as those of states do.
    static let byteLimit = 456

    var key: RecencyEntry
    /// In ascending order.
    var entries: [RecencyEntry] = []

    init(_ key: RecencyEntry) { self.key = key }

    /// The seed of the check.
    private static func seed(_ key: RecencyEntry) -> UInt64 {
        (key.stamp.rawValue &* 0x9E37_79B9_7F4A_7C15) ^ key.handle.rawValue
    }

    init(reading reader: inout ByteReader, key: RecencyEntry) throws(FormatError) {
        self.init(key)
        let end = try reader.verifiedEnd(UInt64.self, seed: Self.seed(key))
        let count = try reader.count(ofAtLeast: 2)
        entries.reserveCapacity(count)
        var last = key
        while reader.position < end {
            let (stamp, isTooLate) = last.stamp.rawValue.addingReportingOverflow(
                try reader.varint())
            let difference = UInt64(bitPattern: try reader.signedVarint())
            let entry = RecencyEntry(
                stamp: Stamp(stamp), handle: Handle(last.handle.rawValue &+ difference))
            guard !isTooLate, entries.isEmpty ? entry >= last : entry > last else {
                throw .truncated
            }
            entries.append(entry)
            last = entry
        }
        guard reader.position == end, entries.count == count, count > 0 else { throw .truncated }
    }

    func write(to writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(count: entries.count)
        var last = key
        for entry in entries {
            Self.write(entry, after: last, to: &writer)
            last = entry
        }
        writer.append(integer: writer.check(seed: Self.seed(key)))
    }

    private static func write(
        _ entry: RecencyEntry, after last: RecencyEntry, to writer: inout ByteWriter
    ) {
        writer.append(varint: entry.stamp.rawValue - last.stamp.rawValue)
        writer.append(
            signedVarint: Int64(bitPattern: entry.handle.rawValue &- last.handle.rawValue))
    }

    /// Applies changes, which are in the order of entries.
    mutating func apply(_ changes: ArraySlice<Recency.Change>) {
        var merged: [RecencyEntry] = []
        merged.reserveCapacity(entries.count + changes.count)
        var rest = entries[...]
        for change in changes {
            while let first = rest.first, first < change.entry {
                merged.append(first)
                rest.removeFirst()
            }
            if rest.first == change.entry { rest.removeFirst() }
            if change.isAdded, merged.last != change.entry { merged.append(change.entry) }
        }
        entries = merged + rest
    }

    /// Returns the entries as groups of no more than `byteLimit` bytes.
    ///
    /// - Parameters:
    ///   - count: The bytes of this group.
    ///   - areFull: Whether all groups but the last are full. Otherwise they have about the same
    ///     length.
    func split(ofBytes count: Int, areFull: Bool) -> [RecencyGroup] {
        let parts = (count + Self.byteLimit - 1) / Self.byteLimit
        let limit = areFull ? Self.byteLimit : min(Self.byteLimit, count / parts + 20)
        // The check, and the longest count.
        let fixed = RecordLayout.checkSize + 2
        var groups: [RecencyGroup] = []
        var group = RecencyGroup(key)
        var size = fixed
        var last = key
        var writer = ByteWriter()
        for entry in entries {
            writer.removeAll()
            Self.write(entry, after: last, to: &writer)
            if size + writer.count > limit, !group.entries.isEmpty {
                groups.append(group)
                group = RecencyGroup(entry)
                size = fixed
            }
            group.entries.append(entry)
            size += writer.count
            last = entry
        }
        return groups + [group]
    }
}

/// The entries from the key of a group to the next key, and what stands there.
private struct RecencyRange {
    /// The key of the group; the first of all if there is none.
    var first = RecencyEntry.first
    /// The key of the group behind it.
    var next: RecencyEntry?
    var isStored = false
    /// The bytes of the group.
    var byteCount = 0
    /// Nil if the group is damaged.
    var group: RecencyGroup?
    /// Whether the changes are behind all that is stored.
    var isAppend = false

    func contains(_ entry: RecencyEntry) -> Bool {
        first <= entry && next.map { entry < $0 } ?? true
    }

    /// Applies changes. A damaged group begins anew.
    mutating func apply(_ changes: ArraySlice<Recency.Change>, _ writer: inout ByteWriter) {
        var changed = group ?? RecencyGroup(first)
        isAppend =
            next == nil
            && changed.entries.last.map { $0 < changes[changes.startIndex].entry } ?? true
        changed.apply(changes)
        changed.write(to: &writer)
        (group, byteCount) = (changed, writer.count)
    }

    /// Whether the group takes in the next one if that is possible.
    var isShort: Bool { byteCount < RecencyGroup.byteLimit / 2 }

    /// Whether a group behind this one fits beside it. The rest is room for entries, so that the
    /// group is not split at once.
    func mayTakeIn(_ other: RecencyRange) -> Bool {
        group != nil && other.group != nil
            && byteCount + other.byteCount < RecencyGroup.byteLimit * 9 / 10
    }

    mutating func takeIn(_ other: RecencyRange, _ writer: inout ByteWriter) {
        guard var joined = group, let entries = other.group?.entries else { return }
        joined.entries += entries
        joined.write(to: &writer)
        (group, next, byteCount) = (joined, other.next, writer.count)
        isAppend = other.isAppend
    }
}

extension Cursor {
    /// The group at the cursor; nil if it can't be read.
    fileprivate func group(under key: RecencyEntry) -> RecencyGroup? {
        withEntry { _, value in
            var reader = ByteReader(lent: value)
            return try? RecencyGroup(reading: &reader, key: key)
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    fileprivate func recencyRange(
        _ keyspaces: Keyspaces, around entry: RecencyEntry
    ) throws -> RecencyRange {
        var range = RecencyRange()
        try withCursor(keyspaces.recency) { cursor in
            let key = try cursor.seekRange(around: entry, entry.key, RecencyEntry.init(key:))
            if let key {
                (range.first, range.isStored) = (key, true)
                range.byteCount = cursor.withEntry { _, value in value.byteCount }
                range.group = cursor.group(under: key)
            } else {
                range.group = RecencyGroup(range.first)
            }
            range.next = try cursor.nextRange(after: entry, from: key, RecencyEntry.init(key:)).key
        }
        // After a loss of power an older group may reach behind the key of a newer one.
        if let next = range.next, let last = range.group?.entries.last, next <= last {
            range.group = nil
        }
        return range
    }

    /// Calls `body` with the records that eviction may take, the least recently accessed first,
    /// until it returns false. Calls `damaged` with the key of each group that can't be read.
    ///
    /// - Parameter start: The entry to begin at.
    package func forEachRecencyEntry(
        _ keyspaces: Keyspaces, from start: RecencyEntry = .first,
        damaged: (_ key: [UInt8]) throws -> Void = { _ in },
        _ body: (RecencyEntry) throws -> Bool
    ) throws {
        var last: RecencyGroup?
        func visitLast(before next: RecencyEntry?) throws -> Bool {
            guard let group = last.take() else { return true }
            if let next, let end = group.entries.last, next <= end {
                try damaged(group.key.key.withBytes { [UInt8](copying: $0) })
                return true
            }
            for entry in group.entries where entry >= start {
                guard try body(entry) else { return false }
            }
            return true
        }
        try withCursor(keyspaces.recency) { cursor in
            let key = try cursor.seekRange(around: start, start.key, RecencyEntry.init(key:))
            var isThere = try key != nil || cursor.first()
            while isThere {
                let key = cursor.withKey(RecencyEntry.init(key:))
                if let key {
                    guard try visitLast(before: key) else { return }
                    last = cursor.group(under: key)
                }
                if key == nil || last == nil {
                    try damaged(cursor.withKey { [UInt8](copying: $0) })
                }
                isThere = try cursor.next()
            }
            _ = try visitLast(before: nil)
        }
    }

    /// The number of records that eviction may take.
    ///
    /// - Complexity: A step for each group, of some 90 records.
    package func recencyCount(_ keyspaces: Keyspaces) throws -> Int {
        var count = 0
        try forEach(in: keyspaces.recency) { _, value in
            var reader = ByteReader(lent: value)
            count += (try? reader.count(ofAtLeast: 2)) ?? 0
            return true
        }
        return count
    }
}
