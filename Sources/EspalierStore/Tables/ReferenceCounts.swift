import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// The `state` keyspace as one transaction changes it: reference counts, stamps and flags. This
/// class also updates `recency`, which follows from them.
///
/// Changes stay in memory. `flush` then writes each changed entry once, in the order of handles, so
/// that each page is dirtied once. Confined to the thread that commits.
final class ReferenceCounts {
    // immutable
    private let keyspaces: Keyspaces
    private let recency: Recency
    private let counters: CounterTable

    // confined to the thread that commits
    private let confinedPending = Confined(PendingStates())
    private var pending: PendingStates {
        _read { yield confinedPending.value }
        _modify { yield &confinedPending.value }
    }
    /// The number of tombstones made minus the number of tombstones removed.
    private(set) var tombstoneChange = 0
    /// Whether an entry was found damaged. All counts are then corrected before the commit.
    private(set) var hasDamage = false
    /// Whether the transaction has scheduled the removal of a record.
    private(set) var hasPendingRemovals = false
    /// The changed entries of records that were there before, each with the stamp under which
    /// `recency` lists it as stored. They tell how many pages a flush copies.
    private(set) var edited: [(handle: Handle, recencyStamp: Stamp?)] = []
    /// The entries of `recency` that changed records got since the last drain; nil unless the
    /// transaction evicts.
    private var recencyChanges: [RecencyEntry]?

    init(_ keyspaces: Keyspaces, _ counters: CounterTable) {
        self.keyspaces = keyspaces
        self.counters = counters
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
        pending.insert(handle)
        return handle
    }

    func reserveCapacity(_ count: Int) { pending.reserveCapacity(count) }

    /// Returns the state of a record as the transaction has changed it.
    func entry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        if let state = pending[handle] { return state.entry }
        let state = try storedState(handle, in: transaction)
        // A damaged entry is written anew with the rest, even if nothing changes it.
        if state.isDamaged { pending[handle] = state }
        return state.entry
    }

    /// Changes the state of a record.
    func update(
        _ handle: Handle, in transaction: borrowing WriteTransaction,
        _ change: (inout StateEntry) -> Void
    ) throws {
        let isKnown: Void? = pending[handle].map { _ in }
        if isKnown == nil {
            let state = try storedState(handle, in: transaction)
            pending[handle] = state
            edited.append((handle, state.stored?.recencyStamp))
        }
        if pending[handle] != nil { change(&pending[handle]!.entry) }  // present, as checked above
        if recencyChanges != nil, let stamp = pending[handle]?.entry.recencyStamp {
            recencyChanges?.append(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    /// Returns the stored entry of a record. If it is damaged, returns what the other keyspaces
    /// tell of it.
    private func storedState(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> PendingState {
        do {
            let stored = try transaction.state(keyspaces, of: handle)
            return PendingState(stored: stored, entry: stored ?? .default, isNew: false)
        } catch is FormatError {
            hasDamage = true
            let stored = try recoveredEntry(handle, in: transaction)
            return PendingState(stored: stored, entry: stored, isNew: false, isDamaged: true)
        }
    }

    /// Rebuilds a damaged entry from the other keyspaces. Walks `recency`. Walks the index as well
    /// if `recency` does not list the record and its bytes are not there.
    private func recoveredEntry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        if let stamp = try recency.stamp(of: handle, in: transaction) {
            return StateEntry(referenceCount: 0, stamp: stamp)
        }
        guard try !transaction.contains(keyspaces.nodes, handle.rawValue) else { return .default }
        // The count is too high on purpose: the entry must stay until its references have been
        // counted. A record with an index entry was not deleted.
        let isNamed = try transaction.isInIndex(keyspaces, handle)
        return StateEntry(
            referenceCount: UInt64(UInt32.max), flags: isNamed ? .lost : .tombstone)
    }

    // MARK: References

    /// Adds a reference to a record.
    func retain(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0.referenceCount += 1 }
        // A tombstone stays if its last reference only moved from one record to another.
        if let state = pending[handle], state.isRemoved {
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
                if count < entry.referenceCount { entry.flags.remove(.blocked) }
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

    /// Flags a record that a search found on a cycle, if it still is a record.
    func flagCycle(at handle: Handle, in transaction: borrowing WriteTransaction) throws {
        let flags = try entry(handle, in: transaction).flags
        guard flags.isDisjoint(with: [.onCycle, .pendingRemoval, .tombstone]) else { return }
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
            entry.released = 0
        }
        if pending[handle]?.entry.flags.contains(.tombstone) == true { tombstoneChange += 1 }
    }

    /// Schedules the removal of a record for when the first reference to it goes: other records of
    /// its cycle still have index entries.
    func scheduleRemovalWhenReleased(
        _ handle: Handle, accessedAt stamp: Stamp, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { entry in
            entry.flags = [.pendingRemoval, .blocked]
            entry.stamp = stamp
            entry.released = 0
        }
    }

    func setReleased(
        _ count: UInt64, of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws {
        try update(handle, in: transaction) { $0.released = count }
    }

    /// Notes that the last bytes of a record with a pending removal are gone. References that are
    /// left lead to a tombstone.
    func finishRemoval(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        let wasTombstone = try entry(handle, in: transaction).flags.contains(.tombstone)
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
            entry.flags.formUnion(isNamed ? .lost : [.lost, .nameless])
        }
    }

    /// Returns whether a handle that an index entry names is lost. An index entry never leads to a
    /// tombstone: if the state says so, it is damaged. This function then marks the record as lost.
    func isLost(_ named: Handle, in transaction: borrowing WriteTransaction) throws -> Bool {
        if try entry(named, in: transaction).flags.contains(.tombstone) {
            hasDamage = true
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
        // Nearly every new record gets one parent and so has the default state, which is not
        // stored.
        let changed = pending.all.filter { !($0.state.isNew && $0.state.entry.isDefault) }
        for (handle, state) in changed.sorted(by: { $0.handle < $1.handle }) {
            var entry = state.entry
            if entry.isUnstamped { entry.stamp = stamp }
            try recency.move(
                handle, from: state.stored, to: state.isRemoved ? nil : entry, in: &transaction)
            if state.isRemoved || entry.isDefault {
                if state.stored != nil { try transaction.delete(keyspaces.state, handle.rawValue) }
            } else if entry != state.stored || state.isDamaged {
                try transaction.put(keyspaces.state, handle.rawValue, entry.bytes(for: handle))
            }
        }
        counters.value.tombstones = UInt64(
            max(0, Int64(counters.value.tombstones) + Int64(tombstoneChange)))
        pending.removeAll()
        edited.removeAll()
        recencyChanges = nil
    }
}

/// One record's state as a transaction changes it.
private struct PendingState {
    /// The entry in the keyspace; nil for the default.
    let stored: StateEntry?
    var entry: StateEntry
    let isNew: Bool
    var isRemoved = false
    /// Whether the stored entry is damaged and has to be written anew in any case.
    var isDamaged = false
}

/// The changed entries by handle.
///
/// The handles of the transaction's new records are consecutive. Most entries of most writes are
/// theirs, and each is looked up twice, so they are kept in an array.
private struct PendingStates {
    /// The handle of the first entry of `new`.
    private var first: UInt64 = 0
    private var new: [PendingState?] = []
    private var others: [Handle: PendingState] = [:]

    mutating func reserveCapacity(_ count: Int) { new.reserveCapacity(new.count + count) }

    /// Adds the entry of a new record.
    mutating func insert(_ handle: Handle) {
        if new.isEmpty { first = handle.rawValue }
        let state = PendingState(stored: nil, entry: .unreferenced, isNew: true)
        if handle.rawValue == first + UInt64(new.count) {
            new.append(state)
        } else {
            others[handle] = state
        }
    }

    private func position(of handle: Handle) -> Int? {
        let offset = handle.rawValue &- first
        return offset < UInt64(new.count) ? Int(offset) : nil
    }

    subscript(handle: Handle) -> PendingState? {
        get {
            if let position = position(of: handle) { return new[position] }
            return others.isEmpty ? nil : others[handle]
        }
        _modify {
            if let position = position(of: handle) {
                yield &new[position]
            } else {
                yield &others[handle]
            }
        }
    }

    var all: [(handle: Handle, state: PendingState)] {
        var all = others.map { (handle: $0.key, state: $0.value) }
        for (offset, state) in new.enumerated() {
            if let state { all.append((Handle(first + UInt64(offset)), state)) }
        }
        return all
    }

    mutating func removeAll() {
        new.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}
