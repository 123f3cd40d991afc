import EspalierLMDB
import EspalierRecords

/// The damage to the index: entries that lead nowhere, and records without an entry. A walk of the
/// cache finds it, and a commit repairs it.
struct IndexRepair: Sendable {
    /// Keys of entries that lead nowhere, to the record of another name, or to a record that an
    /// earlier entry names.
    private(set) var staleKeys: [[UInt8]] = []
    /// Records that no entry leads to.
    private(set) var unindexed: [Handle] = []
    /// Keys of chunks whose record is gone.
    private(set) var looseChunks: [[UInt8]] = []
    /// Whether a record has a handle that the counters have not given out yet.
    private(set) var isAhead = false

    var isEmpty: Bool {
        staleKeys.isEmpty && unindexed.isEmpty && looseChunks.isEmpty && !isAhead
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
        // A record holds its name. The name of a damaged or lost record stands only in its entry.
        func leads(_ key: [UInt8], to handle: Handle) throws -> Bool {
            if let record = record(handle) {
                return record.nameSpace != .segment
                    && key == IndexKey.bytes(record.nameSpace, record.identifier)
            }
            if try snapshot.contains(keyspaces.nodes, handle.rawValue) { return true }
            return flags(handle).contains(.lost)
        }
        let nextHandle = (try? transaction.counters(keyspaces).nextHandle) ?? 1
        var named: Set<Handle> = []
        try transaction.forEach(in: keyspaces.index) { key, value in
            let handle = try? Handle(stored: value)
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            if let handle, try leads(key, to: handle), named.insert(handle).inserted { return true }
            staleKeys.append(key)
            return true
        }
        try transaction.forEach(in: keyspaces.nodes) { key, _ in
            guard key.byteCount == 8 else {
                try addIfLoose(key, snapshot, keyspaces)
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

    /// Adds the key of a chunk if its record is gone.
    private mutating func addIfLoose(
        _ key: RawSpan, _ snapshot: Snapshot, _ keyspaces: Keyspaces
    ) throws {
        try ByteReader.reading(key) { reader in
            let number = reader.remaining >= 8 ? try reader.integer(UInt64.self) : 0
            if number != 0, try snapshot.contains(keyspaces.nodes, number) { return }
            reader.position = 0
            looseChunks.append(try reader.bytes(count: reader.end))
        }
    }
}

extension CommitTransaction {
    /// Repairs the index and requests a recount.
    func apply(_ repair: IndexRepair, in transaction: inout WriteTransaction) throws {
        try index.removeDamagedEntries(repair.staleKeys, in: &transaction)
        try records.eraseLooseChunks(repair.looseChunks, in: &transaction)
        for handle in repair.unindexed {
            guard let record = try readableRecord(handle, in: transaction) else { continue }
            // If another record has the name by now, this one stays until its last reference goes.
            try index.addMissingEntry(of: record, in: &transaction)
        }
        needsRecount = true
    }
}
