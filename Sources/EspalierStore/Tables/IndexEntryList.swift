import EspalierRecords

/// The entries of one group of the index, in ascending order, with all their bytes: the form in
/// which a group is changed.
///
/// An entry is the beginning of a name. A name is a key of `IndexKey` and a mark for its end, which
/// precedes every byte; so no name is the beginning of another one, and names have the order of
/// their keys. Entries are *prefix-free*: none is the beginning of another entry, so at most one
/// entry matches a name.
///
///     names      Feed:1$   Feed:10$   User:DF3A-22C0-40C2$   User:E901-7734-1BB2$
///     entries    Feed:1$   Feed:10$   User:DF                User:E9
///                whole     whole      two bytes longer than what neighbours have in common
///
/// An entry that does not hold the whole name also matches names that are not stored. Only the
/// record that it leads to says which name it stands for.
struct IndexEntryList {
    struct Entry {
        /// Where the bytes of the entry begin in `bytes`.
        var start: Int
        /// The number of bytes, without the mark for the end.
        var count: Int
        /// Whether the entry is a whole name with its end.
        var isWhole: Bool
        /// Whether the name may be cut when the group is written.
        var mayBeCut = false
        /// Whether the transaction has added the entry.
        var isAdded = false
        var handle: Handle
    }

    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// The characters that an entry has beyond what tells it from its neighbours. With one, a new
    /// name seldom matches an entry, so that few records have to be read for their names.
    static let spareCount = 1

    /// The least number of bytes that a name is cut by. Whole names are worth a byte or two: the
    /// record need not be read to know the name, and a damaged one gets back its place.
    static let leastCut = 4

    var isEmpty: Bool { entries.isEmpty }

    /// Appends an entry as it is stored.
    mutating func append(_ key: [UInt8], isWhole: Bool, _ handle: Handle) {
        entries.append(
            Entry(start: bytes.count, count: key.count, isWhole: isWhole, handle: handle))
        bytes += key
    }

    /// Appends a whole name.
    mutating func append(name key: [UInt8], mayBeCut: Bool, _ handle: Handle) {
        entries.append(
            Entry(
                start: bytes.count, count: key.count, isWhole: true, mayBeCut: mayBeCut,
                isAdded: true, handle: handle))
        bytes += key
    }

    /// Appends the entries of another list, which all follow those of this one.
    mutating func append(_ other: IndexEntryList) {
        let offset = bytes.count
        bytes += other.bytes
        entries.reserveCapacity(entries.count + other.entries.count)
        for var entry in other.entries {
            entry.start += offset
            entries.append(entry)
        }
    }

    /// The bytes of an entry.
    func key(_ entry: Entry) -> ArraySlice<UInt8> { bytes[entry.start..<entry.start + entry.count] }

    // MARK: - Comparing

    enum Comparison {
        /// The entry precedes the name.
        case less
        /// The entry is the beginning of the name.
        case match
        /// The entry follows the name.
        case greater
    }

    /// Compares an entry with the name of `key`.
    func compare(_ entry: Entry, with key: [UInt8]) -> Comparison {
        let common = commonCount(entry, with: key)
        if common == entry.count {
            guard entry.isWhole else { return .match }
            return key.count == common ? .match : .less
        }
        guard common < key.count else { return .greater }
        return bytes[entry.start + common] < key[common] ? .less : .greater
    }

    /// Returns the number of bytes that an entry and a key have in common.
    func commonCount(_ entry: Entry, with key: [UInt8]) -> Int {
        bytes.commonCount(from: entry.start, with: key, atMost: min(entry.count, key.count))
    }

    /// Returns the number of bytes that two entries have in common.
    func commonCount(_ a: Entry, _ b: Entry) -> Int {
        bytes.commonCount(
            from: a.start, with: bytes, from: b.start, atMost: min(a.count, b.count))
    }

    /// Returns the key of a group that begins with the entry at `index`: the shortest one that the
    /// entry before it precedes.
    func separator(before index: Int) -> [UInt8] {
        let entry = entries[index]
        let common = commonCount(entries[index - 1], entry)
        return Array(key(entry).prefix(common + 1))
    }

    /// Returns whether the entries ascend, are prefix-free, and are within the bounds of their
    /// group. `upper` is the key of the next group, if there is one.
    func isInOrder(from lower: [UInt8], to upper: [UInt8]?) -> Bool {
        guard let first = entries.first, let last = entries.last else { return true }
        guard !key(first).lexicographicallyPrecedes(lower) else { return false }
        if let upper, compare(last, with: upper) != .less { return false }
        for (a, b) in zip(entries, entries.dropFirst()) {
            let common = commonCount(a, b)
            guard common < b.count else { return false }
            guard common < a.count else {
                if a.isWhole { continue }
                return false
            }
            guard bytes[a.start + common] < bytes[b.start + common] else { return false }
        }
        return true
    }

    // MARK: - Changing

    /// Removes and adds names.
    ///
    /// - Parameters:
    ///   - removals: The keys and handles of entries to remove, ascending. An entry that has
    ///     another handle by now stays.
    ///   - additions: Names, ascending.
    ///   - name: Returns the key of the name that a record holds; nil if the record can't be read.
    /// - Returns: The handles of entries that matched an added name and whose record can't be read.
    ///   They are removed: it is not known which name they stand for.
    mutating func apply(
        removals: ArraySlice<IndexChange>, additions: ArraySlice<IndexChange>,
        name: (Handle) throws -> [UInt8]?
    ) rethrows -> [Handle] {
        remove(removals)
        guard !additions.isEmpty else { return [] }
        var doubtful: [Handle] = []
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + additions.count)
        var position = 0
        for addition in additions {
            while position < entries.count {
                let entry = entries[position]
                let comparison = compare(entry, with: addition.key)
                if comparison == .greater { break }
                guard comparison == .match else {
                    merged.append(entry)
                    position += 1
                    continue
                }
                guard !entry.isWhole, let name = try name(entry.handle) else {
                    // The same name, which now leads to another record; or a doubtful one.
                    if !entry.isWhole { doubtful.append(entry.handle) }
                    position += 1
                    continue
                }
                guard name != addition.key, compare(entry, with: name) == .match else {
                    position += 1
                    continue
                }
                // Another name with the same beginning. Both have to become longer.
                entries[position] = Entry(
                    start: bytes.count, count: name.count, isWhole: true, mayBeCut: true,
                    handle: entry.handle)
                bytes += name
            }
            merged.append(
                Entry(
                    start: bytes.count, count: addition.key.count, isWhole: true,
                    mayBeCut: addition.mayBeCut, isAdded: true, handle: addition.handle))
            bytes += addition.key
        }
        merged += entries[position...]
        entries = merged
        return doubtful
    }

    private mutating func remove(_ removals: ArraySlice<IndexChange>) {
        guard !removals.isEmpty else { return }
        var position = removals.startIndex
        entries = entries.filter { entry in
            while position < removals.endIndex,
                compare(entry, with: removals[position].key) == .greater
            {
                position += 1
            }
            var next = position
            while next < removals.endIndex, compare(entry, with: removals[next].key) == .match {
                if removals[next].handle == entry.handle { return false }
                next += 1
            }
            return true
        }
    }

    /// Cuts the names that may be cut to what tells them from their neighbours and from the bounds
    /// of the group, and one byte more, if that saves enough.
    mutating func cut(from lower: [UInt8], to upper: [UInt8]?) {
        guard let first = entries.first else { return }
        var before = commonCount(first, with: lower)
        for index in entries.indices {
            let entry = entries[index]
            let after: Int
            if index + 1 < entries.count {
                after = commonCount(entry, entries[index + 1])
            } else {
                after = upper.map { commonCount(entry, with: $0) } ?? 0
            }
            let needed = max(before, after) + 1 + Self.spareCount
            before = after
            guard entry.mayBeCut else { continue }
            entries[index].mayBeCut = false
            guard entry.count - needed >= Self.leastCut else { continue }
            entries[index].count = needed
            entries[index].isWhole = false
        }
    }

    /// Returns the end of the longest run of added entries that stand side by side, if it is long
    /// enough for ascending names: further names will then follow it.
    var endOfAddedRun: Int? {
        var (longest, end, length, added) = (0, 0, 0, 0)
        for (index, entry) in entries.enumerated() {
            length = entry.isAdded ? length + 1 : 0
            added += entry.isAdded ? 1 : 0
            if length >= longest { (longest, end) = (length, index + 1) }
        }
        return longest >= Self.shortestRun && longest * 4 >= added ? end : nil
    }

    private static let shortestRun = 8
}

/// A change of the index that a transaction has not applied yet.
struct IndexChange {
    var key: [UInt8]
    var handle: Handle
    /// Whether an added name may be cut: a record holds it.
    var mayBeCut = true
}
