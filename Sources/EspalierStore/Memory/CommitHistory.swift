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
        let written: HandleList
        /// The keys and collections that were made, changed or removed.
        let keys: Set<Identifier>

        init(_ number: UInt64, changed: HandleList, written: HandleList, keys: Set<Identifier>) {
            self.number = number
            self.changed = changed
            self.written = written
            self.keys = keys
        }

        /// Returns the entry of a commit that changes no record.
        static func empty(_ number: UInt64) -> Entry {
            Entry(number, changed: HandleList([]), written: HandleList([]), keys: [])
        }
    }

    /// The changes of several commits.
    struct Changes {
        let changed: HandleList
        let written: HandleList
        let keys: Set<Identifier>
    }

    /// The most commits, and the most records of all of them, that are remembered.
    fileprivate static let limits = (entries: 512, handles: 1 << 16)
    /// The most records for which a tree looks. If more have changed, it is read anew.
    private static let largestSearch = 1 << 14

    // protected by `state`
    fileprivate struct State {
        var entries: [Entry] = []
        var handles = 0
        var forgotten: UInt64 = 0
        /// Whether this process commits: its changes come, so nobody else must take the commit for
        /// one of another process.
        var isCommitting = false
    }
    private let state = Mutex(State())

    // atomic, changed only under `state`
    private let last = Atomic<UInt64>(0)

    /// The last commit whose changes are known.
    var position: UInt64 { last.load(ordering: .acquiring) }

    // MARK: - Commits of this process

    func beginCommit() { state.withLock { $0.isCommitting = true } }

    /// Notes that the commit has failed. Does nothing if none has begun.
    func cancelCommit() { state.withLock { $0.isCommitting = false } }

    /// Adds the changes of a commit of this process; nil if it can't be told what has changed, as
    /// after a repair. If other processes have committed in between, forgets everything: what they
    /// have changed is not known.
    func endCommit(_ number: UInt64, _ entry: Entry?) {
        state.withLock { state in
            state.isCommitting = false
            guard number > position else { return }
            if let entry, number == position + 1 {
                state.add(entry)
            } else {
                state.forgetAll(upTo: number)
            }
            last.store(number, ordering: .releasing)
        }
    }

    /// Begins with the commits of another file after one of them.
    ///
    /// - Parameter isForgetful: Whether trees that were read before count as right, as if no commit
    ///   had told what it changes: for a test that has to notice that.
    func restart(after number: UInt64, isForgetful: Bool = false) {
        state.withLock { state in
            state.forgetAll(upTo: isForgetful ? 0 : number)
            last.store(number, ordering: .releasing)
        }
    }

    // MARK: - Commits of other processes

    /// Catches up with a commit of another process, of which `changes` tells what is known. Does
    /// nothing if the history is there already, or if the commit may be one of this process.
    func catchUp(to number: UInt64, _ entry: @autoclosure () -> Entry?) {
        guard number > position else { return }
        // The ring is read without the lock, which commits need.
        let entry = entry()
        let from = position
        state.withLock { state in
            guard number > position, !state.isCommitting else { return }
            if let entry, from == position {
                state.add(entry)
            } else {
                state.forgetAll(upTo: number)
            }
            last.store(number, ordering: .releasing)
        }
    }

    // MARK: - Looking up

    /// Returns what has changed after a commit; nil if that is not known. `number` is at most
    /// `position`.
    func changes(after number: UInt64) -> (Changes, through: UInt64)? {
        let (entries, forgotten, through) = state.withLock { state in
            (state.entries(after: number), state.forgotten, position)
        }
        guard number >= forgotten, number <= through else { return nil }
        let count = entries.reduce(0) { $0 + $1.changed.count }
        guard count <= Self.largestSearch else { return nil }
        let changes = Changes(
            changed: HandleList(union: entries.map(\.changed)),
            written: HandleList(union: entries.map(\.written)),
            keys: entries.count == 1 ? entries[0].keys : Set(entries.flatMap(\.keys)))
        return (changes, through)
    }
}

extension CommitHistory.State {
    fileprivate mutating func add(_ entry: CommitHistory.Entry) {
        let count = entry.changed.count + entry.written.count
        // Most commits of a cache at rest only store accesses.
        guard count > 0 || !entry.keys.isEmpty else { return }
        entries.append(entry)
        handles += count
        var removed = 0
        while entries.count - removed > CommitHistory.limits.entries
            || handles > CommitHistory.limits.handles, removed < entries.count
        {
            forgotten = entries[removed].number
            handles -= entries[removed].changed.count + entries[removed].written.count
            removed += 1
        }
        if removed > 0 { entries.removeFirst(removed) }
    }

    fileprivate mutating func forgetAll(upTo number: UInt64) {
        entries = []
        handles = 0
        forgotten = number
    }

    fileprivate func entries(after number: UInt64) -> [CommitHistory.Entry] {
        var low = entries.count
        while low > 0, entries[low - 1].number > number { low -= 1 }
        return Array(entries[low...])
    }
}
