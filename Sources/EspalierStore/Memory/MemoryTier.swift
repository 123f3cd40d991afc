import EspalierConfinement
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
/// has changed a record of it. A commit only lists the records that it changes; a read compares its
/// tree with these lists.
///
/// What a read from memory returns is what a read of the last commit would return. If that commit
/// is one of another process, or one that is ending, `find` finds nothing; a read then catches up
/// with the other process, see `MemoryFollowing`.
///
/// All threads may use a tier. A look-up takes the lock of one of several tables, and gives up if
/// other threads hold it. The trees that were used longest ago leave if the tier exceeds its
/// budget, by the second-chance rule, see `BlockCache`. Trees are released outside of all locks,
/// because the models in them may run code of the app then.
final class MemoryTier: Sendable {
    // immutable
    private let budget: Int
    private let tables: [Table]
    /// `tables` without reference counting, for reads: see `Uncounted`.
    private let lentTables: [Uncounted<Table>]
    private let generations: GenerationHolder
    private let counter: MemoryCounter
    private let following: MemoryFollowing

    /// A part of the trees.
    private final class Table: Sendable {
        let counter: MemoryCounter.Part
        let trees = Mutex<[MemoryTree.Key: MemoryTree]>([:])
        private let padding = CacheLinePadding()

        init(_ counter: MemoryCounter.Part) { self.counter = counter }
    }

    // protected by `state`, which is locked before a table
    fileprivate struct State {
        var source: MemorySource?
        /// All trees, in no order.
        var ring: [MemoryTree] = []
        /// Where the search for a tree to remove goes on; 0 if there is no tree.
        var hand = 0
        var bytes = 0
    }
    private let state = Mutex(State())

    init(budget: ByteCount, _ generations: GenerationHolder, _ counter: MemoryCounter) {
        self.budget = budget.bytes
        self.generations = generations
        self.counter = counter
        following = MemoryFollowing(generations)
        tables = counter.parts.map(Table.init)
        lentTables = tables.map(Uncounted.init)
    }

    // MARK: - Looking up

    /// Returns the tree of a read if it is right in the last commit of all processes.
    func find(_ target: ReadTarget, as value: Any.Type) -> MemoryTree? {
        let key = target.key(for: value)
        let table = lentTables[Self.tableNumber(of: key)]
        guard let tree = table.with({ Self.lookUp(key, in: $0) }),
            tree.lentSource.with({ $0.isCurrent }),
            tree.isValid, !target.isDated || tree.writtenAt != nil
        else { return nil }
        // The read finds out which record it is that has expired.
        guard
            !tree.hasAges || target.freshness != .fresh
                || generations.clock.second < tree.ages.freshUntil
        else { return nil }
        table.with { _ = $0.counter.hits.add(1, ordering: .relaxed) }
        tree.noteUse()
        return tree
    }

    private func table(of key: MemoryTree.Key) -> Table { tables[Self.tableNumber(of: key)] }

    private static func tableNumber(of key: MemoryTree.Key) -> Int {
        let name = key.identifier.string.utf8
        var hash = name.count
        // The last bytes differ most. The dictionary hashes the whole name.
        for byte in name.suffix(3) { hash = hash &* 31 &+ Int(byte) }
        return hash & (MemoryCounter.partCount - 1)
    }

    private static let attempts = 64

    private static func lookUp(_ key: MemoryTree.Key, in table: Table) -> MemoryTree? {
        // In a forked child, `Mutex` of the Swift library still knows the number of the parent's
        // thread in some places, and ends the process when such a lock is released.
        guard ForkCounter.current == 0 else { return table.trees.withLock { $0[key] } }
        for _ in 0..<attempts {
            if let found = table.trees.withLockIfAvailable({ $0[key] }) { return found }
        }
        return nil
    }

    // MARK: - Reading what is not there

    /// Lets the history catch up with the last commit in a snapshot, if that is one of another
    /// process. Returns whether a tree may be right now that was not before.
    func catchUp(
        with transaction: borrowing ReadTransaction, of generation: Generation
    ) -> Bool {
        guard let source = state.withLock({ $0.source }) else { return false }
        guard source.generation === generation else {
            // Another process has switched to a new generation: the old one is not needed.
            if !source.isLive { removeGeneration() }
            return false
        }
        let number = transaction.number
        guard number > source.history.position else { return false }
        let (snapshot, keyspaces) = (transaction.snapshot, generation.keyspaces)
        let isAhead = source.history.catchUp(to: number) { known in
            guard let commit = try? snapshot.counters(keyspaces).commits else { return nil }
            return following.entries(
                after: known, through: number, commit: commit, in: snapshot, keyspaces)
        }
        if isAhead { following.noteCommitOfAnother() }
        return isAhead
    }

    /// What memory has of a tree that has to be read.
    struct Remains {
        fileprivate let known: MemoryTree?
        fileprivate let counter: MemoryCounter.Part

        /// Counts the read. A read that begins anew on another thread is counted once.
        func count() {
            if known == nil {
                counter.misses.add(1, ordering: .relaxed)
            } else {
                counter.staleReads.add(1, ordering: .relaxed)
            }
        }
    }

    func remains(of key: MemoryTree.Key) -> Remains {
        let table = table(of: key)
        return Remains(known: Self.lookUp(key, in: table), counter: table.counter)
    }

    /// Makes the recorder of a read that found nothing.
    ///
    /// - Parameter number: The last commit of the read's snapshot.
    func makeRecorder(
        _ remains: Remains, _ generation: Generation, at number: UInt64
    ) -> TreeRecorder {
        // The ages of all records have to be looked up.
        guard let known = remains.known, !known.needsDates else {
            return TreeRecorder(keepsModels: false)
        }
        // A tree that changes is worth more: from now on, the models of its parts are kept.
        return TreeRecorder(older: older(known, generation, at: number), keepsModels: true)
    }

    /// Returns which parts of a tree are still right for a read, and claims its models for the
    /// read.
    private func older(
        _ known: MemoryTree, _ generation: Generation, at number: UInt64
    ) -> StaleTree? {
        guard known.source.generation === generation, known.checkedCommit <= number,
            let (entries, through) = known.source.history.entries(after: known.checkedCommit),
            through >= number,
            let changed = CommitHistory.changed(in: entries, limit: known.searchLimit)
        else { return nil }
        // Another read may decode the same changes. This one decodes the whole tree then.
        return known.tree.claim() ? known.tree.staleTree(after: changed) : nil
    }

    /// The size of a tree in memory, changed or not; nil if it is not there.
    func size(of key: MemoryTree.Key) -> (nodes: Int, bytes: Int, depth: Int)? {
        Self.lookUp(key, in: table(of: key)).map {
            (max($0.recordCount, $0.tree.logicalNodes), $0.recordBytes, $0.tree.depth)
        }
    }

    /// Keeps the result of a read. Returns false if that is not possible.
    func insert<Value: Sendable>(
        _ value: Value, _ count: Int, _ key: MemoryTree.Key, _ tree: RecordedTree,
        _ generation: Generation, _ description: MemoryTree.Description
    ) -> Bool {
        guard let source = source(generation, description.commit) else { return false }
        return insert(MemoryValue(value, count, key, of: source, tree, description))
    }

    private func insert(_ new: MemoryTree) -> Bool {
        guard new.byteCount <= budget / 2 else {
            remove(new.key)
            return true
        }
        let table = table(of: new.key)
        let (isKept, released) = state.withLock { state -> (Bool, [MemoryTree]) in
            // A switch to another generation may have emptied the tier meanwhile.
            guard state.source === new.source else { return (false, []) }
            var released: [MemoryTree] = []
            if let old = table.trees.withLock({ $0.updateValue(new, forKey: new.key) }) {
                state.remove(old)
                released.append(old)
            }
            makeRoom(for: new, &state, &released)
            state.add(new)
            return (true, released)
        }
        // Outside of the lock, see above.
        withExtendedLifetime(released) {}
        return isKept
    }

    /// Returns the source of the trees of a generation. Forgets the trees of any other.
    private func source(_ generation: Generation, _ commit: UInt64) -> MemorySource? {
        if let source = state.withLock({ $0.source }), source.generation === generation {
            return source
        }
        guard let guardFile = generations.guardFileIfOpen, generations.isLive(generation),
            let source = try? MemorySource(generation, guardFile, after: commit)
        else { return nil }
        let (current, released) = state.withLock { state -> (MemorySource, [MemoryTree]) in
            if let other = state.source, other.generation === generation { return (other, []) }
            let released = removeAll(&state)
            state.source?.close()
            state.source = source
            return (source, released)
        }
        withExtendedLifetime(released) {}
        return current
    }

    // MARK: - Writes

    /// Returns the last write of an entry that was kept, whether or not its records have changed
    /// since.
    func findWrite(_ key: MemoryTree.Key) -> WrittenTree? {
        Self.lookUp(key, in: table(of: key)) as? WrittenTree
    }

    /// Keeps a write.
    ///
    /// - Parameter entry: What the commit of the write has changed.
    func insert(
        _ write: KeepableWrite, _ handles: [Handle], _ commit: CommitTransaction,
        _ entry: CommitHistory.Entry
    ) {
        guard let source = source(commit.generation, entry.number) else { return }
        let written = WrittenTree(
            write, handles, of: source, at: entry.number, damageCount: commit.damageCount)
        _ = insert(written)
    }

    /// Removes the kept write of an entry, because a read has not found the entry.
    func removeWrite(_ nameSpace: NameSpace, _ name: String) {
        let key = WrittenTree.key(nameSpace, name)
        if findWrite(key) != nil { remove(key) }
    }

    /// Counts writes that memory knew to be stored.
    func count(repeatedWrites count: Int) {
        if count > 0 { counter.repeatedWrites.add(UInt64(count), ordering: .relaxed) }
    }

    // MARK: - Removing

    private func remove(_ key: MemoryTree.Key) {
        let table = table(of: key)
        _ = state.withLock { state -> MemoryTree? in
            let old = table.trees.withLock { $0.removeValue(forKey: key) }
            if let old { state.remove(old) }
            return old
        }
    }

    /// Removes a tree whose models a read has claimed without replacing the tree.
    func remove(_ tree: RecordedTree, of key: MemoryTree.Key) {
        if Self.lookUp(key, in: table(of: key))?.tree === tree { remove(key) }
    }

    /// Removes trees until there is room for another one, which is not among them yet.
    private func makeRoom(
        for new: MemoryTree, _ state: inout State, _ released: inout [MemoryTree]
    ) {
        while state.bytes + new.byteCount > budget, !state.ring.isEmpty {
            let tree = state.ring[state.hand]
            // The tree that takes the place of a removed one waits for the next round, too: it may
            // be the newest.
            defer { state.advanceHand() }
            guard !tree.takeUse() else { continue }
            table(of: tree.key).trees.withLock { $0[tree.key] = nil }
            state.remove(tree)
            released.append(tree)
            counter.removals.add(1, ordering: .relaxed)
        }
    }

    /// Removes all trees.
    func removeAll() {
        _ = state.withLock { state in
            state.source?.history.forget()
            return removeAll(&state)
        }
    }

    /// Removes all trees and lets go of their generation, because another one follows or the cache
    /// closes.
    func removeGeneration() {
        _ = state.withLock { state -> ([MemoryTree], MemorySource?) in
            state.source?.close()
            return (removeAll(&state), state.source.take())
        }
    }

    /// Returns the trees, which the caller releases outside of the lock.
    private func removeAll(_ state: inout State) -> [MemoryTree] {
        for table in tables { table.trees.withLock { $0 = [:] } }
        defer {
            state.ring = []
            state.hand = 0
            state.bytes = 0
        }
        return state.ring
    }

    // MARK: - Commits

    /// The history of the commits of a generation; nil if the tier has no tree of it.
    private func history(of generation: Generation) -> CommitHistory? {
        state.withLock { $0.source?.generation === generation ? $0.source?.history : nil }
    }

    /// Notes that this process commits: a read must not take the commit for one of another process.
    func beginCommit(in generation: Generation) { history(of: generation)?.beginCommit() }

    /// Notes that the commit has failed. Does nothing if none has begun.
    func cancelCommit(in generation: Generation) { history(of: generation)?.cancelCommit() }

    /// Notes what a transaction of this process has changed; nil if that can't be told.
    ///
    /// - Parameter before: The number of the last commit before the transaction.
    func endCommit(
        _ number: UInt64, in generation: Generation, _ entry: CommitHistory.Entry?,
        after before: UInt64
    ) {
        guard let history = history(of: generation) else { return }
        let keyspaces = generation.keyspaces
        history.endCommit(number, entry) { known, last in
            try? generation.environment.read { transaction in
                following.entries(
                    after: known, through: last, commit: before, in: transaction.snapshot,
                    keyspaces)
            }
        }
    }

    /// Makes every tree count as right: a deliberate defect, for the test that must notice it.
    func hideChanges(upTo number: UInt64) {
        state.withLock { $0.source }?.history.hideChanges(upTo: number)
    }

    // MARK: - Statistics

    /// What the tier holds.
    var contents: (trees: Int, bytes: ByteCount) {
        state.withLock { ($0.ring.count, ByteCount($0.bytes)) }
    }

    /// How many writes memory knew to be stored, since the cache was opened.
    var repeatedWrites: UInt64 { counter.repeatedWrites.load(ordering: .relaxed) }
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
        if hand >= ring.count { hand = 0 }
    }

    fileprivate mutating func advanceHand() { hand = hand + 1 < ring.count ? hand + 1 : 0 }
}
