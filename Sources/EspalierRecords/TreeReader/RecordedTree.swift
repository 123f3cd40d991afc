import Synchronization

/// The models of all records of a tree, as one read has decoded them.
///
/// The nodes stand in the order in which the read has entered the records, so a subtree is a range
/// of them. A record that the read has met several times has several nodes.
///
/// From the third time on, a read takes the model of a record that it has made before, and does not
/// enter the records below. The node is then a *repeat*: the nodes below it stand under another
/// node of the record, before it.
///
///     F            the tree F, whose parts A, B and C have the same author X with the picture Y
///     A  X  Y      "C X" is no subtree of its own: without A and B, nothing would tell that C
///     B  X  Y      depends on Y, too
///     C  X
///
/// So a subtree with a repeat whose other node is outside of the subtree is *open*, and no read
/// takes it over as a whole.
///
/// The nodes never change, and all threads may use them. A read that takes models from the lists
/// claims the tree first.
@usableFromInline
package final class RecordedTree: Sendable {
    struct Node: Sendable {
        let handle: Handle
        /// The nodes of the subtree, with this one.
        var size: Int32 = 1
        /// Where the model stands: the position in a list, and the number of the list; -1 if the
        /// model may not be used by another read.
        var position: Int32 = -1
        var list: Int16 = -1
        /// Whether the node is a repeat of a record with others below it.
        var isRepeat = false
        /// Whether the subtree is open.
        var isOpen = false
        /// What the subtree counts. It says nothing of where the subtree stands, so a tree takes
        /// over the nodes of another one as they are.
        var counts = Counts()

        init(_ handle: Handle) { self.handle = handle }
    }

    /// What a subtree counts, in less memory than `ReadCounts`. A read that counts more is not
    /// kept.
    struct Counts: Sendable {
        /// An upper bound of the levels below the record: the read may have been deeper before.
        var depth: Int16 = 0
        var records: Int32 = 0
        var logicalNodes: Int32 = 0
        var bytes: Int32 = 0

        init() {}

        /// What a read has counted between two points.
        @inline(__always)
        init(from start: ReadCounts, to end: ReadCounts) {
            depth = Int16(truncatingIfNeeded: end.depth &- start.depth)
            records = Int32(truncatingIfNeeded: end.records &- start.records)
            logicalNodes = Int32(truncatingIfNeeded: end.logicalNodes &- start.logicalNodes)
            bytes = Int32(truncatingIfNeeded: end.bytes &- start.bytes)
        }

        /// Returns whether the memory is enough for these counts.
        static func hold(_ counts: ReadCounts) -> Bool {
            Int16(exactly: counts.depth) != nil && Int32(exactly: counts.records) != nil
                && Int32(exactly: counts.logicalNodes) != nil
                && Int32(exactly: counts.bytes) != nil
        }
    }

    /// Records that the read has looked at and that have no node: those of keys, collections and
    /// segments, and all if models were not kept.
    let entries: [Handle]
    let nodes: [Node]
    let lists: [ModelList]
    let hasRepeats: Bool
    /// The deepest level.
    package let depth: Int
    /// The nodes of the tree, each counted as often as it occurs.
    package let logicalNodes: Int
    /// The smallest handle and the largest one, or more.
    let range: ClosedRange<UInt64>

    init(
        entries: [Handle], nodes: [Node], lists: [ModelList], hasRepeats: Bool, total: ReadCounts,
        moreBytes: Int = 0, range: ClosedRange<UInt64>
    ) {
        let nodes = hasRepeats ? Self.markingOpen(nodes) : nodes
        depth = total.depth
        logicalNodes = total.logicalNodes
        ownBytes =
            entries.capacity * 8 + nodes.capacity * MemoryLayout<Node>.stride
            + lists.reduce(moreBytes) { $0 + $1.byteCount }
        self.moreBytes = moreBytes
        let models = lists.reduce(0) { $0 + $1.count }
        modelsPerNode = Double(models) / Double(max(nodes.count, 1))
        isWasteful = models > 2 * nodes.count + 32
        self.entries = entries
        self.nodes = nodes
        self.lists = lists
        self.hasRepeats = hasRepeats
        self.range = range
    }

    /// Makes a tree of records without their models.
    package convenience init(of records: [Handle]) {
        let handles = records.lazy.map(\.rawValue)
        let (low, high) = (handles.min() ?? 0, handles.max() ?? 0)
        self.init(
            entries: records, nodes: [], lists: [], hasRepeats: false,
            total: ReadCounts(depth: 0, logicalNodes: 0, bytes: 0, records: records.count),
            range: low...high)
    }

    /// The records that have others below them.
    package var parents: [Handle] { nodes.lazy.filter { $0.size > 1 }.map(\.handle) }

    /// Returns the nodes with the open subtrees marked.
    private static func markingOpen(_ nodes: [Node]) -> [Node] {
        guard nodes.contains(where: \.isRepeat) else { return nodes }
        var marked = nodes
        /// The last node of each record that has others below it.
        var whole: [Handle: Int] = [:]
        let mixed = recordsOfSeveralTypes(nodes)
        var path: [(node: Int, end: Int)] = []
        for index in nodes.indices {
            while let last = path.last, last.end <= index { path.removeLast() }
            let node = nodes[index]
            marked[index].isOpen = false
            if node.size > 1 {
                path.append((index, index + Int(node.size)))
                whole[node.handle] = index
            } else if node.isRepeat {
                // A record that was read as several types has other records below it each time.
                let known = mixed.contains(node.handle) ? -1 : whole[node.handle] ?? -1
                for step in path where step.node > known { marked[step.node].isOpen = true }
            }
        }
        return marked
    }

    /// Returns the records with others below them that were read as several types.
    private static func recordsOfSeveralTypes(_ nodes: [Node]) -> Set<Handle> {
        var lists: [Handle: Int16] = [:]
        var found: Set<Handle> = []
        for node in nodes where node.size > 1 {
            if lists.updateValue(node.list, forKey: node.handle) ?? node.list != node.list {
                found.insert(node.handle)
            }
        }
        return found
    }

    /// The number of records that the tree was read from, each counted as often as it was read.
    package var nodeCount: Int { nodes.count + entries.count }

    /// The memory that the tree takes, apart from what its models refer to: text and arrays.
    package let ownBytes: Int
    /// The memory of its arrays beyond the estimate from the bytes of its records.
    private let moreBytes: Int
    /// The part of `moreBytes` that a newer tree takes over together with the lists of models.
    var moreBytesOfModels: Int { nodes.isEmpty ? 0 : moreBytes }
    /// How many models the lists have for each node: those included that only older trees had.
    package let modelsPerNode: Double

    /// Whether the lists have so many models of older trees that it is better to decode the tree
    /// anew.
    let isWasteful: Bool
    private let isClaimed = Atomic<Bool>(false)

    /// Gives the lists of the tree to the one read that makes the tree which takes the place of
    /// this one. Returns false if a read has them already, or if they are better made anew. A read
    /// that misses does not give them back, because it has appended models that belong to no tree.
    package func claim() -> Bool {
        !isWasteful && !isClaimed.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Returns where the model of a node stands, and moves on to the node's next sibling.
    @usableFromInline
    func nextPosition(after node: inout Int) -> Int {
        let position = nodes[node].position
        node += Int(nodes[node].size)
        return Int(position)
    }

    /// Returns whether the tree depends on one of the records.
    package func contains(anyOf changed: HandleList) -> Bool {
        guard changed.overlaps(range) else { return false }
        return entries.contains { changed.contains($0) }
            || nodes.contains { changed.contains($0.handle) }
    }

    /// Returns which subtrees of the tree still are as they were, after records have changed.
    ///
    /// - Complexity: O(*n*) in the nodes.
    package func staleTree(after changed: HandleList) -> StaleTree {
        var isStale = [Bool](repeating: false, count: nodes.count)
        guard changed.overlaps(range) else { return StaleTree(tree: self, isStale: isStale) }
        mark(&isStale) { changed.contains($0) }
        guard hasRepeats else { return StaleTree(tree: self, isStale: isStale) }
        // The nodes below a repeat stand under another node of its record.
        var count = 0
        while true {
            let stale = HandleList(zip(nodes, isStale).compactMap { $1 ? $0.handle : nil })
            guard stale.count > count else { return StaleTree(tree: self, isStale: isStale) }
            count = stale.count
            mark(&isStale) { stale.contains($0) }
        }
    }

    /// Marks the nodes whose handles satisfy a condition, and all above them.
    private func mark(_ isStale: inout [Bool], where condition: (Handle) -> Bool) {
        // The ends of the subtrees of the nodes above the last changed one.
        var ends: [Int] = []
        // Where the search for the next node above a changed one goes on.
        var next = 0
        for index in nodes.indices where condition(nodes[index].handle) {
            while let end = ends.last, end <= index {
                next = end
                ends.removeLast()
            }
            while next < index {
                let end = next + Int(nodes[next].size)
                if end <= index {
                    next = end
                } else {
                    isStale[next] = true
                    ends.append(end)
                    next += 1
                }
            }
            isStale[index] = true
        }
    }
}

/// A tree of which some records have changed.
package struct StaleTree {
    package let tree: RecordedTree
    /// By node: whether its record, or one below it, has changed.
    let isStale: [Bool]
}

/// A set of handles that is fast to search, and small.
package struct HandleList: Sendable {
    /// In ascending order, each once.
    private let handles: ContiguousArray<UInt64>
    /// A bit for the low bits of each handle.
    private let mask: UInt64

    package init(_ handles: some Sequence<Handle>) {
        self.init(sorting: ContiguousArray(handles.map(\.rawValue)))
    }

    private init(sorting all: ContiguousArray<UInt64>) {
        var handles = all
        handles.sort()
        var kept = 0
        for index in handles.indices where index == 0 || handles[index] != handles[index - 1] {
            handles[kept] = handles[index]
            kept += 1
        }
        handles.removeLast(handles.count - kept)
        self.handles = handles
        mask = handles.reduce(0) { $0 | 1 << ($1 & 63) }
    }

    /// Returns all handles of several lists.
    package init(union lists: [HandleList]) {
        if lists.count == 1 {
            self = lists[0]
        } else {
            self.init(sorting: ContiguousArray(lists.flatMap(\.handles)))
        }
    }

    /// The handles in ascending order.
    package var ascending: [UInt64] { Array(handles) }
    package var count: Int { handles.count }
    package var isEmpty: Bool { handles.isEmpty }

    @inline(__always)
    package func contains(_ handle: Handle) -> Bool {
        guard mask & (1 << (handle.rawValue & 63)) != 0 else { return false }
        return search(handle.rawValue)
    }

    private func search(_ handle: UInt64) -> Bool {
        var (low, high) = (0, handles.count)
        while low < high {
            let middle = (low + high) / 2
            if handles[middle] < handle { low = middle + 1 } else { high = middle }
        }
        return low < handles.count && handles[low] == handle
    }

    func overlaps(_ range: ClosedRange<UInt64>) -> Bool {
        guard let first = handles.first, let last = handles.last else { return false }
        return first <= range.upperBound && last >= range.lowerBound
    }
}
