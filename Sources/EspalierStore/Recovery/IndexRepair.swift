import EspalierLMDB
import EspalierRecords

/// The damage to the index: entries that lead nowhere, and records without an entry. A walk of the
/// cache finds it, and a commit repairs it.
///
/// The walk reads an earlier snapshot. The commit looks at each entry again, because other commits
/// and other processes may have repaired or replaced it since.
struct IndexRepair: Sendable {
    /// Entries that lead nowhere or to the record of another name.
    private(set) var stale: [IndexEntryKey] = []
    /// Keys of damaged groups.
    private(set) var damagedGroups: [[UInt8]] = []
    /// Records that can't be read and to which several entries lead.
    private(set) var doubtful: Set<Handle> = []
    /// Records that no entry leads to.
    private(set) var unindexed: [Handle] = []
    /// Keys of chunks whose record is gone.
    private(set) var looseChunks: [[UInt8]] = []
    /// Whether frames or containers can't be read.
    private(set) var hasDamagedFrames = false
    /// Whether a record has a handle that the counters have not given out yet.
    private(set) var isAhead = false

    var isEmpty: Bool {
        stale.isEmpty && damagedGroups.isEmpty && doubtful.isEmpty && unindexed.isEmpty
            && looseChunks.isEmpty
            && !isAhead && !hasDamagedFrames
    }

    init(in transaction: borrowing ReadTransaction, of generation: Generation) throws {
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let stored = try StoredRecords(snapshot, generation)
        func record(_ handle: Handle) -> Record? { (try? stored.record(handle)) ?? nil }
        func flags(_ handle: Handle) -> StateEntry.Flags {
            (try? snapshot.state(keyspaces, of: handle))??.flags ?? []
        }
        let nextHandle = (try? transaction.counters(keyspaces).nextHandle) ?? 1
        var named: Set<Handle> = []
        var damaged: [[UInt8]] = []
        try transaction.forEachIndexEntry(keyspaces, damaged: { damaged.append($0) }) { entry in
            let record = record(entry.handle)
            let flags = flags(entry.handle)
            guard
                try Self.leads(
                    entry, to: record, flags: flags, keyspaces, contains: stored.contains)
            else {
                stale.append(entry)
                return true
            }
            if !named.insert(entry.handle).inserted, record == nil { doubtful.insert(entry.handle) }
            return true
        }
        damagedGroups = damaged
        try transaction.forEachKey(in: keyspaces.long, from: [UInt8]()) { key in
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            if try Self.isLoose(key, snapshot, keyspaces) { looseChunks.append(key) }
            return true
        }
        try stored.forEach { found in
            if case .damaged(_, let error) = found, !error.isNewer { hasDamagedFrames = true }
            return true
        }
        try stored.forEachHandle { handle in
            if handle.rawValue >= nextHandle { isAhead = true }
            guard !named.contains(handle), !flags(handle).contains(.pendingRemoval),
                let record = record(handle), record.nameSpace != .segment
            else { return true }
            unindexed.append(handle)
            return true
        }
    }

    /// Returns whether an entry may lead to a record. A record holds its name. The name of a
    /// damaged or lost record stands only in its entry, that of a lost one as a whole. `record` is
    /// nil if it can't be read.
    fileprivate static func leads(
        _ entry: IndexEntryKey, to record: Record?, flags: StateEntry.Flags,
        _ keyspaces: Keyspaces, contains: (Handle) throws -> Bool
    ) throws -> Bool {
        if let record {
            return record.nameSpace != .segment
                && entry.matches(keyspaces.indexKey(record.nameSpace, record.identifier))
        }
        return try flags.contains(.lost) ? entry.isWhole : contains(entry.handle)
    }

    /// Returns whether the record of a chunk is gone.
    fileprivate static func isLoose(
        _ key: [UInt8], _ snapshot: Snapshot, _ keyspaces: Keyspaces
    ) throws -> Bool {
        let number = (try? Handle(stored: key))?.rawValue ?? 0
        return try number == 0 || !snapshot.contains(keyspaces.long, ChunkKey(number, 0))
    }
}

extension CommitTransaction {
    /// Repairs those entries of the index that are still damaged, empties the ring of changes, and
    /// requests a recount and a new list for eviction.
    func apply(_ repair: IndexRepair, in transaction: inout WriteTransaction) throws {
        try repairDictionaries(in: &transaction)
        let snapshot = transaction.snapshot
        for key in repair.damagedGroups { try index.recoverGroup(at: key, in: snapshot) }
        let stale = try repair.stale.filter { entry in
            guard try index.contains(entry, in: snapshot) else { return false }
            let flags = try states.entry(entry.handle, in: snapshot).flags
            let record = try readableRecord(entry.handle)
            return try !IndexRepair.leads(
                entry, to: record, flags: flags, keyspaces, contains: records.contains)
        }
        let loose = try repair.looseChunks.filter {
            try IndexRepair.isLoose($0, snapshot, keyspaces)
        }
        let doubtful = try repair.doubtful.filter {
            try readableRecord($0) == nil
        }
        if !stale.isEmpty { index.removeEntries(stale) }
        try states.removeUnusedGroups(in: &transaction)
        try applyPending(in: &transaction)
        try records.eraseLooseChunks(loose, in: &transaction)
        try loseNames(of: doubtful, in: &transaction)
        for handle in repair.unindexed {
            // A record whose removal is pending has lost its name on purpose.
            guard let record = try readableRecord(handle),
                try !states.entry(handle, in: snapshot).flags.contains(.pendingRemoval)
            else { continue }
            // If another record has the name by now, this one stays until its last reference goes.
            try index.addMissingEntry(of: record, in: transaction)
        }
        try applyPending(in: &transaction)
        var writer = ContainerWriter(self)
        try writer.removeDamaged(in: &transaction)
        stored.forget()
        try ChangeRing.removeAll(in: &transaction, keyspaces)
        (needsRecount, mustRebuildRecency) = (true, true)
    }

    /// Removes the names of records that can't be read, if several entries still lead to them. A
    /// damaged record becomes lost. A record of a newer version stays: a library that can read it
    /// will name it again.
    private func loseNames(
        of unreadable: Set<Handle>, in transaction: inout WriteTransaction
    ) throws {
        guard !unreadable.isEmpty else { return }
        _ = try lose(unreadable.sorted(), in: &transaction)
        let named = try index.removeDoubtfulEntries(
            leadingTo: unreadable, known: pins.names(in: transaction), in: &transaction)
        for handle in unreadable.subtracting(named)
        where try states.entry(handle, in: transaction).flags.contains(.lost) {
            try states.lose(handle, isNamed: false, in: transaction)
        }
    }
}
