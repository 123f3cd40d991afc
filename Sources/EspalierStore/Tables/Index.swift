import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// The names of records, for the cases in which the index alone does not know them.
protocol RecordNames: AnyObject {
    /// Returns the index key of the name that a record holds; nil if the record can't be read.
    func name(of handle: Handle, in snapshot: Snapshot) throws -> [UInt8]?

    /// Calls `body` with the index keys of all records that have a name and can be read, in the
    /// order of their handles. Walks the cache.
    func forEachName(
        in snapshot: Snapshot, _ body: (_ key: [UInt8], _ handle: Handle) throws -> Void
    ) throws
}

/// The `index` keyspace as one transaction changes it: which handle an identifier has.
///
/// The index holds only the beginnings of most names, see `IndexEntryList`. So it returns
/// *candidates*: the record tells whether it has the wanted name. If the record of a candidate
/// can't be read, only a whole entry says for sure which name the record had.
///
/// Changes stay in memory. `applyPending` then rewrites each group of names once; look-ups see the
/// changes before that. Confined to the thread that commits.
final class IndexTable {
    // immutable
    private let keyspaces: Keyspaces
    private let states: ReferenceCounts
    private let counters: CounterTable
    /// The index entries that this process has seen to be right.
    let verified: VerifiedIndexEntries

    // confined to the thread that commits
    private struct State: ~Copyable {
        var groups: IndexGroups
        var pending = PendingNames()
        /// Whether a damaged group was met. The names of lost records in it are lost.
        var hasDamagedGroups = false
    }
    private let state: Confined<State>
    /// The transaction that the table is a part of.
    weak var names: (any RecordNames)?

    init(
        _ keyspaces: Keyspaces, _ states: ReferenceCounts, _ counters: CounterTable,
        _ verified: VerifiedIndexEntries, groupLimit: Int
    ) {
        self.keyspaces = keyspaces
        self.states = states
        self.counters = counters
        self.verified = verified
        state = Confined(State(groups: IndexGroups(keyspaces.index, limit: groupLimit)))
    }

    /// The keys of groups that were rewritten or deleted.
    var edited: [[UInt8]] { state.value.groups.edited }

    /// The pages that groups were written to, and at most those that pending changes will take.
    var newPages: Int {
        state.value.groups.writtenCount + min(pendingCount, state.value.groups.loadedCount + 2)
    }

    /// The number of changes that are not applied yet.
    var pendingCount: Int { state.value.pending.count }

    /// Whether a damaged group was met, which may have been the only place of a lost record's name.
    var hasDamagedGroups: Bool { state.value.hasDamagedGroups }

    // MARK: - Looking up

    /// Returns the entry that matches an identifier; nil if there is none.
    func match(
        _ nameSpace: NameSpace, _ identifier: String, in snapshot: Snapshot
    ) throws -> IndexGroup.Match? {
        try match(keyspaces.indexKey(nameSpace, identifier), in: snapshot)
    }

    /// Returns the handle of the record that may have an identifier.
    func handle(
        of identifier: String, in nameSpace: NameSpace, _ transaction: borrowing WriteTransaction
    ) throws -> Handle? {
        try match(nameSpace, identifier, in: transaction.snapshot)?.handle
    }

    private func match(_ key: [UInt8], in snapshot: Snapshot) throws -> IndexGroup.Match? {
        if let added = state.value.pending.added(key) { return added }
        guard let match = try stored(key, in: snapshot) else {
            // The search may have met a damaged group, and taken its names from the records.
            return state.value.pending.added(key)
        }
        return counters.isGivenOut(match.handle) ? match : nil
    }

    /// Returns the stored entry that matches a name, unless it is to be removed.
    private func stored(_ key: [UInt8], in snapshot: Snapshot) throws -> IndexGroup.Match? {
        var damaged: IndexRange?
        let match = try state.value.groups.search(key, in: snapshot) { damaged = $0 }
        if let damaged { try recover(withGroupsBefore(damaged, in: snapshot), in: snapshot) }
        guard let match, !state.value.pending.isRemoved(match.handle) else { return nil }
        return match
    }

    /// Returns whether the index still has an entry.
    func contains(_ entry: IndexEntryKey, in snapshot: Snapshot) throws -> Bool {
        try stored(entry.bytes, in: snapshot)
            == IndexGroup.Match(handle: entry.handle, isWhole: entry.isWhole)
    }

    /// Takes the names of the group under `key` from the records, if the group is damaged.
    func recoverGroup(at key: [UInt8], in snapshot: Snapshot) throws {
        _ = try stored(key, in: snapshot)
    }

    /// Takes the names of a damaged group from the records.
    ///
    /// - Complexity: Walks the cache. Without it, a write of stored trees would give new records to
    ///   several hundred names, and other trees would keep the old ones.
    private func recover(_ range: IndexRange, in snapshot: Snapshot) throws {
        state.value.hasDamagedGroups = true
        verified.removeAll()
        try names?.forEachName(in: snapshot) { key, handle in
            guard range.contains(key), !state.value.pending.isRemoved(handle),
                // A later record of the same name has a higher handle.
                state.value.pending.added(key).map({ $0.handle < handle }) ?? true
            else { return }
            state.value.pending.add(key, handle, mayBeCut: true)
        }
    }

    /// Returns the range of a damaged group together with those of the damaged groups directly
    /// before it. The range of a damaged group falls to the group before it, so that one has to be
    /// known to be damaged before it is written.
    private func withGroupsBefore(
        _ damaged: IndexRange, in snapshot: Snapshot
    ) throws -> IndexRange {
        var lower = damaged.lower
        while let key = try state.value.groups.key(before: lower, in: snapshot) {
            var isDamaged = false
            _ = try state.value.groups.search(key, in: snapshot) { _ in isDamaged = true }
            guard isDamaged else { break }
            lower = key
        }
        return IndexRange(lower: lower, upper: damaged.upper)
    }

    // MARK: - Adding

    /// Returns the handle of the record that may have an identifier. Gives the identifier a new
    /// handle if there is none.
    func bind(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> (handle: Handle, isNew: Bool) {
        let key = keyspaces.indexKey(nameSpace, identifier)
        if let match = try match(key, in: transaction.snapshot) { return (match.handle, false) }
        return (add(key, mayBeCut: true), true)
    }

    /// Gives an identifier a new handle, even if it has one.
    ///
    /// - Parameter isWhole: Whether the index is the only place of the name, because there is no
    ///   record. Such a name is never cut.
    func rebind(
        _ nameSpace: NameSpace, _ identifier: String, isWhole: Bool = false
    ) -> Handle {
        add(keyspaces.indexKey(nameSpace, identifier), mayBeCut: !isWhole)
    }

    private func add(_ key: [UInt8], mayBeCut: Bool) -> Handle {
        let handle = states.makeHandle()
        state.value.pending.add(key, handle, mayBeCut: mayBeCut)
        verified.insert(handle)
        return handle
    }

    /// Gives an identifier back the handle that it had. The entry is whole: there may be no record.
    func restoreEntry(_ nameSpace: NameSpace, _ identifier: String, of handle: Handle) {
        state.value.pending.add(
            keyspaces.indexKey(nameSpace, identifier), handle, mayBeCut: false)
    }

    /// Adds the missing entry of a record, unless another record has its name by now.
    func addMissingEntry(of record: Record, in transaction: borrowing WriteTransaction) throws {
        let key = keyspaces.indexKey(record.nameSpace, record.identifier)
        if let match = try match(key, in: transaction.snapshot) {
            guard match.handle != record.handle, !match.isWhole,
                try names?.name(of: match.handle, in: transaction.snapshot) != key
            else { return }
        }
        state.value.pending.add(key, record.handle, mayBeCut: true)
    }

    // MARK: - Removing

    /// Removes the entry that leads to a record, so that no read finds it any more.
    func removeEntry(of record: Record, in transaction: inout WriteTransaction) throws {
        guard record.nameSpace != .segment else { return }
        try removeEntry(
            record.nameSpace, record.identifier, of: record.handle, in: &transaction)
    }

    /// Removes the entry that matches an identifier, if it leads to `handle`.
    func removeEntry(
        _ nameSpace: NameSpace, _ identifier: String, of handle: Handle,
        in transaction: inout WriteTransaction
    ) throws {
        let key = keyspaces.indexKey(nameSpace, identifier)
        // After damage the entry may lead to another record.
        guard try match(key, in: transaction.snapshot)?.handle == handle else { return }
        verified.remove(handle)
        state.value.pending.remove(key, handle)
    }

    /// Removes entries that lead nowhere or to the wrong record.
    func removeEntries(_ entries: [IndexEntryKey]) {
        verified.removeAll()
        for entry in entries { state.value.pending.remove(entry.bytes, entry.handle) }
    }

    /// Removes the names of records that can't be read, unless one entry leads to the record, and
    /// is whole or is that of a name in `known`. Returns those of `unreadable` that have a name
    /// afterwards. Walks the index.
    ///
    /// This is the one rule for such names. A record that can be read holds its name, and only the
    /// entry of that name is right. The name of any other record stands only in its entry. An entry
    /// that is not whole matches other names, too; and of several all but one are damaged, and it
    /// is not known which. A write of a wrong name would show its model wherever the record is
    /// referred to, so no such name is kept. Nothing readable is lost: references to the record
    /// miss, and the next write of each name makes a new record.
    func removeDoubtfulEntries(
        leadingTo unreadable: Set<Handle>, known: [Handle: [UInt8]],
        in transaction: inout WriteTransaction
    ) throws -> Set<Handle> {
        var named: Set<Handle> = []
        for (handle, entries) in try entries(leadingTo: unreadable, in: &transaction) {
            if entries.count == 1, entries[0].isWhole {
                named.insert(handle)
                continue
            }
            removeEntries(entries)
            guard entries.count == 1, let name = known[handle], entries[0].matches(name) else {
                continue
            }
            state.value.pending.add(name, handle, mayBeCut: false)
            named.insert(handle)
        }
        return named
    }

    /// Removes all entries that lead to one of `handles`. Walks the index.
    func removeEntries(
        leadingTo handles: Set<Handle>, in transaction: inout WriteTransaction
    ) throws {
        for entries in try entries(leadingTo: handles, in: &transaction).values {
            removeEntries(entries)
        }
    }

    /// Returns the entries that lead to each of `handles`. Walks the index.
    private func entries(
        leadingTo handles: Set<Handle>, in transaction: inout WriteTransaction
    ) throws -> [Handle: [IndexEntryKey]] {
        _ = try applyPending(in: &transaction)
        var entries: [Handle: [IndexEntryKey]] = [:]
        try transaction.forEachIndexEntry(keyspaces) { entry in
            if handles.contains(entry.handle) { entries[entry.handle, default: []].append(entry) }
            return true
        }
        return entries
    }

    // MARK: - Applying

    /// Writes the pending changes to the groups.
    ///
    /// - Returns: The handles of records whose names were removed because they can't be read: an
    ///   entry that is not whole matched another name.
    func applyPending(in transaction: inout WriteTransaction) throws -> [Handle] {
        let changes = state.value.pending.take()
        let names = names
        return try state.value.groups.apply(
            removals: changes.removals, additions: changes.additions, in: &transaction
        ) { try names?.name(of: $0, in: $1) }
    }
}

/// An entry of the index: the beginning of a name, or all of it.
package struct IndexEntryKey: Hashable, Sendable {
    package let bytes: [UInt8]
    package let isWhole: Bool
    package let handle: Handle

    package init(bytes: [UInt8], isWhole: Bool, handle: Handle) {
        self.bytes = bytes
        self.isWhole = isWhole
        self.handle = handle
    }

    /// Returns whether the entry matches the name of `key`.
    package func matches(_ key: [UInt8]) -> Bool {
        isWhole ? bytes == key : key.starts(with: bytes)
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the handle of the record that may have an identifier; nil if there is none. Only the
    /// record tells whether it has the identifier. Damage throws a `FormatError`.
    package func handle(
        _ keyspaces: Keyspaces, _ nameSpace: NameSpace, _ identifier: String
    ) throws -> Handle? {
        let key = keyspaces.indexKey(nameSpace, identifier)
        return try withCursor(keyspaces.index) { cursor in
            guard try cursor.seek(atOrBefore: key) else { return nil }
            return try cursor.withEntry { lower, value in
                let group = try IndexGroup(lentKey: lower, value: value)
                if let match = try group.search(key) { return match.handle }
                // A name that is not there may have been damaged. A damaged entry that is found
                // leads to a record of another name.
                try group.verify()
                return nil
            }
        }
    }

    /// Verifies the group that would hold an identifier. Damage throws a `FormatError`.
    func verifyIndex(
        _ keyspaces: Keyspaces, _ nameSpace: NameSpace, _ identifier: String
    ) throws {
        let key = keyspaces.indexKey(nameSpace, identifier)
        try withCursor(keyspaces.index) { cursor in
            guard try cursor.seek(atOrBefore: key) else { return }
            try cursor.withEntry { lower, value in
                try IndexGroup(lentKey: lower, value: value).verify()
            }
        }
    }

    /// Calls `body` with all entries of the index in their order, beginning with the first group
    /// that may hold `start`, until `body` returns `false`. Leaves out damaged groups; `damaged`
    /// gets their keys.
    package func forEachIndexEntry(
        _ keyspaces: Keyspaces, from start: [UInt8] = [],
        damaged: ([UInt8]) -> Void = { _ in }, _ body: (IndexEntryKey) throws -> Bool
    ) throws {
        try withCursor(keyspaces.index) { cursor in
            var isThere = try !start.isEmpty && cursor.seek(atOrBefore: start)
            if !isThere { isThere = try cursor.first() }
            while isThere {
                let list = try cursor.withEntry { lower, value in
                    do {
                        return try IndexGroup(lentKey: lower, value: value).entries()
                    } catch is FormatError {
                        damaged([UInt8](copying: lower))
                        return IndexEntryList()
                    }
                }
                for entry in list.entries {
                    let key = IndexEntryKey(
                        bytes: Array(list.key(entry)), isWhole: entry.isWhole, handle: entry.handle)
                    guard try body(key) else { return }
                }
                isThere = try cursor.next()
            }
        }
    }

    /// Calls `body` with the number of bytes and the handles of each group of the index.
    package func forEachIndexGroup(
        _ keyspaces: Keyspaces, _ body: (_ byteCount: Int, _ handles: [Handle]) throws -> Void
    ) throws {
        try forEach(in: keyspaces.index) { lower, value in
            let list = try? IndexGroup(lentKey: lower, value: value).entries()
            try body(value.byteCount, list.map { $0.entries.map(\.handle) } ?? [])
            return true
        }
    }
}

/// Handles that the index is known to return for the identifier of their record.
///
/// To write a stored tree again, `TreeWriter` follows stored references: the children of a stored
/// record are nearly always the handles that the index has for the children of the same model.
/// Looking each of them up would be the main cost of such a write. The reference alone proves
/// nothing: a delete or damage may have removed the index entry of a record whose bytes are still
/// there. A handle in this cache needs no look-up.
///
/// Entries are valid as long as no other process writes. Code that removes or changes an index
/// entry removes the handle here. Of two handles with the same slot, the later one is kept. The
/// handles of a tree are consecutive and do not share slots.
///
/// `@unchecked Sendable` because it is confined to the thread that commits, which `Confined`
/// checks.
final class VerifiedIndexEntries: @unchecked Sendable {
    private static let slotCount: UInt64 = 32_768

    /// One slot for each value of the low bits of a handle. It holds the high bits plus 1; 0 means
    /// none. The array is empty until the first insertion.
    private let slots = Confined<[UInt32]>([])

    func contains(_ handle: Handle) -> Bool {
        guard !slots.value.isEmpty, let mark = Self.mark(of: handle) else { return false }
        return slots.value[Self.slot(of: handle)] == mark
    }

    func insert(_ handle: Handle) {
        guard let mark = Self.mark(of: handle) else { return }
        if slots.value.isEmpty {
            slots.value = Array(repeating: 0, count: Int(Self.slotCount))
        }
        slots.value[Self.slot(of: handle)] = mark
    }

    func remove(_ handle: Handle) {
        if contains(handle) { slots.value[Self.slot(of: handle)] = 0 }
    }

    func removeAll() { slots.value = [] }

    /// Makes the calling thread the owner. `WriterThread.turn` orders the accesses.
    func transferToCurrentThread() { slots.transferToCurrentThread() }

    private static func slot(of handle: Handle) -> Int { Int(handle.rawValue % slotCount) }

    private static func mark(of handle: Handle) -> UInt32? {
        UInt32(exactly: handle.rawValue / slotCount + 1)
    }
}
