import EspalierLMDB
import EspalierRecords

/// The damage to the index: entries that lead nowhere, and records without an entry. A walk of the
/// cache finds it, and a commit repairs it.
///
/// The walk reads an earlier snapshot. The commit looks at each entry again, because other commits
/// and other processes may have repaired or replaced it since.
struct IndexRepair: Sendable {
    /// Keys of entries that lead nowhere or to the record of another name.
    private(set) var staleKeys: [[UInt8]] = []
    /// Records that can't be read and to which several entries lead.
    private(set) var doubtful: Set<Handle> = []
    /// Records that no entry leads to.
    private(set) var unindexed: [Handle] = []
    /// Keys of chunks whose record is gone.
    private(set) var looseChunks: [[UInt8]] = []
    /// Whether a record has a handle that the counters have not given out yet.
    private(set) var isAhead = false

    var isEmpty: Bool {
        staleKeys.isEmpty && doubtful.isEmpty && unindexed.isEmpty && looseChunks.isEmpty
            && !isAhead
    }

    init(in transaction: borrowing ReadTransaction, of generation: Generation) throws {
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let decompressor = RecordDecompressor(generation, snapshot)
        func record(_ handle: Handle) -> Record? {
            try? snapshot.record(keyspaces, handle, by: decompressor) {
                try snapshot.storedShape(keyspaces, $0)?.shape
            }
        }
        func flags(_ handle: Handle) -> StateEntry.Flags {
            (try? snapshot.state(keyspaces, of: handle))??.flags ?? []
        }
        let nextHandle = (try? transaction.counters(keyspaces).nextHandle) ?? 1
        var named: Set<Handle> = []
        try transaction.forEach(in: keyspaces.index) { key, value in
            let handle = try? Handle(stored: value)
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            let record = handle.flatMap(record)
            guard let handle,
                try Self.leads(
                    key, to: handle, record, flags: flags(handle), snapshot, keyspaces)
            else {
                staleKeys.append(key)
                return true
            }
            if !named.insert(handle).inserted, record == nil { doubtful.insert(handle) }
            return true
        }
        try transaction.forEachKey(in: keyspaces.nodes, from: [UInt8]()) { key in
            guard key.byteCount == 8 else {
                let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
                if try Self.isLoose(key, snapshot, keyspaces) { looseChunks.append(key) }
                return true
            }
            let handle = try Handle(stored: key)
            if handle.rawValue >= nextHandle { isAhead = true }
            guard !named.contains(handle), !flags(handle).contains(.pendingRemoval),
                let record = record(handle), record.nameSpace != .segment
            else { return true }
            unindexed.append(handle)
            return true
        }
    }

    /// Returns whether an entry may lead to a record. A record holds its name. The name of a
    /// damaged or lost record stands only in its entry. `record` is nil if it can't be read.
    fileprivate static func leads(
        _ key: [UInt8], to handle: Handle, _ record: Record?, flags: StateEntry.Flags,
        _ snapshot: Snapshot, _ keyspaces: Keyspaces
    ) throws -> Bool {
        if let record {
            return record.nameSpace != .segment
                && key == keyspaces.indexKey(record.nameSpace, record.identifier)
        }
        return try flags.contains(.lost) || snapshot.contains(keyspaces.nodes, handle.rawValue)
    }

    /// Returns whether the record of a chunk is gone.
    fileprivate static func isLoose(
        _ key: [UInt8], _ snapshot: Snapshot, _ keyspaces: Keyspaces
    ) throws -> Bool {
        let number = (try? Handle(stored: key))?.rawValue ?? 0
        return try number == 0 || !snapshot.contains(keyspaces.nodes, number)
    }
}

extension CommitTransaction {
    /// Repairs those entries of the index that are still damaged, empties the ring of changes, and
    /// requests a recount.
    func apply(_ repair: IndexRepair, in transaction: inout WriteTransaction) throws {
        let snapshot = transaction.snapshot
        let stale = try repair.staleKeys.filter { key in
            guard let value = try snapshot.value(keyspaces.index, key) else { return false }
            guard let handle = try? Handle(stored: value) else { return true }
            let flags = try states.entry(handle, in: snapshot).flags
            let record = try readableRecord(handle, in: snapshot)
            return try !IndexRepair.leads(
                key, to: handle, record, flags: flags, snapshot, keyspaces)
        }
        let loose = try repair.looseChunks.filter {
            try IndexRepair.isLoose($0, snapshot, keyspaces)
        }
        let doubtful = try repair.doubtful.filter {
            try readableRecord($0, in: snapshot) == nil
        }
        if !stale.isEmpty { try index.removeDamagedEntries(stale, in: &transaction) }
        try records.eraseLooseChunks(loose, in: &transaction)
        try loseNames(of: doubtful, in: &transaction)
        for handle in repair.unindexed {
            guard let record = try readableRecord(handle, in: transaction) else { continue }
            // If another record has the name by now, this one stays until its last reference goes.
            try index.addMissingEntry(of: record, in: &transaction)
        }
        try ChangeRing.removeAll(in: &transaction, keyspaces)
        needsRecount = true
    }

    /// Removes the names of records that can't be read, if several entries still lead to them. A
    /// damaged record becomes lost. A record of a newer version stays: a library that can read it
    /// will name it again.
    private func loseNames(
        of unreadable: Set<Handle>, in transaction: inout WriteTransaction
    ) throws {
        guard !unreadable.isEmpty else { return }
        _ = try lose(unreadable.sorted(), in: &transaction)
        let named = try index.removeDoubtfulEntries(leadingTo: unreadable, in: &transaction)
        for handle in unreadable.subtracting(named)
        where try states.entry(handle, in: transaction).flags.contains(.lost) {
            try states.lose(handle, isNamed: false, in: transaction)
        }
    }
}
