import EspalierLMDB
import EspalierRecords

/// The groups of the `index` keyspace as one transaction reads and rewrites them.
///
///     key   = a lower bound of the group's names        value = the group, one page at most
///
/// A group holds the names from its key up to the key of the next group; the first one begins with
/// `IndexGroup.lowestKey`. A key tells the last entry before it from the first one behind it, and
/// each of them is long enough to differ from it, so groups can be merged without looking at
/// records.
///
/// A transaction copies the groups in which it searches, verifies them once, and searches the
/// copies: the names of a tree stand in few groups. Confined to the thread that commits.
struct IndexGroups: ~Copyable {
    // immutable
    private let keyspace: Keyspace
    /// The most bytes of a group.
    private let limit: Int

    // confined to the thread that commits
    private struct Group {
        let range: IndexRange
        /// The stored bytes; nil if there is no group or if it is damaged.
        let bytes: [UInt8]?
        let isStored: Bool

        var lower: [UInt8] { range.lower }
        var upper: [UInt8]? { range.upper }
    }
    /// The groups that were searched, ascending.
    private var loaded: [Group] = []
    /// The group that was searched last.
    private var latest = 0
    /// The keys of the damaged groups that were met.
    private var damagedKeys: [[UInt8]] = []
    private var writer = IndexGroupWriter()
    /// The keys of stored groups that were rewritten or deleted.
    private(set) var edited: [[UInt8]] = []
    private var knownEdits: Set<[UInt8]> = []
    private var written: Set<[UInt8]> = []

    init(_ keyspace: Keyspace, limit: Int) {
        self.keyspace = keyspace
        self.limit = limit
    }

    /// The number of pages that groups were written to.
    var writtenCount: Int { written.count }

    /// The number of groups that were searched since changes were last applied. Each change was
    /// looked up before, so no other group will change, apart from neighbours.
    var loadedCount: Int { loaded.count }

    // MARK: - Searching

    /// Returns the entry that matches a name; nil if there is none. Calls `damaged` when the search
    /// meets a damaged group for the first time. Such a group counts as empty from then on.
    mutating func search(
        _ name: [UInt8], in snapshot: Snapshot, damaged: (IndexRange) -> Void
    ) throws -> IndexGroup.Match? {
        let position = try position(of: name, in: snapshot)
        if let bytes = loaded[position].bytes {
            let key = loaded[position].range.lower
            return try? IndexGroup.reading(key, bytes) { group throws(FormatError) in
                try group.search(name)
            }
        }
        let group = loaded[position]
        if group.isStored, !damagedKeys.contains(group.lower) {
            damagedKeys.append(group.lower)
            damaged(group.range)
        }
        return nil
    }

    /// Returns the position in `loaded` of the group that holds a name. Reads the group unless it
    /// is there.
    private mutating func position(of name: [UInt8], in snapshot: Snapshot) throws -> Int {
        if latest < loaded.count, loaded[latest].range.contains(name) { return latest }
        var (low, high) = (0, loaded.count)
        while low < high {
            let middle = (low + high) / 2
            if name.precedes(loaded[middle].range.lower) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        latest = max(0, low - 1)
        if latest < loaded.count, loaded[latest].range.contains(name) { return latest }
        latest = low
        loaded.insert(try load(name, in: snapshot), at: low)
        return low
    }

    private func load(_ name: [UInt8], in snapshot: Snapshot) throws -> Group {
        try snapshot.withCursor(keyspace) { cursor in
            guard try cursor.seek(atOrBefore: name) else {
                let upper = try cursor.first() ? cursor.withKey { [UInt8](copying: $0) } : nil
                return Group(
                    range: IndexRange(lower: IndexGroup.lowestKey, upper: upper), bytes: nil,
                    isStored: false)
            }
            let (lower, bytes) = cursor.withEntry { key, value in
                let isWhole = (try? IndexGroup(lentKey: key, value: value).verify()) != nil
                return ([UInt8](copying: key), isWhole ? [UInt8](copying: value) : nil)
            }
            let upper = try cursor.next() ? cursor.withKey { [UInt8](copying: $0) } : nil
            return Group(
                range: IndexRange(lower: lower, upper: upper), bytes: bytes, isStored: true)
        }
    }

    // MARK: - Changing

    /// Removes and adds names, both in ascending order.
    ///
    /// - Parameter name: Returns the key of the name that a record holds; nil if it can't be read.
    /// - Returns: The handles of records whose names were lost, see `IndexEntryList.apply`.
    /// - Complexity: Copies each group that changes. Decodes and encodes the intervals around the
    ///   changes, or the whole group if its bounds change.
    mutating func apply(
        removals: [IndexChange], additions: [IndexChange], in transaction: inout WriteTransaction,
        name: (Handle, Snapshot) throws -> [UInt8]?
    ) throws -> [Handle] {
        var removals = removals[...]
        var additions = additions[...]
        var doubtful: [Handle] = []
        try deleteDamaged(in: &transaction)
        while let first = Self.first(removals, additions) {
            let group = loaded[try position(of: first, in: transaction.snapshot)]
            let removed = Self.takeChanges(from: &removals, of: group)
            let added = Self.takeChanges(from: &additions, of: group)
            let snapshot = transaction.snapshot
            if let removedByDoubt = try patch(
                group, removals: removed, additions: added, in: &transaction,
                name: { try name($0, snapshot) })
            {
                doubtful += removedByDoubt
                continue
            }
            var list = entries(of: group)
            doubtful += try list.apply(removals: removed, additions: added) {
                try name($0, snapshot)
            }
            try replace(group, by: list, in: &transaction)
        }
        loaded.removeAll(keepingCapacity: true)
        return doubtful
    }

    /// Deletes the damaged groups. Their ranges fall to the groups before them.
    private mutating func deleteDamaged(in transaction: inout WriteTransaction) throws {
        guard !damagedKeys.isEmpty else { return }
        for key in damagedKeys { try delete(key, in: &transaction) }
        damagedKeys.removeAll()
        forgetAll()
    }

    private static func first(
        _ a: ArraySlice<IndexChange>, _ b: ArraySlice<IndexChange>
    ) -> [UInt8]? {
        guard let a = a.first?.key else { return b.first?.key }
        guard let b = b.first?.key else { return a }
        return a.precedes(b) ? a : b
    }

    private static func takeChanges(
        from changes: inout ArraySlice<IndexChange>, of group: Group
    ) -> ArraySlice<IndexChange> {
        let end = changes.firstIndex { !group.range.contains($0.key) } ?? changes.endIndex
        defer { changes = changes[end...] }
        return changes[..<end]
    }

    private func entries(of group: Group) -> IndexEntryList {
        guard let bytes = group.bytes else { return IndexEntryList() }
        // Verified when it was loaded.
        let list = try? IndexGroup.reading(group.lower, bytes) { group throws(FormatError) in
            try group.entries(of: 0..<group.intervalCount)
        }
        return list ?? IndexEntryList()
    }

    /// Removes and adds names by writing only the intervals around them anew. Returns nil, and
    /// changes nothing, if the whole group has to be written: most of it changes, or its bounds do.
    private mutating func patch(
        _ group: Group, removals: ArraySlice<IndexChange>, additions: ArraySlice<IndexChange>,
        in transaction: inout WriteTransaction, name: (Handle) throws -> [UInt8]?
    ) throws -> [Handle]? {
        let lower = group.lower
        guard let bytes = group.bytes,
            var patches = try? IndexGroup.reading(
                lower, bytes,
                { stored throws(FormatError) in
                    try IndexPatch.patches(of: stored, removals: removals, additions: additions)
                }), !patches.isEmpty
        else { return nil }
        var doubtful: [Handle] = []
        for (index, patch) in patches.enumerated() {
            doubtful += try patches[index].list.apply(
                removals: removals[patch.removals], additions: additions[patch.additions],
                name: name)
            patches[index].list.cut(from: lower, to: group.upper)
        }
        let isEncoded: Void? = try? IndexGroup.reading(lower, bytes) {
            stored throws(FormatError) in
            try writer.encode(stored, with: patches, under: lower)
        }
        guard isEncoded != nil, writer.count <= limit,
            try writer.count >= limit / 2 || !hasRoomNearby(group, in: transaction)
        else { return nil }
        try put(lower, in: &transaction)
        return doubtful
    }

    /// Whether a neighbour has room for the group that was encoded last.
    private func hasRoomNearby(
        _ group: Group, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let neighbours = [group.upper, try key(before: group.lower, in: transaction.snapshot)]
        return try neighbours.contains { key in
            guard let key else { return false }
            let count = try transaction.withValue(keyspace, key) { $0.byteCount }
            return count.map { writer.count + $0 <= mergedLimit } ?? false
        }
    }

    /// The most bytes of a group that is merged from two.
    private var mergedLimit: Int { limit * 9 / 10 }

    /// Writes a changed group. A group that has become small takes in a neighbour if both fit in
    /// one. A group that has become large is divided.
    private mutating func replace(
        _ group: Group, by list: IndexEntryList, in transaction: inout WriteTransaction
    ) throws {
        guard !list.isEmpty else {
            if group.isStored { try delete(group.lower, in: &transaction) }
            return forgetAll()
        }
        var (list, lower) = (list, group.lower)
        list.cut(from: lower, to: group.upper)
        let count = list.entries.count
        var end = writer.encode(list, 0..<count, under: lower, limit: limit)
        if end == count, writer.count < limit / 2,
            let mergedKey = try merge(&list, of: group, in: &transaction)
        {
            forgetAll()
            lower = mergedKey
            end = writer.encode(list, 0..<list.entries.count, under: lower, limit: limit)
        }
        guard end < list.entries.count else {
            try put(lower, in: &transaction)
            return forget(lower)
        }
        try divide(list, under: lower, next: group.upper, in: &transaction)
        forgetAll()
    }

    /// Writes a group that is too long as several ones.
    ///
    /// Where ascending names were added, the groups before their end are filled and what follows
    /// gets a group of its own: the next names will follow them. An even division would leave the
    /// groups of ascending names 60 % full. All other groups are divided evenly, together with the
    /// next group: two full groups become three, and two others stay two.
    private mutating func divide(
        _ list: IndexEntryList, under lower: [UInt8], next: [UInt8]?,
        in transaction: inout WriteTransaction
    ) throws {
        if let end = list.endOfAddedRun {
            let rest = try write(list, 0..<end, under: lower, part: limit, in: &transaction)
            guard end < list.entries.count else { return }
            _ = try write(
                list, end..<list.entries.count, under: rest, part: limit, in: &transaction)
            return
        }
        var list = list
        if let next, let group = try stored(next, in: transaction) {
            list.append(group.list)
            try delete(next, in: &transaction)
        }
        let size = size(of: list, under: lower)
        let parts = (size * 100 + limit * 97 - 1) / (limit * 97)
        _ = try write(
            list, 0..<list.entries.count, under: lower,
            part: min(limit, size / max(parts, 1) + 64), in: &transaction)
    }

    private mutating func size(of list: IndexEntryList, under lower: [UInt8]) -> Int {
        _ = writer.encode(list, 0..<list.entries.count, under: lower, limit: .max)
        return writer.count
    }

    /// Writes a range of entries as groups of at most `part` bytes. Returns the key of the group
    /// that follows.
    private mutating func write(
        _ list: IndexEntryList, _ range: Range<Int>, under lower: [UInt8], part: Int,
        in transaction: inout WriteTransaction
    ) throws -> [UInt8] {
        var start = range.lowerBound
        var lower = lower
        while start < range.upperBound {
            let end = writer.encode(list, start..<range.upperBound, under: lower, limit: part)
            try put(lower, in: &transaction)
            if end < list.entries.count { lower = list.separator(before: end) }
            start = end
        }
        return lower
    }

    /// Adds the entries of a neighbour to those of a small group, if both fit in one group.
    /// Returns the key of that group; nil if no neighbour fits.
    private mutating func merge(
        _ list: inout IndexEntryList, of group: Group, in transaction: inout WriteTransaction
    ) throws -> [UInt8]? {
        let room = mergedLimit - writer.count
        if let upper = group.upper, let next = try stored(upper, in: transaction),
            next.byteCount <= room
        {
            list.append(next.list)
            try delete(upper, in: &transaction)
            return group.lower
        }
        guard let lower = try key(before: group.lower, in: transaction.snapshot),
            let previous = try stored(lower, in: transaction), previous.byteCount <= room
        else { return nil }
        var merged = previous.list
        merged.append(list)
        list = merged
        if group.isStored { try delete(group.lower, in: &transaction) }
        return lower
    }

    /// Returns the group under `key`; nil if there is none or if it is damaged.
    private func stored(
        _ key: [UInt8], in transaction: borrowing WriteTransaction
    ) throws -> (list: IndexEntryList, byteCount: Int)? {
        guard let bytes = try transaction.value(keyspace, key),
            let list = try? IndexGroup.reading(
                key, bytes, { group throws(FormatError) in try group.entries() })
        else { return nil }
        return (list, bytes.count)
    }

    /// Returns the key of the group before the one that has, or would have, a key.
    func key(before key: [UInt8], in snapshot: Snapshot) throws -> [UInt8]? {
        try snapshot.withCursor(keyspace) { cursor in
            let isThere = try cursor.seek(atOrAfter: key) ? cursor.previous() : cursor.last()
            return isThere ? cursor.withKey { [UInt8](copying: $0) } : nil
        }
    }

    /// Stores the group that was encoded last.
    private mutating func put(_ key: [UInt8], in transaction: inout WriteTransaction) throws {
        noteEdit(of: key)
        written.insert(key)
        try transaction.put(keyspace, key, writer.bytes)
    }

    private mutating func delete(_ key: [UInt8], in transaction: inout WriteTransaction) throws {
        noteEdit(of: key)
        written.remove(key)
        try transaction.delete(keyspace, key)
    }

    private mutating func noteEdit(of key: [UInt8]) {
        if knownEdits.insert(key).inserted { edited.append(key) }
    }

    /// Forgets the copy of a group that was written without a change of its bounds.
    private mutating func forget(_ lower: [UInt8]) {
        loaded.removeAll { $0.range.lower == lower }
    }

    /// Forgets all copies, because the bounds of groups have changed.
    private mutating func forgetAll() { loaded.removeAll(keepingCapacity: true) }
}

/// The keys that a group may hold.
struct IndexRange {
    let lower: [UInt8]
    /// The key of the next group; nil if there is none.
    let upper: [UInt8]?

    func contains(_ key: [UInt8]) -> Bool {
        !key.precedes(lower) && upper.map { key.precedes($0) } != false
    }
}
