import EspalierConfinement
import EspalierRecords
import Synchronization

/// What this process knows of the trees that it wrote last: a fingerprint and the handle of each
/// node.
///
/// Apps write what a server sends, and most of that is stored already. If a node is written again
/// with its last fingerprint, and no commit has changed its record since, there is nothing to write
/// and nothing to look up:
///
///     write Feed:1 again ---- nodes ------------ same fingerprint, record not changed: nothing
///                                |
///                                +-------------- another fingerprint: written at the same handle
///                                |
///                                +-------------- record changed or gone: looked up by its name
///
/// What must not be lost is a write. A node is skipped only if its record is what the last write of
/// the node has left: every change of a record in a commit is in `ContentChanges`, in order, and a
/// commit of another process empties this. While a read has found damage that no commit has checked
/// yet, nothing is skipped, so that a write repairs what a read has found damaged.
///
/// `@unchecked Sendable` because it is confined to the thread that commits, which `Confined` checks;
/// `empty` is safe from every thread.
final class WrittenTrees: @unchecked Sendable {
    /// A tree with fewer nodes is written as fast without.
    static let fewestNodes = 16
    /// The changed handles that are kept. Trees from before the first of them are unknown.
    private static let changeLimit = 8_192

    /// What is known of a node. The identifier only tells that the node is another one, so that 32
    /// bits are enough; the name of the record that is written is checked.
    fileprivate struct Node {
        let content: UInt64
        let identifier: UInt32
        let handle: UInt32

        init(_ print: NodeFingerprint, _ handle: Handle) {
            content = print.content
            identifier = UInt32(truncatingIfNeeded: print.identifier)
            self.handle = UInt32(truncatingIfNeeded: handle.rawValue)
        }
    }

    private struct Tree {
        let nodes: [Node]
        /// The number of changes that came before.
        let position: Int
        var lastUse: Int

        var byteCount: Int { 64 + nodes.count * MemoryLayout<Node>.stride }
    }

    private struct State {
        /// By the fingerprint of the identifier of the first node.
        var trees: [UInt64: Tree] = [:]
        var byteCount = 0
        var uses = 0
        /// The handles that commits have changed, in order.
        var changes: [Handle] = []
        /// The number of changes before the first of `changes`.
        var firstChange = 0
    }

    // immutable
    private let byteLimit: Int

    // atomic
    private let mustEmpty = Atomic<Bool>(false)

    // confined to the thread that commits
    private let state = Confined(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Begins a transaction on the thread that commits.
    ///
    /// - Parameter isNext: Whether no other process has written since the last one, and the
    ///   generation is the same.
    func begin(isNext: Bool) {
        state.transferToCurrentThread()
        if mustEmpty.exchange(false, ordering: .relaxed) || !isNext { state.value = State() }
    }

    /// Forgets all trees before the next use. Safe from every thread.
    func empty() { mustEmpty.store(true, ordering: .relaxed) }

    /// What is known of the nodes of a tree.
    struct Knowledge {
        /// By index in the tree.
        var handles: [Handle]
        /// The nodes that have to be written, or compared with their records.
        var changed: [Int] = []
        /// Those of them whose records have changed, so that their handles may be wrong.
        var stale: Set<Int> = []
    }

    /// Returns what is known of a tree; nil if that is nothing, or if the tree has other nodes now.
    ///
    /// - Parameter changes: What the transaction has changed up to now.
    func knowledge(
        of tree: FlattenedTree, _ prints: [NodeFingerprint], after changes: ContentChanges
    ) -> Knowledge? {
        guard !changes.isUnknown, let known = use(prints[0].identifier),
            known.nodes.count == prints.count
        else { return nil }
        var knowledge = Knowledge(handles: [])
        knowledge.handles.reserveCapacity(prints.count)
        let stale = changed(since: known.position, changes)
        for (index, (node, print)) in zip(known.nodes, prints).enumerated() {
            guard node.identifier == UInt32(truncatingIfNeeded: print.identifier) else {
                return nil
            }
            knowledge.handles.append(Handle(UInt64(node.handle)))
            if node.content != print.content { knowledge.changed.append(index) }
        }
        if !stale.isEmpty { knowledge.add(stale, of: tree) }
        return knowledge
    }

    /// Returns a known tree, and notes that it was used.
    private func use(_ root: UInt64) -> Tree? {
        state.value.uses += 1
        state.value.trees[root]?.lastUse = state.value.uses
        return state.value.trees[root].flatMap {
            $0.position >= state.value.firstChange ? $0 : nil
        }
    }

    /// Returns the handles that were changed since a position, the transaction included.
    private func changed(since position: Int, _ changes: ContentChanges) -> Set<Handle> {
        let known = state.value.changes[(position - state.value.firstChange)...]
        return known.isEmpty && changes.changed.isEmpty
            ? [] : Set(known).union(changes.changed)
    }

    /// A tree that a transaction has written, until the commit has succeeded.
    struct Written {
        fileprivate let root: UInt64
        fileprivate let nodes: [Node]
        /// The changes of the transaction until then.
        fileprivate let changeCount: Int

        /// Returns nil if the tree can't be known: changes of records that the transaction has made
        /// are not in `ContentChanges`.
        init?(_ prints: [NodeFingerprint], _ handles: [Handle], _ changes: ContentChanges) {
            let firstNew = min(changes.firstNew, UInt64(UInt32.max))
            guard handles.allSatisfy({ $0.rawValue < firstNew }) else { return nil }
            root = prints[0].identifier
            nodes = zip(prints, handles).map { Node($0, $1) }
            changeCount = changes.changed.count
        }
    }

    /// Adds what a transaction has written and changed, after its commit.
    func add(_ written: [Written], _ changes: ContentChanges) {
        guard !changes.isUnknown else { return state.value = State() }
        let start = state.value.firstChange + state.value.changes.count
        state.value.changes += changes.changed
        let excess = state.value.changes.count - Self.changeLimit
        if excess > 0 {
            state.value.changes.removeFirst(excess)
            state.value.firstChange += excess
        }
        for tree in written {
            let old = state.value.trees[tree.root]
            let new = Tree(
                nodes: tree.nodes, position: start + tree.changeCount, lastUse: state.value.uses)
            state.value.byteCount += new.byteCount - (old?.byteCount ?? 0)
            state.value.trees[tree.root] = new
        }
        if state.value.byteCount > byteLimit { removeOldest() }
    }

    /// Removes the trees that were used longest ago, until a quarter of the bytes is free.
    private func removeOldest() {
        for (root, tree) in state.value.trees.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard state.value.byteCount > byteLimit * 3 / 4 else { return }
            state.value.trees[root] = nil
            state.value.byteCount -= tree.byteCount
        }
    }
}

extension WrittenTrees.Knowledge {
    /// Adds the nodes whose records have changed, and those that refer to them.
    fileprivate mutating func add(_ records: Set<Handle>, of tree: FlattenedTree) {
        for index in handles.indices where records.contains(handles[index]) { stale.insert(index) }
        guard !stale.isEmpty else { return }
        let parents = handles.indices.filter { index in
            stale.contains(index)
                || tree.entries[index].first.children.contains { stale.contains(tree.children[$0]) }
        }
        changed = Set(changed).union(parents).sorted()
    }
}
