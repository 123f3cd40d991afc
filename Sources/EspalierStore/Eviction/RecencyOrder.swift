import EspalierLMDB
import EspalierRecords

/// A binary heap of recency entries, the oldest first.
package struct RecencyHeap {
    private var entries: [RecencyEntry] = []

    package init() {}

    package var first: RecencyEntry? { entries.first }

    package mutating func insert(_ entry: RecencyEntry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, case let parent = (child - 1) / 2, entries[child] < entries[parent] {
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the oldest entry. The heap must not be empty.
    package mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while case let left = 2 * parent + 1, left < entries.count {
            let right = left + 1
            let child = right < entries.count && entries[right] < entries[left] ? right : left
            guard entries[child] < entries[parent] else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}

/// The records that one transaction has moved to the back of `recency` because reads have touched
/// them and no commit has stored that yet.
///
/// All other records that can be evicted were used before these. In `recency` the spared records
/// stand in the order in which the transaction came upon them, which is that of earlier touches. If
/// nothing else is left to evict, they go in the order of the touches that wait. Touches that come
/// after a record was added do not count.
struct SparedRecords {
    /// Whether each record is still to be evicted in the order of the touches.
    private var isWaiting: [Handle: Bool] = [:]
    /// The records that still wait, with the time of the touch in place of a stamp.
    private var touches = RecencyHeap()

    /// How many records were added.
    var count: Int { isWaiting.count }

    /// Adds a record. Returns false if it was added before: it is spared only once.
    mutating func insert(_ handle: Handle, touchedAt time: UInt64) -> Bool {
        guard isWaiting[handle] == nil else { return false }
        isWaiting[handle] = true
        touches.insert(RecencyEntry(stamp: Stamp(time), handle: handle))
        return true
    }

    func isWaiting(_ handle: Handle) -> Bool { isWaiting[handle] == true }

    /// Returns the record that was touched longest ago, which does not wait any more then.
    mutating func takeOldest() -> Handle? {
        guard let handle = touches.first?.handle else { return nil }
        touches.removeFirst()
        isWaiting[handle] = false
        return handle
    }
}

/// The order in which one transaction evicts: the entries of the keyspace `recency` and those that
/// the transaction has changed since it began, merged into one order.
///
///     removals   entries under stamp 0: records that are pending removal
///     roots      entries under other stamps
struct RecencyOrder {
    private let states: ReferenceCounts
    private var removals: RecencyQueue
    private var roots: RecencyQueue

    /// Begins at the oldest record as `commit` has left it so far.
    init(_ commit: CommitTransaction) {
        states = commit.states
        removals = RecencyQueue(commit, from: .never, to: .never)
        roots = RecencyQueue(commit, from: Stamp(1), to: Stamp(.max))
        states.stampUnreferenced()
        states.startRecordingRecency()
    }

    /// Returns the entry of the record to be looked at next; nil if no record can be evicted. The
    /// entry stays first until the transaction changes its record.
    mutating func oldest(in transaction: inout WriteTransaction) throws -> RecencyEntry? {
        addChanges()
        return try removals.oldest(in: &transaction) ?? roots.oldest(in: &transaction)
    }

    /// Returns the first entry of a record that is not pending removal; nil if there is none.
    mutating func oldestRoot(in transaction: inout WriteTransaction) throws -> RecencyEntry? {
        addChanges()
        return try roots.oldest(in: &transaction)
    }

    private mutating func addChanges() {
        states.drainRecencyChanges { entry in
            if entry.stamp == .never { removals.insert(entry) } else { roots.insert(entry) }
        }
    }
}

/// The entries of a range of stamps, in order: those of the keyspace `recency`, and those that the
/// transaction has changed.
///
///     as stored           Feed:1  Feed:2  Feed:3 ...      read from its front, 256 at a time
///     heap of changes     Message:7, Person:3             roots since Feed:1 was evicted
///
/// An entry is valid if the reference counts give its record that stamp. Entries that have become
/// invalid are skipped when they come up.
private struct RecencyQueue {
    private let states: ReferenceCounts
    private let keyspaces: Keyspaces
    private let last: Stamp
    private var changed = RecencyHeap()
    /// The next entries of the keyspace, the oldest last.
    private var stored: [RecencyEntry] = []
    /// Where the next entries of the keyspace begin; nil at the end of the range.
    private var position: RecencyEntry?

    private static let batch = 256

    init(_ commit: CommitTransaction, from first: Stamp, to last: Stamp) {
        states = commit.states
        keyspaces = commit.keyspaces
        self.last = last
        position = RecencyEntry(stamp: first, handle: Handle(0))
    }

    mutating func insert(_ entry: RecencyEntry) { changed.insert(entry) }

    mutating func oldest(in transaction: inout WriteTransaction) throws -> RecencyEntry? {
        while let first = changed.first,
            try states.recencyStamp(of: first.handle, in: transaction) != first.stamp
        {
            changed.removeFirst()
        }
        while true {
            if stored.isEmpty { try fetch(in: &transaction) }
            guard let oldest = stored.last else { break }
            if states.hasChanged(oldest.handle) {
                stored.removeLast()
                continue
            }
            if let first = changed.first, first < oldest { return first }
            guard try states.recencyStamp(of: oldest.handle, in: transaction) == oldest.stamp
            else {
                // Damage has left this entry: the record's state gives another stamp or none.
                states.hasDamagedRecency = true
                stored.removeLast()
                continue
            }
            return oldest
        }
        return changed.first
    }

    /// Reads the next entries of the keyspace.
    private mutating func fetch(in transaction: inout WriteTransaction) throws {
        guard let start = position else { return }
        var found: [RecencyEntry] = []
        var next: RecencyEntry?
        try transaction.forEachRecencyEntry(
            keyspaces, from: start, damaged: { _ in states.hasDamagedRecency = true }
        ) { entry in
            guard entry.stamp <= last else { return false }
            guard found.count < Self.batch else {
                next = entry
                return false
            }
            found.append(entry)
            return true
        }
        position = next
        stored = found.reversed()
    }
}
