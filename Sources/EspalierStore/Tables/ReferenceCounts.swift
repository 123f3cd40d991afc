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
    private let confinedPages = Confined(CountsPages())
    private var pages: CountsPages {
        _read { yield confinedPages.value }
        _modify { yield &confinedPages.value }
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
        pages.insert(handle)
        return handle
    }

    func reserveCapacity(_ count: Int) { pages.reserveCapacity(count) }

    /// Returns the state of a record as the transaction has changed it.
    func entry(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> StateEntry {
        if let page = pages[handle] { return page.entry }
        let page = try storedPage(handle, in: transaction)
        // A damaged entry is written anew with the rest, even if nothing changes it.
        if page.isDamaged { pages[handle] = page }
        return page.entry
    }

    /// Changes the state of a record.
    func update(
        _ handle: Handle, in transaction: borrowing WriteTransaction,
        _ change: (inout StateEntry) -> Void
    ) throws {
        let isKnown: Void? = pages[handle].map { _ in }
        if isKnown == nil {
            let page = try storedPage(handle, in: transaction)
            pages[handle] = page
            edited.append((handle, page.stored?.recencyStamp))
        }
        if pages[handle] != nil { change(&pages[handle]!.entry) }  // present, as checked above
        if recencyChanges != nil, let stamp = pages[handle]?.entry.recencyStamp {
            recencyChanges?.append(RecencyEntry(stamp: stamp, handle: handle))
        }
    }

    /// Returns the stored entry of a record. If it is damaged, returns what the other keyspaces
    /// tell of it.
    private func storedPage(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> CountsPage {
        do {
            let stored = try transaction.state(keyspaces, of: handle)
            return CountsPage(stored: stored, entry: stored ?? .default, isNew: false)
        } catch is FormatError {
            hasDamage = true
            let stored = try recoveredEntry(handle, in: transaction)
            return CountsPage(stored: stored, entry: stored, isNew: false, isDamaged: true)
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
        if let page = pages[handle], page.isRemoved {
            pages[handle]?.isRemoved = false
            if page.entry.flags.contains(.tombstone) { tombstoneChange += 1 }
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
        guard pages[handle]?.isRemoved != true else { return }
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
        guard let page = pages[handle], !page.isRemoved, page.entry.referenceCount == 0,
            !page.entry.flags.isDisjoint(with: [.tombstone, .nameless])
        else { return }
        if page.entry.flags.contains(.tombstone) { tombstoneChange -= 1 }
        guard !page.entry.flags.contains(.pendingRemoval) else {
            // The bytes of the record are still there.
            pages[handle]?.entry.flags = .pendingRemoval
            return
        }
        pages[handle]?.isRemoved = true
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
        for (handle, page) in pages.all where page.entry.isUnstamped {
            pages[handle]?.entry.stamp = stamp
        }
    }

    // MARK: Records that go

    /// Notes that a record is gone. A tombstone stays as long as references lead to it.
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

    /// Notes that a record is gone together with everything that refers to it.
    func forget(_ handle: Handle, in transaction: borrowing WriteTransaction) throws {
        try update(handle, in: transaction) { $0 = .unreferenced }
        pages[handle]?.isRemoved = true
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
        if pages[handle]?.entry.flags.contains(.tombstone) == true { tombstoneChange += 1 }
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
        if pages[handle]?.entry.referenceCount == 0 {
            pages[handle]?.isRemoved = true
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
        for handle in handles where pages[handle]?.isRemoved != true {
            if try entry(handle, in: transaction).flags.contains(.tombstone) { count += 1 }
        }
        return count
    }

    // MARK: Changes

    /// Whether the transaction has changed the state of a record, so that `recency` as stored says
    /// nothing about it.
    func hasChanged(_ handle: Handle) -> Bool { pages[handle] != nil }

    var changedHandles: [Handle] { pages.all.map(\.handle) }

    /// Returns the stamp under which `recency` will list a record after the flush.
    func recencyStamp(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Stamp? {
        guard pages[handle]?.isRemoved != true else { return nil }
        return try entry(handle, in: transaction).recencyStamp
    }

    /// Starts to collect the entries of `recency` that changed records get, beginning with those
    /// that the transaction has changed so far.
    func startRecordingRecency() {
        recencyChanges = pages.all.compactMap { handle, page in
            guard !page.isRemoved, let stamp = page.entry.recencyStamp else { return nil }
            return RecencyEntry(stamp: stamp, handle: handle)
        }
    }

    /// Moves the collected entries to `heap`. An entry may be out of date by then.
    func drainRecencyChanges(into heap: inout RecencyHeap) {
        guard recencyChanges?.isEmpty == false else { return }
        for entry in recencyChanges ?? [] { heap.insert(entry) }
        recencyChanges?.removeAll(keepingCapacity: true)
    }

    /// Writes all changes out.
    func flush(_ transaction: inout WriteTransaction) throws {
        // Nearly every new record gets one parent and so has the default state, which is not
        // stored.
        let changed = pages.all.filter { !($0.page.isNew && $0.page.entry.isDefault) }
        for (handle, page) in changed.sorted(by: { $0.handle < $1.handle }) {
            var entry = page.entry
            if entry.isUnstamped { entry.stamp = stamp }
            try recency.move(
                handle, from: page.stored, to: page.isRemoved ? nil : entry, in: &transaction)
            if page.isRemoved || entry.isDefault {
                if page.stored != nil { try transaction.delete(keyspaces.state, handle.rawValue) }
            } else if entry != page.stored || page.isDamaged {
                try transaction.put(keyspaces.state, handle.rawValue, entry.bytes(for: handle))
            }
        }
        counters.value.tombstones = UInt64(
            max(0, Int64(counters.value.tombstones) + Int64(tombstoneChange)))
        pages.removeAll()
        edited.removeAll()
        recencyChanges = nil
    }
}

/// One record's state as a transaction changes it.
private struct CountsPage {
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
private struct CountsPages {
    /// The handle of the first entry of `new`.
    private var first: UInt64 = 0
    private var new: [CountsPage?] = []
    private var others: [Handle: CountsPage] = [:]

    mutating func reserveCapacity(_ count: Int) { new.reserveCapacity(new.count + count) }

    /// Adds the entry of a new record.
    mutating func insert(_ handle: Handle) {
        if new.isEmpty { first = handle.rawValue }
        let page = CountsPage(stored: nil, entry: .unreferenced, isNew: true)
        if handle.rawValue == first + UInt64(new.count) {
            new.append(page)
        } else {
            others[handle] = page
        }
    }

    private func position(of handle: Handle) -> Int? {
        let offset = handle.rawValue &- first
        return offset < UInt64(new.count) ? Int(offset) : nil
    }

    subscript(handle: Handle) -> CountsPage? {
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

    var all: [(handle: Handle, page: CountsPage)] {
        var all = others.map { (handle: $0.key, page: $0.value) }
        for (offset, page) in new.enumerated() {
            if let page { all.append((Handle(first + UInt64(offset)), page)) }
        }
        return all
    }

    mutating func removeAll() {
        new.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
    }
}
