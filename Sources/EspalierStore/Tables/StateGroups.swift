import EspalierLMDB
import EspalierRecords

/// The groups of states that one transaction has read.
///
/// A group that can't be read stays in the file until `write` replaces it. Until then,
/// `ReferenceCounts` takes its states from the other keyspaces, and all references are counted.
struct StateGroups {
    /// The groups read so far, in the order of their keys.
    private var ranges: [StateRange<StateGroup>] = []
    /// The position in `ranges` that was used last.
    private var recent = 0
    /// The keys of the groups that can't be read.
    private var damaged: Set<Handle> = []

    /// The damaged groups whose records were looked up.
    private var explored: Set<Handle> = []
    /// Of the records of damaged groups: under which stamps `recency` lists them.
    private(set) var stamps: [Handle: Stamp] = [:]
    /// Of the records of damaged groups: those that the index names.
    private(set) var named: Set<Handle> = []

    /// Whether a group was found damaged since the last call of `write`.
    var hasDamage: Bool { !damaged.isEmpty }

    /// Returns the group to which the state of a record belongs; nil if it is damaged.
    mutating func group(
        around handle: Handle, _ keyspaces: Keyspaces,
        in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateGroup? {
        ranges[try position(of: handle, keyspaces, in: transaction)].group
    }

    private mutating func position(
        of handle: Handle, _ keyspaces: Keyspaces,
        in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Int {
        if recent < ranges.count, ranges[recent].contains(handle) { return recent }
        // The first range behind the handle.
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].first <= handle { low = middle + 1 } else { high = middle }
        }
        recent = low
        if low > 0, ranges[low - 1].contains(handle) {
            recent = low - 1
            return recent
        }
        let range = try transaction.stateRange(keyspaces, around: handle)
        if range.group == nil { damaged.insert(range.first) }
        ranges.insert(range, at: low)
        return low
    }

    /// Looks the records of damaged groups up in `recency` and in the index. Walks both if a group
    /// was found damaged since the last call.
    mutating func readHints(
        _ keyspaces: Keyspaces, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws {
        guard explored != damaged else { return }
        explored = damaged
        let ranges = ranges.filter { $0.group == nil }
        func isDamaged(_ handle: Handle) -> Bool { ranges.contains { $0.contains(handle) } }
        var (stamps, named): ([Handle: Stamp], Set<Handle>) = ([:], [])
        try transaction.forEachRecencyEntry(keyspaces) { entry in
            // The first entry is the one that eviction finds.
            if isDamaged(entry.handle), stamps[entry.handle] == nil {
                stamps[entry.handle] = entry.stamp
            }
            return true
        }
        try transaction.forEachIndexEntry(keyspaces) { entry in
            if isDamaged(entry.handle) { named.insert(entry.handle) }
            return true
        }
        (self.stamps, self.named) = (stamps, named)
    }

    // MARK: - Writing

    /// Writes states into their groups, and forgets what it has read.
    ///
    /// A group that is too long is split. One that is less than half full takes in the next one, if
    /// both fit together.
    ///
    /// - Parameter changes: The new states, in the order of handles. They have the states of all
    ///   records of damaged groups.
    mutating func write(
        _ changes: [StateChange], _ keyspaces: Keyspaces, in transaction: inout WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: StateGroup.byteLimit)
        var rest = changes[...]
        while let first = rest.first {
            let range = ranges[try position(of: first.handle, keyspaces, in: transaction)]
            let part = rest.prefix { range.contains($0.handle) }
            rest = rest.dropFirst(part.count)
            try write(
                part, to: range, before: rest.first?.handle, keyspaces, &writer, in: &transaction)
            damaged.remove(range.first)
        }
        for key in damaged { try transaction.delete(keyspaces.state, key.rawValue) }
        self = StateGroups()
    }

    /// Writes the changes of one group. Splits it, or lets it take in the next one.
    ///
    /// - Parameter upcoming: The first handle behind the group that changes, too.
    private mutating func write(
        _ changes: ArraySlice<StateChange>, to range: StateRange<StateGroup>,
        before upcoming: Handle?,
        _ keyspaces: Keyspaces, _ writer: inout ByteWriter, in transaction: inout WriteTransaction
    ) throws {
        // A damaged group begins anew: its states were rebuilt, and are among the changes.
        var group = range.group ?? StateGroup(range.first)
        let isAppend =
            range.next == nil
            && group.entries.last.map { $0.handle < changes[changes.startIndex].handle } ?? true
        group.apply(changes)
        guard let first = group.entries.first else {
            if range.isStored { try transaction.delete(keyspaces.state, range.first.rawValue) }
            return
        }
        if !range.isStored { group = StateGroup(first.handle, group.entries) }
        group.write(to: &writer)
        if writer.count < StateGroup.byteLimit / 2, let next = range.next,
            let neighbour = try neighbour(
                next, before: upcoming, count: writer.count, keyspaces, in: transaction)
        {
            try transaction.delete(keyspaces.state, next.rawValue)
            group = StateGroup(group.key, group.entries + neighbour.entries)
            group.write(to: &writer)
        }
        guard writer.count > StateGroup.byteLimit else {
            return try transaction.put(keyspaces.state, group.key.rawValue, writer.bytes)
        }
        for part in group.split(ofBytes: writer.count, areFull: isAppend) {
            part.write(to: &writer)
            try transaction.put(keyspaces.state, part.key.rawValue, writer.bytes)
        }
    }

    /// Returns the next group, if it fits behind `count` bytes, and nothing in it changes.
    private func neighbour(
        _ key: Handle, before upcoming: Handle?, count: Int, _ keyspaces: Keyspaces,
        in transaction: borrowing WriteTransaction
    ) throws -> StateGroup? {
        let range = try transaction.stateRange(keyspaces, around: key)
        guard range.first == key, upcoming.map({ !range.contains($0) }) ?? true,
            let group = range.group,
            // The rest is room for entries, so that the group is not split at once.
            count + range.byteCount < StateGroup.byteLimit * 9 / 10
        else { return nil }
        return group
    }
}
