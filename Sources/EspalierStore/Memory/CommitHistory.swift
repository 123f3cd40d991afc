import EspalierRecords
import Synchronization

/// What the last commits have changed: for trees in memory, which compare themselves with it when
/// they are read.
///
///     position    the last commit whose changes are known
///     forgotten   the changes of commits up to this one are not known any more
///
/// A tree that was read in a snapshot between both is still right if no later commit has changed a
/// record of it. All threads may use a history.
final class CommitHistory: Sendable {
    /// The changes of one commit.
    final class Entry: Sendable {
        let number: UInt64
        /// The records whose content changed, or which were removed.
        let changed: HandleList
        /// The records that were written by themselves, so that their date has changed.
        let dated: HandleList
        /// The keys and collections that were made, changed or removed.
        let keys: Set<Identifier>
        /// What the entry counts for the limit on names. A long key counts for several.
        let nameCount: Int

        init(_ number: UInt64, changed: HandleList, dated: HandleList, keys: Set<Identifier>) {
            self.number = number
            self.changed = changed
            self.dated = dated
            self.keys = keys
            nameCount =
                keys.reduce(changed.count + dated.count) { $0 + 1 + $1.string.utf8.count / 32 }
        }

        /// Returns the entry of a commit that changes no record.
        static func empty(_ number: UInt64) -> Entry {
            Entry(number, changed: HandleList([]), dated: HandleList([]), keys: [])
        }
    }

    /// The most commits that are remembered, and the highest sum of their name counts.
    fileprivate static let limits = (entries: 512, names: 1 << 16)

    // protected by `state`
    fileprivate struct State {
        var entries: [Entry] = []
        /// The sum of the entries' name counts.
        var names = 0
        var forgotten: UInt64
        /// Whether this process commits. A new commit in the file is then no reason to look for the
        /// changes of another process.
        var isCommitting = false
    }
    private let state: Mutex<State>

    // atomic, changed only under `state`
    private let last: Atomic<UInt64>

    /// The last commit whose changes are known.
    var position: UInt64 { last.load(ordering: .acquiring) }

    /// Begins after a commit.
    init(after number: UInt64) {
        state = Mutex(State(forgotten: number))
        last = Atomic(number)
    }

    /// Forgets all changes. A tree that was read before the last commit then counts as changed.
    func forget() { state.withLock { $0.forgetAll(upTo: position) } }

    // MARK: - Commits of this process

    func beginCommit() { state.withLock { $0.isCommitting = true } }

    /// Notes that the commit has failed. Does nothing if none has begun.
    func cancelCommit() { state.withLock { $0.isCommitting = false } }

    /// Adds the changes of a commit of this process; nil if it can't be told what has changed, as
    /// after a repair.
    ///
    /// - Parameter others: Returns the changes of other processes between two commits; nil if they
    ///   are not known.
    func endCommit(
        _ number: UInt64, _ entry: Entry?, others: (_ after: UInt64, UInt64) -> [Entry]?
    ) {
        let known = position
        let before = number > known + 1 ? others(known, number - 1) : []
        state.withLock { state in
            state.isCommitting = false
            guard number > position else { return }
            if let entry, let before, known == position {
                for earlier in before { state.add(earlier) }
                state.add(entry)
            } else {
                state.forgetAll(upTo: number)
            }
            last.store(number, ordering: .releasing)
        }
    }

    /// Makes every tree count as right, as if no commit up to `number` had changed anything: a
    /// deliberate defect, for the test that must notice it.
    func hideChanges(upTo number: UInt64) {
        state.withLock { state in
            state.forgetAll(upTo: 0)
            last.store(number, ordering: .releasing)
        }
    }

    // MARK: - Commits of other processes

    /// Catches up with a commit of another process. Returns false if the history is there already,
    /// or if the commit may be one of this process.
    ///
    /// - Parameter others: Returns the changes of the commits after one of them; nil if they are
    ///   not known.
    func catchUp(to number: UInt64, others: (_ after: UInt64) -> [Entry]?) -> Bool {
        let known = position
        guard number > known else { return false }
        // The ring is read without the lock, which commits need.
        let entries = others(known)
        return state.withLock { state in
            guard number > position, !state.isCommitting else { return false }
            if let entries, known == position {
                for entry in entries { state.add(entry) }
            } else {
                state.forgetAll(upTo: number)
            }
            last.store(number, ordering: .releasing)
            return true
        }
    }

    // MARK: - Looking up

    /// Returns the commits after one that have changed something; nil if they are not known.
    /// `number` is at most `position`.
    func entries(after number: UInt64) -> (entries: [Entry], through: UInt64)? {
        let (entries, forgotten, through) = state.withLock { state in
            (state.entries(after: number), state.forgotten, position)
        }
        return number >= forgotten && number <= through ? (entries, through) : nil
    }

    /// Returns the records that several commits have changed; nil if there are more than `limit`.
    static func changed(in entries: [Entry], limit: Int) -> HandleList? {
        let count = entries.reduce(0) { $0 + $1.changed.count }
        return count <= limit ? HandleList(union: entries.map(\.changed)) : nil
    }
}

extension CommitHistory.State {
    fileprivate mutating func add(_ entry: CommitHistory.Entry) {
        // Most commits of a cache at rest only store accesses.
        guard entry.nameCount > 0 else { return }
        entries.append(entry)
        names += entry.nameCount
        var removed = 0
        while entries.count - removed > CommitHistory.limits.entries
            || names > CommitHistory.limits.names, removed < entries.count
        {
            forgotten = entries[removed].number
            names -= entries[removed].nameCount
            removed += 1
        }
        if removed > 0 { entries.removeFirst(removed) }
    }

    fileprivate mutating func forgetAll(upTo number: UInt64) {
        entries = []
        names = 0
        forgotten = number
    }

    fileprivate func entries(after number: UInt64) -> [CommitHistory.Entry] {
        var low = entries.count
        while low > 0, entries[low - 1].number > number { low -= 1 }
        return Array(entries[low...])
    }
}
