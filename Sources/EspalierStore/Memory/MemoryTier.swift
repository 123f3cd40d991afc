import EspalierLMDB
import EspalierRecords
import Foundation
import Synchronization

/// The trees that reads have decoded lately: a read of what has not changed costs a look-up.
///
///     read ---- find ------------ right ----> the model, without a transaction
///                 |
///                 +-- stale, or not there --> the usual read, with a recorder. It takes what has
///                                             not changed from the stale tree, and its result
///                                             takes the place of that tree.
///
/// A tree is right as long as `CommitHistory` knows all commits since it was read, and none of them
/// has changed a record of it. A commit costs the list of the records that it changes; the trees
/// compare themselves with it when they are read.
///
/// What a read from memory returns is what a read of the last commit would return. If that commit
/// is one of another process, or one that is ending, `find` finds nothing.
///
/// All threads may use a tier. A look-up takes the lock of one of several tables, and gives up if
/// other threads hold it. The trees that were used longest ago leave if the tier exceeds its
/// budget, by the second-chance rule, see `BlockCache`.
final class MemoryTier: Sendable {
    // immutable
    let history = CommitHistory()
    private let budget: Int
    private let tables: [Table]
    private let generations: GenerationHolder

    /// A part of the trees.
    private final class Table: Sendable {
        let trees = Mutex<[MemoryTree.Key: MemoryTree]>([:])
        let hits = Atomic<Int>(0)
        let misses = Atomic<Int>(0)
        let staleReads = Atomic<Int>(0)
    }

    // protected by `state`, which is locked before a table
    fileprivate struct State {
        var source: MemorySource?
        /// All trees, in no order.
        var ring: [MemoryTree] = []
        var hand = 0
        var bytes = 0
        var removals = 0
    }
    private let state = Mutex(State())

    init(budget: ByteCount, _ generations: GenerationHolder) {
        self.budget = budget.bytes
        self.generations = generations
        tables = (0..<16).map { _ in Table() }
    }

    // MARK: - Looking up

    /// Returns the tree of a read if it is right in the last commit of all processes.
    func find(_ key: MemoryTree.Key) -> MemoryTree? {
        let table = table(of: key)
        guard let tree = Self.lookUp(key, in: table), tree.source.isLive,
            tree.source.lastCommit == history.position, tree.isRight(by: history)
        else { return nil }
        table.hits.add(1, ordering: .relaxed)
        tree.noteUse()
        return tree
    }

    private func table(of key: MemoryTree.Key) -> Table {
        let name = key.identifier.string.utf8
        var hash = name.count
        // The last bytes differ most. The dictionary hashes the whole name.
        for byte in name.suffix(3) { hash = hash &* 31 &+ Int(byte) }
        return tables[hash & 15]
    }

    private static let attempts = 64

    private static func lookUp(_ key: MemoryTree.Key, in table: Table) -> MemoryTree? {
        for _ in 0..<attempts {
            if let found = table.trees.withLockIfAvailable({ $0[key] }) { return found }
        }
        return nil
    }

    // MARK: - Reading what is not there

    /// Makes the recorder of a read that found nothing.
    ///
    /// - Parameter number: The last commit of the read's snapshot.
    func makeRecorder(
        for key: MemoryTree.Key, _ generation: Generation, at number: UInt64
    ) -> TreeRecorder {
        if state.withLock({ $0.source?.generation }) === generation {
            history.catchUp(to: number, nil)
        }
        let table = table(of: key)
        guard let known = Self.lookUp(key, in: table) else {
            table.misses.add(1, ordering: .relaxed)
            return TreeRecorder(keepsModels: false)
        }
        table.staleReads.add(1, ordering: .relaxed)
        // A tree that changes is worth more: from now on, the models of its parts are kept.
        return TreeRecorder(older: older(known, generation, at: number), keepsModels: true)
    }

    /// Returns which parts of a tree are still right for a read, and borrows the tree for it.
    private func older(
        _ known: MemoryTree, _ generation: Generation, at number: UInt64
    ) -> StaleTree? {
        guard known.source.generation === generation, known.checkedCommit <= number,
            let (changes, through) = history.changes(after: known.checkedCommit), through >= number
        else { return nil }
        // Another read may decode the same changes. This one decodes the whole tree then.
        return known.tree.borrow() ? known.tree.staleTree(after: changes.changed) : nil
    }

    /// Returns the number of records of a tree in memory, changed or not; nil if it is not there.
    func recordCount(of key: MemoryTree.Key) -> Int? {
        Self.lookUp(key, in: table(of: key))?.recordCount
    }

    /// Keeps the result of a read. Returns false if that is not possible.
    func insert<Value: Sendable>(
        _ value: Value, _ key: MemoryTree.Key, _ tree: RecordedTree, _ generation: Generation,
        _ description: MemoryTree.Description
    ) -> Bool {
        guard let source = source(generation, description.commit) else { return false }
        let new = MemoryValue(value, key, of: source, tree, description)
        guard new.byteCount <= budget / 2 else {
            remove(key)
            return true
        }
        let table = table(of: key)
        return state.withLock { state in
            // A switch to another generation may have emptied the tier meanwhile.
            guard state.source === source else { return false }
            if let old = table.trees.withLock({ $0.updateValue(new, forKey: key) }) {
                state.remove(old)
            }
            state.add(new)
            makeRoom(&state)
            return true
        }
    }

    /// Returns the source of the trees of a generation. Forgets the trees of any other.
    private func source(_ generation: Generation, _ commit: UInt64) -> MemorySource? {
        if let source = state.withLock({ $0.source }), source.generation === generation {
            return source
        }
        guard let guardFile = generations.guardFileIfOpen, generations.isLive(generation),
            let source = try? MemorySource(generation, guardFile)
        else { return nil }
        return state.withLock { state in
            if let other = state.source, other.generation === generation { return other }
            empty(&state)
            state.source?.close()
            history.restart(after: commit)
            state.source = source
            return source
        }
    }

    private func remove(_ key: MemoryTree.Key) {
        state.withLock { state in
            guard let old = table(of: key).trees.withLock({ $0.removeValue(forKey: key) }) else {
                return
            }
            state.remove(old)
        }
    }

    /// Removes a tree that a read has borrowed, and that no other takes the place of.
    func remove(_ tree: RecordedTree, of key: MemoryTree.Key) {
        state.withLock { state in
            let old = table(of: key).trees.withLock { trees -> MemoryTree? in
                trees[key]?.tree === tree ? trees.removeValue(forKey: key) : nil
            }
            if let old { state.remove(old) }
        }
    }

    private func makeRoom(_ state: inout State) {
        while state.bytes > budget, !state.ring.isEmpty {
            if state.hand >= state.ring.count { state.hand = 0 }
            let tree = state.ring[state.hand]
            guard !tree.takeUse() else {
                state.hand += 1
                continue
            }
            table(of: tree.key).trees.withLock { $0[tree.key] = nil }
            state.remove(tree)
            state.removals += 1
        }
    }

    // MARK: - Emptying

    /// Removes all trees.
    func removeAll() { state.withLock { empty(&$0) } }

    /// Removes all trees, because another generation follows.
    func removeGeneration() {
        state.withLock { state in
            empty(&state)
            state.source?.close()
            state.source = nil
        }
    }

    private func empty(_ state: inout State) {
        for table in tables { table.trees.withLock { $0 = [:] } }
        state.ring = []
        state.hand = 0
        state.bytes = 0
    }

    // MARK: - Commits

    /// Notes what a commit of this process has changed; nil if that can't be told.
    func endCommit(_ number: UInt64, in generation: Generation, _ entry: CommitHistory.Entry?) {
        guard state.withLock({ $0.source?.generation }) === generation else {
            return history.cancelCommit()
        }
        history.endCommit(number, entry)
    }

    // MARK: - Statistics

    /// What the tier holds and has done.
    var statistics: MemoryStatistics {
        var statistics = MemoryStatistics()
        for table in tables {
            statistics.hits += table.hits.load(ordering: .relaxed)
            statistics.misses += table.misses.load(ordering: .relaxed)
            statistics.staleReads += table.staleReads.load(ordering: .relaxed)
            statistics.trees += table.trees.withLock { $0.count }
        }
        state.withLock { state in
            statistics.removals = state.removals
            statistics.bytes = ByteCount(state.bytes)
        }
        return statistics
    }
}

extension MemoryTier.State {
    fileprivate mutating func add(_ tree: MemoryTree) {
        tree.place = ring.count
        ring.append(tree)
        bytes += tree.byteCount
    }

    fileprivate mutating func remove(_ tree: MemoryTree) {
        bytes -= tree.byteCount
        ring.swapAt(tree.place, ring.count - 1)
        ring[tree.place].place = tree.place
        ring.removeLast()
    }
}

/// What the memory for decoded trees holds, and how often trees were found in it.
///
/// ```swift
/// let memory = try cache.statistics().memory
/// print("\(memory.trees) trees, \(memory.hits) times found, \(memory.staleReads) times changed")
/// ```
///
/// The counts begin when the cache is opened.
public struct MemoryStatistics: Sendable, Hashable, Codable {
    /// How often a read found its tree, unchanged.
    public var hits = 0
    /// How often a read did not find its tree.
    public var misses = 0
    /// How often a read found its tree, but a record of it may have changed. It then decoded what
    /// had changed.
    public var staleReads = 0
    /// How many trees were removed to make room for others.
    public var removals = 0
    /// The trees in memory.
    public var trees = 0
    /// An estimate of the memory that the trees take.
    public var bytes = ByteCount(0)

    /// Creates the statistics of an empty memory.
    public init() {}
}
