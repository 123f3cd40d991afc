import EspalierLMDB
import EspalierRecords
import EspalierStore

/// An estimate of how many pages deletes would free in the keyspaces of records.
struct FreedPages {
    private var nodes: LeafForecast
    private var index: LeafForecast
    // Too small to be followed leaf by leaf: estimated by their share of the entries.
    private let state: KeyspaceStatistics
    private let recency: KeyspaceStatistics
    /// The number of entries that `state` and `recency` lose, less the number that they gain.
    private var stateEntries = 0
    private var recencyEntries = 0

    init(_ snapshot: Snapshot, _ keyspaces: Keyspaces, pageSize: Int) throws {
        nodes = try LeafForecast(snapshot, keyspaces.nodes, pageSize: pageSize) { key, _ in
            try Handle(stored: key)
        }
        index = try LeafForecast(snapshot, keyspaces.index, pageSize: pageSize) { _, value in
            try? Handle(stored: value)
        }
        state = try snapshot.statistics(of: keyspaces.state)
        recency = try snapshot.statistics(of: keyspaces.recency)
    }

    /// Deletes the record of `handle` and its index entry.
    mutating func remove(_ handle: Handle) {
        nodes.remove(handle)
        index.remove(handle)
    }

    /// Changes the state of a record.
    mutating func change(_ before: StateEntry, to after: StateEntry) {
        stateEntries += (before.isDefault ? 0 : 1) - (after.isDefault ? 0 : 1)
        recencyEntries += (before.isInRecency ? 1 : 0) - (after.isInRecency ? 1 : 0)
    }

    /// The pages freed so far.
    var count: Int {
        nodes.freedPages + index.freedPages + Self.share(stateEntries, of: state)
            + Self.share(recencyEntries, of: recency)
    }

    /// Entries of `state` and `recency` take some 28 bytes, and leaves are about two thirds full.
    private static let entriesOfPage = 100

    /// Returns the pages that a keyspace loses with `entries`, by their share of all entries.
    ///
    /// The result is negative for a keyspace that gains entries: the children of a collection get
    /// entries of their own when the collection is removed.
    private static func share(_ entries: Int, of keyspace: KeyspaceStatistics) -> Int {
        guard entries > 0, keyspace.entries > 0 else { return entries / entriesOfPage }
        return Int(Double(entries) / Double(keyspace.entries) * Double(keyspace.pages))
    }
}

/// The leaf pages of one keyspace as deletes would leave them.
///
/// LMDB frees a leaf late. A leaf that is less than a quarter full gets an entry from its
/// neighbour; only if the neighbour is less than a quarter full, too, are both merged
/// (`mdb_rebalance`). An estimate by the share of bytes alone was 30 % too low where the order of
/// names is not that of accesses; following the leaves, the estimate is within some per cent.
///
///     entries   0 1 2 3 4 | 5 6 7 8 | 9 10 11      in key order, so a leaf is a range of entries
struct LeafForecast {
    private struct Leaf {
        var entries: Range<Int>
        var bytes = 0
        var count = 0
        var left: Int?
        var right: Int?
        /// The leaf that this one was merged into.
        var successor: Int?
    }

    private var leaves: [Leaf] = []
    /// The bytes of each entry in its leaf; 0 when the entry is deleted.
    private var sizes: [Int] = []
    private var leafOf: [Int] = []
    private var entriesOf: [Handle: Range<Int>] = [:]
    private var overflows: [Int: Int] = [:]
    private let room: Int
    private let branches: Int
    private let allPages: Int
    private var freedLeaves = 0
    private var freedOverflows = 0

    /// LMDB merges leaves that are less full than one part of this many.
    private static let leastShare = 4
    /// The bytes of a page, and of each entry in it, besides keys and values.
    private static let pageOverhead = 16
    private static let entryOverhead = 10

    /// Reads the leaves of a keyspace.
    ///
    /// - Parameter handle: Returns the record to which an entry, a key and a value, belongs.
    /// - Complexity: A look-up for each entry.
    init(
        _ snapshot: Snapshot, _ keyspace: Keyspace, pageSize: Int,
        handle: (RawSpan, RawSpan) throws -> Handle?
    ) throws {
        let statistics = try snapshot.statistics(of: keyspace)
        room = pageSize - Self.pageOverhead
        branches = statistics.branchPages
        allPages = statistics.pages
        let pages = try LeafPages(snapshot, keyspace)
        try snapshot.forEach(in: keyspace) { key, value in
            try pages.note(key)
            let handle = try handle(key, value)
            add(handle, keyBytes: key.byteCount, valueBytes: value.byteCount, leaf: pages.count - 1)
            return true
        }
    }

    private mutating func add(_ handle: Handle?, keyBytes: Int, valueBytes: Int, leaf: Int) {
        let entry = sizes.count
        if leaf == leaves.count {
            if leaf > 0 { leaves[leaf - 1].right = leaf }
            leaves.append(Leaf(entries: entry..<entry, left: leaf > 0 ? leaf - 1 : nil))
        }
        var size = (keyBytes + valueBytes + Self.entryOverhead + 1) / 2 * 2
        if size > room / 2 {
            // The value has overflow pages of its own, and the leaf their number.
            overflows[entry] = (valueBytes + Self.pageOverhead + room) / (room + Self.pageOverhead)
            size = keyBytes + 8 + Self.entryOverhead
        }
        sizes.append(size)
        leafOf.append(leaf)
        leaves[leaf].entries = leaves[leaf].entries.lowerBound..<entry + 1
        leaves[leaf].bytes += size
        leaves[leaf].count += 1
        guard let handle else { return }
        entriesOf[handle] = (entriesOf[handle]?.lowerBound ?? entry)..<entry + 1
    }

    /// The pages freed so far, with the branches above them by their share.
    var freedPages: Int {
        let share = leaves.isEmpty ? 0 : Double(freedLeaves) / Double(leaves.count)
        return min(allPages, freedLeaves + freedOverflows + Int(share * Double(branches)))
    }

    /// Deletes the entries of a record.
    mutating func remove(_ handle: Handle) {
        for entry in entriesOf.removeValue(forKey: handle) ?? 0..<0 where sizes[entry] > 0 {
            freedOverflows += overflows.removeValue(forKey: entry) ?? 0
            let leaf = current(leafOf[entry])
            leaves[leaf].bytes -= sizes[entry]
            leaves[leaf].count -= 1
            sizes[entry] = 0
            rebalance(leaf)
        }
    }

    /// Returns the leaf into which the entries of `leaf` have been merged; `leaf` itself if none.
    private func current(_ leaf: Int) -> Int {
        var leaf = leaf
        while let successor = leaves[leaf].successor { leaf = successor }
        return leaf
    }

    private func isLow(_ leaf: Int) -> Bool { leaves[leaf].bytes * Self.leastShare < room }

    private mutating func rebalance(_ leaf: Int) {
        guard isLow(leaf) else { return }
        guard let neighbour = leaves[leaf].left ?? leaves[leaf].right else {
            if leaves[leaf].count == 0, freedLeaves < leaves.count { freedLeaves += 1 }
            return
        }
        if isLow(neighbour) || leaves[neighbour].count < 2 {
            merge(max(leaf, neighbour), into: min(leaf, neighbour))
        } else {
            moveNearest(of: neighbour, to: leaf)
        }
    }

    private mutating func merge(_ leaf: Int, into left: Int) {
        leaves[left].bytes += leaves[leaf].bytes
        leaves[left].count += leaves[leaf].count
        leaves[left].entries = leaves[left].entries.lowerBound..<leaves[leaf].entries.upperBound
        leaves[left].right = leaves[leaf].right
        if let right = leaves[leaf].right { leaves[right].left = left }
        leaves[leaf].successor = left
        freedLeaves += 1
    }

    /// Moves the entry of a neighbour that is nearest in the order of keys.
    private mutating func moveNearest(of source: Int, to target: Int) {
        let entries = leaves[source].entries
        let isLeft = source < target
        guard
            let entry =
                isLeft
                ? entries.last(where: { sizes[$0] > 0 }) : entries.first(where: { sizes[$0] > 0 })
        else { return }
        leaves[source].entries =
            isLeft ? entries.lowerBound..<entry : entry + 1..<entries.upperBound
        let moved = leaves[target].entries
        leaves[target].entries =
            isLeft ? entry..<moved.upperBound : moved.lowerBound..<entry + 1
        leaves[source].bytes -= sizes[entry]
        leaves[source].count -= 1
        leaves[target].bytes += sizes[entry]
        leaves[target].count += 1
        leafOf[entry] = target
    }
}
