import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// The `state` keyspace as one transaction changes it: reference counts, stamps and flags. This
/// class also updates `recency`, which follows from them.
///
/// Changes stay in memory. `flush` then writes each changed group once, in the order of handles, so
/// that each page is dirtied once. Confined to the thread that commits.
final class ReferenceCounts {
    // immutable
    private let keyspaces: Keyspaces
    private let recency: Recency
    private let counters: CounterTable
    private let contentChanges: ContentChanges
    private let hasBytes: (Handle) throws -> Bool

    // confined to the thread that commits
    private let confinedPending = Confined(PendingEntries<PendingState>())
    private var pending: PendingEntries<PendingState> {
        _read { yield confinedPending.value }
        _modify { yield &confinedPending.value }
    }
    /// The number of tombstones made minus the number of tombstones removed.
    private(set) var tombstoneChange = 0
    /// The groups that the transaction has read, until `flush` changes them.
    private let confinedGroups = Confined(StateGroups())
    private var groups: StateGroups {
        _read { yield confinedGroups.value }
        _modify { yield &confinedGroups.value }
    }
    /// Whether a state was found damaged. All counts are then corrected before the commit.
    var hasDamage: Bool { groups.hasDamage || hasWrongFlags }
    /// Whether a state said that a named record was deleted.
    private var hasWrongFlags = false
    /// Whether `recency` lists too few records, or wrong ones. It is then rebuilt.
    var hasDamagedRecency = false
    /// Whether the transaction has scheduled the removal of a record.
    private(set) var hasPendingRemovals = false
    /// The changed entries of records that were there before, each with the stamp under which
    /// `recency` lists it as stored. They tell how many pages a flush copies.
    private(set) var edited: [(handle: Handle, recencyStamp: Stamp?)] = []
    /// The number of new records that were written by themselves. Their entries are the longest.
    private(set) var newRootCount = 0
    /// The entries of `recency` that changed records got since the last drain; nil unless the
    /// transaction evicts.
    private var recencyChanges: [RecencyEntry]?

    /// - Parameter hasBytes: Returns whether there are bytes of a record.
    init(
        _ keyspaces: Keyspaces, _ counters: CounterTable, _ contentChanges: ContentChanges,
        hasBytes: @escaping (Handle) throws -> Bool
    ) {
        self.keyspaces = keyspaces
        self.counters = counters
        self.contentChanges = contentChanges
        self.hasBytes = hasBytes
        recency = Recency(keyspaces)
    }

    /// The logical time of the operation under way. Every access and every write has its own.
    var stamp: Stamp { Stamp(counters.value.stamp) }

    /// Advances the logical time by one.
    func tick() { counters.value.stamp += 1 }

    // MARK: Entries

    /// Returns a handle that was never used, with the state of a record that nothing refers to.
    func makeHandle() -> Handle {
        let handle = Handle(counters.value.nextHandle)
        counters.value.nextHandle += 1
        pending.insert(
            PendingState(stored: nil, entry: .unreferenced, isNew: true), at: handle)
        return handle
    }

    func reserveCapacity(_ count: Int) { pending.reserveCapacity(count) }

    /// Returns the state of a record as the transaction has changed it.
    func entry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        if let state = pending[handle] { return state.entry }
        let state = try storedState(handle, in: transaction)
        // A state of a damaged group is written anew, even if nothing changes it.
        if state.isDamaged {
            pending[handle] = state
            noteRecency(of: handle)
        }
        return state.entry
    }

    /// Changes the state of a record.
    func update(
        _ handle: Handle, in transaction: borrowing WriteTransaction,
        _ change: (inout StateEntry) -> Void
    ) throws {
        if pending[handle] == nil {
            let state = try storedState(handle, in: transaction)
            pending[handle] = state
            edited.append((handle, state.stored?.recencyStamp))
        }
        let before = pending[handle]?.entry.flags
        if pending[handle] != nil { change(&pending[handle]!.entry) }  // present, as checked above
        if let after = pending[handle]?.entry.flags, after != before,
            after.differForReads(from: before ?? [], counters.value)
        {
            contentChanges.change(handle)
        }
        noteRecency(of: handle)
    }

    /// Notes where `recency` lists a changed record now.
    private func noteRecency(of handle: Handle) {
        if recencyChanges != nil, let stamp = pending[handle]?.entry.recencyStamp {
            recencyChanges?.append(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    /// Returns the stored state of a record. If its group is damaged, returns what the other
    /// keyspaces tell of it.
    private func storedState(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> PendingState {
        if let group = try groups.group(around: handle, keyspaces, in: transaction) {
            let stored = group[handle]
            return PendingState(stored: stored, entry: stored ?? .default, isNew: false)
        }
        let stored = try recoveredEntry(handle, in: transaction)
        return PendingState(stored: stored, entry: stored, isNew: false, isDamaged: true)
    }

    /// Reads the groups that the next flush writes and that were not read yet, those of new
    /// records, so that `hasDamage` tells whether one of them is damaged.
    func readGroupsOfNewRecords(in transaction: borrowing WriteTransaction) throws {
        try pending.forEach { handle, state in
            guard state.isNew, state.isStored else { return }
            _ = try groups.group(around: handle, keyspaces, in: transaction)
        }
    }

    /// Returns the records whose state is stored. Those of damaged groups are not known.
    func storedHandles(
        in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> [Handle] {
        var handles: [Handle] = []
        var damaged: [Handle] = []
        try transaction.forEachState(
            keyspaces, damaged: { key, _ in if let key { damaged.append(key) } }
        ) { handle, _ in handles.append(handle) }
        for key in damaged {
            _ = try groups.group(around: key, keyspaces, in: transaction)
        }
        return handles
    }

    /// Rebuilds the state of a record whose group is damaged from the other keyspaces. Walks
    /// `recency` and the index, once for all damaged groups.
    private func recoveredEntry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        try groups.readHints(keyspaces, in: transaction)
        // Such counts are too high on purpose: the state must stay until its references have been
        // counted.
        let manyReferences = UInt64(UInt32.max)
        if let stamp = groups.stamps[handle] {
            // The removal of a record begins anew, and reads must not find the record again. It may
            // have been deleted or lost, and reads must not take a loss for a deletion.
            return stamp == .never
                ? StateEntry(
                    referenceCount: manyReferences, flags: [.pendingRemoval, .lost, .nameless])
                : StateEntry(referenceCount: 0, stamp: stamp)
        }
        guard try !hasBytes(handle) else { return .default }
        // A record without a name was deleted, or is lost and has lost its name. Reads must not
        // take a loss for a deletion.
        return StateEntry(
            referenceCount: manyReferences,
            flags: groups.named.contains(handle) ? .lost : [.lost, .nameless])
    }

    // MARK: References

    /// Adds a reference to a record.
    func retain(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0.addReference() }
        // A tombstone stays if its last reference only moved from one record to another.
        if let state = pending[handle], state.isRemoved || state.entry.isTombstoneAgain {
            pending[handle]?.isRemoved = false
            if state.entry.flags.contains(.tombstone) { tombstoneChange += 1 }
        }
    }

    /// Removes a reference because a write or a delete took it away, which counts as an access.
    func release(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { entry in
            entry.dropReference()
            entry.stamp = stamp
        }
        removeIfUnreachable(handle)
    }

    /// Removes a reference because the record that held it was evicted.
    func release(
        _ handle: Handle, evictedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.dropReference(evictedAt: stamp) }
        removeIfUnreachable(handle)
    }

    /// Removes a reference because the record that held it is being removed since `stamp`.
    func release(
        _ handle: Handle, removedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.dropReference(removedAt: stamp) }
        removeIfUnreachable(handle)
    }

    /// Sets a count that damage made wrong.
    func setCount(
        _ count: UInt64, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        guard pending[handle]?.isRemoved != true else { return }
        if try entry(handle, in: transaction).referenceCount != count {
            try update(handle, in: transaction) { entry in
                // The reference that is gone may be the one that kept the cycle.
                if count < entry.referenceCount { entry.unblock() }
                entry.referenceCount = count
            }
        }
        removeIfUnreachable(handle)
    }

    /// Removes the entry of a tombstone, or of a lost record without a name, when no reference
    /// leads to it any more.
    private func removeIfUnreachable(_ handle: Handle) {
        guard let state = pending[handle], !state.isRemoved, state.entry.referenceCount == 0,
            !state.entry.flags.isDisjoint(with: [.tombstone, .nameless])
        else { return }
        if state.entry.flags.contains(.tombstone) { tombstoneChange -= 1 }
        guard !state.entry.flags.contains(.pendingRemoval) else {
            // The bytes of the record are still there.
            pending[handle]?.entry.flags = .pendingRemoval
            return
        }
        pending[handle]?.isRemoved = true
    }

    // MARK: Accesses and flags

    /// Marks a record as written by itself at a time, which is an access.
    ///
    /// - Parameter maxAge: How old it may be, in seconds; nil if it does not expire.
    func noteWrite(
        _ handle: Handle, at time: WriteTime, maxAge: UInt64?,
        in transaction: borrowing WriteTransaction
    ) throws {
        try noteTime(handle, time, maxAge: maxAge, in: transaction)
        try touch(handle, in: transaction)
        contentChanges.date(handle)
        if pending[handle]?.isNew == true { newRootCount += 1 }
    }

    /// Dates a record.
    ///
    /// - Parameter maxAge: How old it may be, in seconds; nil if it does not expire.
    func noteTime(
        _ handle: Handle, _ time: WriteTime, maxAge: UInt64?,
        in transaction: borrowing WriteTransaction
    ) throws {
        var expires = maxAge != nil
        try update(handle, in: transaction) { entry in
            expires = expires || entry.expiry != nil
            entry.writtenAt = time
            entry.expiry = maxAge
        }
        // Trees in memory know when the first of their records expires.
        if expires { contentChanges.change(handle) }
    }

    /// Marks a record as accessed now.
    func touch(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0.stamp = stamp }
    }

    func set(
        _ flag: StateEntry.Flags, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { entry in
            entry.flags.insert(flag)
            // Stamp 0 is for records with a pending removal. Stamp 1 is also before every access.
            if flag == .onCycle, entry.stamp == .never { entry.stamp = Stamp(1) }
        }
    }

    func clear(
        _ flag: StateEntry.Flags, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.flags.remove(flag) }
    }

    /// Lists a blocked record of a cycle again. The record outside of the cycle that blocked it may
    /// have become a part of the cycle.
    func unblockCycle(at handle: Handle, in transaction: borrowing WriteTransaction) throws {
        guard try entry(handle, in: transaction).isBlockedCycle else { return }
        try clear(.blocked, of: handle, in: transaction)
    }

    /// Flags a record that a search found on a cycle, if it still is a record.
    ///
    /// - Parameter isAccess: Whether the record counts as accessed if it gets the flag now.
    func flagCycle(
        at handle: Handle, isAccess: Bool = false, in transaction: borrowing WriteTransaction
    ) throws {
        guard try entry(handle, in: transaction).mayBeFlagged else { return }
        if isAccess { try touch(handle, in: transaction) }
        try set(.onCycle, of: handle, in: transaction)
    }

    /// Gives the commit's stamp to every root that has none.
    func stampUnreferenced() {
        for (handle, state) in pending.all where state.entry.isUnstamped {
            pending[handle]?.entry.stamp = stamp
        }
    }

    // MARK: Records that go

    /// Notes that a record is gone. A tombstone stays as long as references lead to it.
    func remove(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { entry in
            entry.flags = [.tombstone]
            entry.stamp = .never
            entry.forgetTimes()
        }
        if pending[handle]?.entry.referenceCount == 0 {
            pending[handle]?.isRemoved = true
        } else {
            tombstoneChange += 1
        }
    }

    /// Notes that a record is gone together with everything that refers to it.
    func forget(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0 = .unreferenced }
        pending[handle]?.isRemoved = true
    }

    /// Schedules the removal of a record that has no index entry any more. Its children and its
    /// bytes go in steps; references to it lead to a tombstone from now on.
    func scheduleRemoval(
        _ handle: Handle, accessedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        hasPendingRemovals = true
        try update(handle, in: transaction) { entry in
            entry.flags =
                entry.referenceCount == 0 ? .pendingRemoval : [.pendingRemoval, .tombstone]
            entry.stamp = stamp
            entry.forgetTimes()
            entry.released = 0
        }
        if pending[handle]?.entry.flags.contains(.tombstone) == true { tombstoneChange += 1 }
    }

    /// Schedules the removal of a record to which references stay. They lead to a lost record from
    /// now on.
    func scheduleRemovalAsLost(
        _ handle: Handle, accessedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        hasPendingRemovals = true
        try update(handle, in: transaction) { entry in
            entry.flags = [.pendingRemoval, .stub]
            entry.stamp = stamp
            entry.forgetTimes()
            entry.released = 0
        }
    }

    func setReleased(
        _ count: UInt64, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.released = count }
    }

    /// Notes that the last bytes of a record with a pending removal are gone. References that are
    /// left lead to a tombstone, or to a lost record if the record is one.
    func finishRemoval(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        let flags = try entry(handle, in: transaction).flags
        if flags.contains(.nameless) {
            try update(handle, in: transaction) { entry in
                entry.flags.remove(.pendingRemoval)
                entry.released = 0
                entry.stamp = .never
            }
            return removeIfUnreachable(handle)
        }
        let wasTombstone = flags.contains(.tombstone)
        try update(handle, in: transaction) { entry in
            entry.flags = .tombstone
            entry.released = 0
            entry.stamp = .never
        }
        if pending[handle]?.entry.referenceCount == 0 {
            pending[handle]?.isRemoved = true
            if wasTombstone { tombstoneChange -= 1 }
        } else if !wasTombstone {
            tombstoneChange += 1
        }
    }

    // MARK: Lost records

    /// Makes a damaged record lost: references to it stay and are misses. A lost record refers to
    /// nothing and so lies on no cycle. A lost record without an index entry can't be refilled.
    func lose(
        _ handle: Handle, isNamed: Bool, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { entry in
            entry.unflag()
            entry.forgetTimes()
            entry.flags.formUnion(isNamed ? .lost : [.lost, .nameless])
        }
    }

    /// Makes a lost record with one reference. It stands in for the children from which eviction
    /// detaches a record.
    func makeStub(in transaction: borrowing WriteTransaction) throws -> Handle {
        let handle = makeHandle()
        try update(handle, in: transaction) { entry in
            entry.flags = .stub
            entry.referenceCount = 1
        }
        return handle
    }

    /// Lets a handle without a record wait for the write that fills it, as that of a lost record
    /// does: references to it stay.
    func reserve(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        if try entry(handle, in: transaction).flags.contains(.tombstone) { tombstoneChange -= 1 }
        try update(handle, in: transaction) { entry in
            entry.unflag()
            entry.forgetTimes()
            entry.flags = .lost
            entry.released = 0
        }
        pending[handle]?.isRemoved = false
    }

    /// Sets when a record was written, and how old it may be.
    func setTimes(
        _ handle: Handle, writtenAt: WriteTime?, maxAge: UInt64?,
        in transaction: borrowing WriteTransaction
    ) throws {
        let known = try entry(handle, in: transaction)
        guard known.writtenAt != writtenAt || known.expiry != maxAge else { return }
        try update(handle, in: transaction) { entry in
            entry.writtenAt = writtenAt
            entry.expiry = maxAge
        }
        contentChanges.change(handle)
    }

    /// Returns whether a handle that an index entry names is lost. An index entry never leads to a
    /// tombstone: if the state says so, it is damaged. This function then marks the record as lost.
    func isLost(_ named: Handle, in transaction: borrowing WriteTransaction) throws -> Bool {
        if try entry(named, in: transaction).flags.contains(.tombstone) {
            hasWrongFlags = true
            try update(named, in: transaction) { $0.flags = [.lost] }
        }
        return try entry(named, in: transaction).flags.contains(.lost)
    }

    /// Returns how many of the handles are tombstones that stay.
    func tombstoneCount(
        among handles: some Sequence<Handle>, in transaction: borrowing WriteTransaction
    ) throws -> Int {
        var count = 0
        for handle in handles where pending[handle]?.isRemoved != true {
            if try entry(handle, in: transaction).flags.contains(.tombstone) { count += 1 }
        }
        return count
    }

    // MARK: Changes

    /// Whether the transaction has changed the state of a record, so that `recency` as stored says
    /// nothing about it.
    func hasChanged(_ handle: Handle) -> Bool { pending[handle] != nil }

    /// Returns whether `recency` listed a record before this transaction. The record must be listed
    /// now.
    func wasListed(_ handle: Handle) -> Bool {
        pending[handle].map { $0.stored?.recencyStamp != nil } ?? true
    }

    /// Whether the entry of a record will be removed.
    func isRemoved(_ handle: Handle) -> Bool { pending[handle]?.isRemoved == true }

    var changedHandles: [Handle] { pending.all.map(\.handle) }

    /// Returns the stamp under which `recency` will list a record after the flush.
    func recencyStamp(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Stamp? {
        guard pending[handle]?.isRemoved != true else { return nil }
        return try entry(handle, in: transaction).recencyStamp
    }

    /// Starts to collect the entries of `recency` that changed records get, beginning with those
    /// that the transaction has changed so far.
    func startRecordingRecency() {
        recencyChanges = pending.all.compactMap { handle, state in
            guard !state.isRemoved, let stamp = state.entry.recencyStamp else { return nil }
            return RecencyEntry(stamp: stamp, handle: handle)
        }
    }

    /// Calls `body` with the entries collected since the last call. An entry may be out of date.
    func drainRecencyChanges(_ body: (RecencyEntry) -> Void) {
        guard recencyChanges?.isEmpty == false else { return }
        for entry in recencyChanges ?? [] { body(entry) }
        recencyChanges?.removeAll(keepingCapacity: true)
    }

    /// Writes all changes out.
    func flush(_ transaction: inout WriteTransaction) throws {
        let changed = pending.all.filter { $0.entry.isStored }
        var moves: [Recency.Move] = []
        var changes: [StateChange] = []
        changes.reserveCapacity(changed.count)
        for (handle, state) in changed.sorted(by: { $0.handle < $1.handle }) {
            var entry = state.entry
            if entry.isUnstamped { entry.stamp = stamp }
            let from = state.stored?.recencyStamp
            let to = state.isRemoved ? nil : entry.recencyStamp
            if from != to { moves.append(Recency.Move(handle: handle, from: from, to: to)) }
            let new = state.isRemoved || entry.isDefault ? nil : entry
            if new != state.stored || state.isDamaged {
                changes.append(StateChange(handle: handle, state: new))
            }
        }
        try groups.write(changes, keyspaces, in: &transaction)
        if try !recency.apply(moves, in: &transaction) { hasDamagedRecency = true }
        counters.value.tombstones = UInt64(
            max(0, Int64(counters.value.tombstones) + Int64(tombstoneChange)))
        pending.removeAll()
        hasWrongFlags = false
        edited.removeAll()
        recencyChanges = nil
    }
}

extension ReferenceCounts {
    /// Deletes the groups that belong to no record: empty ones, and those whose keys are no
    /// handles. Called before `flush`, for a repair.
    ///
    /// - Complexity: Walks `state`.
    func removeUnusedGroups(in transaction: inout WriteTransaction) throws {
        var unused: [[UInt8]] = []
        try transaction.forEach(in: keyspaces.state) { key, value in
            if Handle(key: key) == nil || value.byteCount == RecordLayout.checkSize {
                unused.append([UInt8](copying: key))
            }
            return true
        }
        for key in unused { try transaction.delete(keyspaces.state, key) }
    }

    /// Lists the records that eviction may take anew, as the stored states say. Called after
    /// `flush`, for a repair.
    ///
    /// - Complexity: Walks `state` and `recency`.
    func rebuildRecency(in transaction: inout WriteTransaction) throws {
        var wanted: Set<RecencyEntry> = []
        var isAnyDamaged = false
        try transaction.forEachState(keyspaces, damaged: { _, _ in isAnyDamaged = true }) {
            handle, state in
            guard let stamp = state.recencyStamp else { return }
            wanted.insert(RecencyEntry(stamp: stamp, handle: handle))
        }
        try recency.rebuild(wanted, keepingUnknown: isAnyDamaged, in: &transaction)
        hasDamagedRecency = false
    }
}

/// One record's state as a transaction changes it.
private struct PendingState {
    /// The state in the keyspace; nil for the default.
    let stored: StateEntry?
    var entry: StateEntry
    let isNew: Bool
    /// Whether the keyspace has the state, or will have it. Nearly every new record gets one parent
    /// and so has the default state, which is not stored.
    var isStored: Bool { !(isNew && entry.isDefault) }
    var isRemoved = false
    /// Whether the stored group is damaged, so that the state has to be written anew in any case.
    var isDamaged = false
}
