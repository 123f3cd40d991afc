import EspalierLMDB
import EspalierRecords

/// The leaf pages of one keyspace as deletes would leave them.
///
/// LMDB gives a leaf up late: one that falls below a quarter takes an entry from its neighbour, and
/// only where that is below a quarter, too, do both become one (`mdb_rebalance`). By the share of
/// bytes alone a preview was 30 % short where the order of names is not that of accesses; following
/// the leaves it is within some per cent.
///
///     entries   0 1 2 3 4 | 5 6 7 8 | 9 10 11      in the order of their keys, so a leaf is a range of them
struct LeafForecast {
    private struct Leaf {
        var entries: Range<Int>
        var bytes = 0
        var count = 0
        var left: Int?
        var right: Int?
        /// The leaf that has taken this one in.
        var successor: Int?
    }

    private var leaves: [Leaf] = []
    /// Bytes of each entry in its leaf; 0 when it is gone.
    private var sizes: [Int] = []
    private var leafOf: [Int] = []
    private var entriesOf: [Handle: Range<Int>] = [:]
    private var overflows: [Int: Int] = [:]
    private let room: Int
    private let branches: Int
    private let allPages: Int
    private var freedLeaves = 0
    private var freedOverflows = 0

    /// LMDB's threshold, and what a page and each entry in it have besides keys and values.
    private static let leastShare = 4
    private static let pageOverhead = 16
    private static let entryOverhead = 10

    /// `handle` tells which record an entry is of. Costs a look-up for each entry.
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
            // The value has pages of its own, and the leaf their number.
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

    /// Pages that have come free, with the branches above them by their share.
    var freedPages: Int {
        let share = leaves.isEmpty ? 0 : Double(freedLeaves) / Double(leaves.count)
        return min(allPages, freedLeaves + freedOverflows + Int(share * Double(branches)))
    }

    /// Takes the entries of a record away.
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

    private func current(_ leaf: Int) -> Int {
        var leaf = leaf
        while let successor = leaves[leaf].successor { leaf = successor }
        return leaf
    }

    private func isLow(_ leaf: Int) -> Bool { leaves[leaf].bytes * Self.leastShare < room }

    private mutating func rebalance(_ leaf: Int) {
        guard isLow(leaf) else { return }
        if let left = leaves[leaf].left {
            let isFew = isLow(left) || leaves[left].count < 2
            if isFew { merge(leaf, into: left) } else { moveLast(of: left, to: leaf) }
        } else if let right = leaves[leaf].right {
            let isFew = isLow(right) || leaves[right].count < 2
            if isFew { merge(right, into: leaf) } else { moveFirst(of: right, to: leaf) }
        } else if leaves[leaf].count == 0, freedLeaves < leaves.count {
            freedLeaves += 1
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

    private mutating func moveLast(of left: Int, to leaf: Int) {
        guard let entry = leaves[left].entries.last(where: { sizes[$0] > 0 }) else { return }
        leaves[left].entries = leaves[left].entries.lowerBound..<entry
        leaves[leaf].entries = entry..<leaves[leaf].entries.upperBound
        move(entry, from: left, to: leaf)
    }

    private mutating func moveFirst(of right: Int, to leaf: Int) {
        guard let entry = leaves[right].entries.first(where: { sizes[$0] > 0 }) else { return }
        leaves[right].entries = entry + 1..<leaves[right].entries.upperBound
        leaves[leaf].entries = leaves[leaf].entries.lowerBound..<entry + 1
        move(entry, from: right, to: leaf)
    }

    private mutating func move(_ entry: Int, from source: Int, to target: Int) {
        leaves[source].bytes -= sizes[entry]
        leaves[source].count -= 1
        leaves[target].bytes += sizes[entry]
        leaves[target].count += 1
        leafOf[entry] = target
    }
}
