import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// Reference counts, stamps and flags as one transaction changes them; written out once, before its
/// commit.
///
/// `recency` follows from `state`: flushing keeps invariant 3, that it lists exactly the roots and
/// the flagged records under their stamps. Confined to the thread that commits.
final class ReferenceCounts {
    private let keyspaces: Keyspaces
    /// The time of what is being done: moved on by the commit.
    var stamp: Stamp
    private let table = Confined(CountsPages())
    private var pages: CountsPages {
        _read { yield table.value }
        _modify { yield &table.value }
    }
    /// Tombstones made less tombstones gone.
    private(set) var tombstoneChange = 0
    /// Whether an entry was found damaged: the counts have to be put right then.
    private(set) var hasDamage = false
    /// Whether a record has begun to die.
    private(set) var hasPendingRemovals = false
    /// The records whose entry in the keyspace is to change, and the stamps under which they stand
    /// in `recency`: what a flush will cost.
    private(set) var edited: [(handle: Handle, recencyStamp: Stamp?)] = []
    /// The entries that records have got in `recency` since they were last drained; nil unless the
    /// transaction evicts.
    private var recencyChanges: [RecencyEntry]?

    init(_ keyspaces: Keyspaces, stamp: Stamp) {
        self.keyspaces = keyspaces
        self.stamp = stamp
    }

    func reserveCapacity(_ count: Int) { pages.reserveCapacity(count) }

    /// A record made in this transaction.
    func insert(_ handle: Handle) {
        pages.insert(handle)
    }

    func entry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        if let page = pages[handle] { return page.entry }
        let page = try page(handle, in: transaction)
        // Found damaged by looking only: put right with the rest.
        if page.isDamaged { pages[handle] = page }
        return page.entry
    }

    /// A record's entry as the keyspace has it, or as far as it can be told where that is damaged.
    private func page(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> CountsPage {
        do {
            let stored = try transaction.state(keyspaces, of: handle)
            return CountsPage(stored: stored, entry: stored ?? .default, isNew: false)
        } catch is FormatError {
            hasDamage = true
            let stored = try recovered(handle, in: transaction)
            return CountsPage(stored: stored, entry: stored, isNew: false, isDamaged: true)
        }
    }

    /// A damaged entry as far as the rest of the cache tells what it was. Costs a walk of
    /// `recency`, and one of the index where there is no record.
    private func recovered(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        var entry = StateEntry.default
        var isInRecency = false
        try transaction.forEach(in: keyspaces.recency) { key, _ in
            guard let pair = KeyPair(key), pair.second == handle.rawValue else { return true }
            isInRecency = true
            entry = StateEntry(referenceCount: 0, stamp: Stamp(pair.first))
            return false
        }
        if !isInRecency, try !transaction.contains(keyspaces.nodes, handle.rawValue) {
            // Too high on purpose: it must not go before its references have been counted. What has
            // a name was not deleted.
            entry = StateEntry(
                referenceCount: UInt64(UInt32.max),
                flags: try isNamed(handle, in: transaction) ? .lost : .tombstone)
        }
        return entry
    }

    private func isNamed(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Bool {
        var isNamed = false
        try transaction.forEach(in: keyspaces.index) { _, value in
            isNamed = (try? Handle(stored: value)) == handle
            return !isNamed
        }
        return isNamed
    }

    /// One more record refers to `handle`.
    func retain(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0.referenceCount += 1 }
        // A tombstone whose last reference only moved from one record to another stays.
        if let page = pages[handle], page.isRemoved {
            pages[handle]?.isRemoved = false
            if page.entry.flags.contains(.tombstone) { tombstoneChange += 1 }
        }
    }

    /// One record fewer refers to `handle`, by a write or a delete: that counts as an access.
    func release(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { entry in
            entry.drop()
            entry.stamp = stamp
        }
        removeIfForgotten(handle)
    }

    /// One record fewer refers to `handle`, because that was evicted.
    func release(
        _ handle: Handle, evictedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.drop(evictedAt: stamp) }
        removeIfForgotten(handle)
    }

    /// One record fewer refers to `handle`, because that is dying.
    func release(
        _ handle: Handle, removedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.drop(removedAt: stamp) }
        removeIfForgotten(handle)
    }

    /// Handles with changes that are not written out yet.
    var changedHandles: [Handle] { pages.all.map(\.handle) }

    /// Puts a count right that damage made wrong.
    func setCount(_ count: UInt64, of handle: Handle, in transaction: borrowing WriteTransaction)
        throws
    {
        guard pages[handle]?.isRemoved != true else { return }
        if try entry(handle, in: transaction).referenceCount != count {
            try update(handle, in: transaction) { entry in
                // A reference fewer, which its cycle may have been held by.
                if count < entry.referenceCount { entry.flags.remove(.blocked) }
                entry.referenceCount = count
            }
        }
        removeIfForgotten(handle)
    }

    /// The record of `handle` is damaged: a stub of it stays, which refers to nothing and so lies
    /// on no cycle. One without a name can't be written anew, and goes when nothing refers to it,
    /// which is found out by counting.
    func lose(_ handle: Handle, isNamed: Bool, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { entry in
            entry.unflag()
            entry.flags.formUnion(isNamed ? .lost : [.lost, .nameless])
        }
    }

    /// What is no record and has no name goes when nothing refers to it: a tombstone, a nameless
    /// stub.
    private func removeIfForgotten(_ handle: Handle) {
        guard let page = pages[handle], !page.isRemoved, page.entry.referenceCount == 0,
            !page.entry.flags.isDisjoint(with: [.tombstone, .nameless])
        else { return }
        if page.entry.flags.contains(.tombstone) { tombstoneChange -= 1 }
        guard !page.entry.flags.contains(.pendingRemoval) else {
            // Its bytes are still to go.
            pages[handle]?.entry.flags = .pendingRemoval
            return
        }
        pages[handle]?.isRemoved = true
    }

    /// What an identifier leads to is no tombstone, whatever a damaged entry was taken for: without
    /// a record it is lost.
    func isLost(_ named: Handle, in transaction: borrowing WriteTransaction) throws -> Bool {
        if try entry(named, in: transaction).flags.contains(.tombstone) {
            hasDamage = true
            try update(named, in: transaction) { $0.flags = [.lost] }
        }
        return try entry(named, in: transaction).flags.contains(.lost)
    }

    /// How many of the handles are tombstones that stay.
    func tombstoneCount(
        among handles: some Sequence<Handle>, in transaction: borrowing WriteTransaction
    ) throws -> Int {
        var count = 0
        for handle in handles where pages[handle]?.isRemoved != true {
            if try entry(handle, in: transaction).flags.contains(.tombstone) { count += 1 }
        }
        return count
    }

    func touch(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0.stamp = stamp }
    }

    func set(
        _ flag: StateEntry.Flags, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { entry in
            entry.flags.insert(flag)
            // Before everything of a time, but not among the dying.
            if flag == .onCycle, entry.stamp == .never { entry.stamp = Stamp(1) }
        }
    }

    func clear(
        _ flag: StateEntry.Flags, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.flags.remove(flag) }
    }

    /// The record of `handle` is gone: a tombstone stays as long as it is referred to.
    func remove(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { entry in
            entry.flags = [.tombstone]
            entry.stamp = .never
        }
        if pages[handle]?.entry.referenceCount == 0 {
            pages[handle]?.isRemoved = true
        } else {
            tombstoneChange += 1
        }
    }

    /// The record of `handle` is gone, and what refers to it goes in the same commit.
    func forget(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0 = .unreferenced }
        pages[handle]?.isRemoved = true
    }

    /// The record of `handle` has no name any more; its children and its bytes are to go in steps.
    /// What still refers to it finds a tombstone.
    func scheduleRemoval(
        _ handle: Handle, accessedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        hasPendingRemovals = true
        try update(handle, in: transaction) { entry in
            entry.flags =
                entry.referenceCount == 0 ? .pendingRemoval : [.pendingRemoval, .tombstone]
            entry.stamp = stamp
            entry.released = 0
        }
        if pages[handle]?.entry.flags.contains(.tombstone) == true { tombstoneChange += 1 }
    }

    func setReleased(_ count: UInt64, of handle: Handle, in transaction: borrowing WriteTransaction)
        throws
    {
        try update(handle, in: transaction) { $0.released = count }
    }

    /// The last of a dying record is gone. What still refers to it, dying like itself if it is not
    /// a tombstone yet, finds one.
    func finishRemoval(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        let wasTombstone = try entry(handle, in: transaction).flags.contains(.tombstone)
        try update(handle, in: transaction) { entry in
            entry.flags = .tombstone
            entry.released = 0
            entry.stamp = .never
        }
        if pages[handle]?.entry.referenceCount == 0 {
            pages[handle]?.isRemoved = true
            if wasTombstone { tombstoneChange -= 1 }
        } else if !wasTombstone {
            tombstoneChange += 1
        }
    }

    /// The record has no name any more, and goes when a first reference to it does: others on its
    /// cycle still have names.
    func scheduleRemovalWhenReleased(
        _ handle: Handle, accessedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { entry in
            entry.flags = [.pendingRemoval, .blocked]
            entry.stamp = stamp
            entry.released = 0
        }
    }

    func update(
        _ handle: Handle, in transaction: borrowing WriteTransaction,
        _ change: (inout StateEntry) -> Void
    ) throws {
        let isKnown: Void? = pages[handle].map { _ in }
        if isKnown == nil {
            let page = try page(handle, in: transaction)
            pages[handle] = page
            edited.append((handle, page.stored?.recencyStamp))
        }
        if pages[handle] != nil { change(&pages[handle]!.entry) }  // there, as was just seen
        if recencyChanges != nil, let stamp = pages[handle]?.entry.recencyStamp {
            recencyChanges?.append(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    /// Whether `recency` does not tell of `handle` any more: what the counts says of it counts.
    func hasChanged(_ handle: Handle) -> Bool { pages[handle] != nil }

    /// The stamp under which `handle` stands in `recency` once all changes are written out; nil if
    /// it does not stand there.
    func recencyStamp(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Stamp? {
        guard pages[handle]?.isRemoved != true else { return nil }
        return try entry(handle, in: transaction).recencyStamp
    }

    /// What nothing refers to and nobody asked for is as young as its commit.
    func stampUnreferenced() {
        for (handle, page) in pages.all where page.entry.isUnstamped {
            pages[handle]?.entry.stamp = stamp
        }
    }

    /// Starts to record which entries of `recency` change. The first are those that the transaction
    /// has changed so far.
    func startRecordingRecency() {
        recencyChanges = pages.all.compactMap { handle, page in
            guard !page.isRemoved, let stamp = page.entry.recencyStamp else { return nil }
            return RecencyEntry(stamp: stamp, handle: handle)
        }
    }

    /// Moves the recorded changes to `heap`.
    func drainRecencyChanges(into heap: inout RecencyHeap) {
        guard recencyChanges?.isEmpty == false else { return }
        for entry in recencyChanges ?? [] { heap.insert(entry) }
        recencyChanges?.removeAll(keepingCapacity: true)
    }

    /// Writes all changes out, in the order of handles, so that neighbours dirty a page once.
    func flush(_ transaction: inout WriteTransaction) throws {
        // A new record with one parent, which is nearly every new record, is the default: nothing
        // to sort or to write.
        let changed = pages.all.filter { !($0.page.isNew && $0.page.entry.isDefault) }
        for (handle, page) in changed.sorted(by: { $0.handle < $1.handle }) {
            var entry = page.entry
            if entry.isUnstamped { entry.stamp = stamp }
            try moveInRecency(
                handle, before: page.stored, after: page.isRemoved ? nil : entry, in: &transaction)
            if page.isRemoved || entry.isDefault {
                if page.stored != nil { try transaction.delete(keyspaces.state, handle.rawValue) }
            } else if entry != page.stored || page.isDamaged {
                try transaction.put(keyspaces.state, handle.rawValue, entry.bytes(for: handle))
            }
        }
        pages.removeAll()
        edited.removeAll()
        recencyChanges = nil
    }

    private func moveInRecency(
        _ handle: Handle, before: StateEntry?, after: StateEntry?,
        in transaction: inout WriteTransaction
    ) throws {
        let old = before?.recencyStamp
        let new = after?.recencyStamp
        guard old != new else { return }
        if let old {
            try transaction.delete(keyspaces.recency, KeyPair(old.rawValue, handle.rawValue))
        }
        if let new {
            try transaction.put(keyspaces.recency, KeyPair(new.rawValue, handle.rawValue), [])
        }
    }
}
