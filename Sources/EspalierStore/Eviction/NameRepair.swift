import EspalierLMDB
import EspalierRecords

/// The damage to names that one walk of the cache finds: index entries that lead to nothing, and
/// records that no index entry leads to.
struct NameRepair: Sendable {
    /// Keys of the index that lead to no record, or to a record of another name.
    private(set) var stale: [[UInt8]] = []
    /// Records that no key leads to.
    private(set) var nameless: [Handle] = []
    /// Keys of chunks whose record is not there.
    private(set) var loose: [[UInt8]] = []
    /// Whether there are handles that the counters have still to give out.
    private(set) var isAhead = false

    var isEmpty: Bool { stale.isEmpty && nameless.isEmpty && loose.isEmpty && !isAhead }

    init(in transaction: borrowing ReadTransaction, of generation: Generation) throws {
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        let decompressor = RecordDecompressor(generation, snapshot)
        let nextHandle = (try? transaction.counters(keyspaces).nextHandle) ?? 1
        var named: Set<Handle> = []
        try transaction.forEach(in: keyspaces.index) { key, value in
            let handle = try? Handle(stored: value)
            let key = try ByteReader.reading(key) { try $0.bytes(count: $0.end) }
            if let handle, try Self.isName(key, of: handle, snapshot, keyspaces, decompressor),
                named.insert(handle).inserted
            {
                return true
            }
            stale.append(key)
            return true
        }
        try transaction.forEach(in: keyspaces.nodes) { key, _ in
            guard key.byteCount == 8 else {
                try addIfLoose(key, snapshot, keyspaces)
                return true
            }
            let handle = try Handle(stored: key)
            if handle.rawValue >= nextHandle { isAhead = true }
            guard !named.contains(handle),
                (try? snapshot.state(keyspaces, of: handle))??.flags.contains(.pendingRemoval)
                    != true,
                let record = try? snapshot.record(
                    keyspaces, handle, by: decompressor,
                    shapes: { try snapshot.storedShape(keyspaces, $0)?.shape }),
                record.nameSpace != .segment
            else { return true }
            nameless.append(handle)
            return true
        }
    }

    private mutating func addIfLoose(
        _ key: RawSpan, _ snapshot: Snapshot, _ keyspaces: Keyspaces
    ) throws {
        try ByteReader.reading(key) { reader in
            let number = reader.remaining >= 8 ? try reader.integer(UInt64.self) : 0
            if number != 0, try snapshot.contains(keyspaces.nodes, number) { return }
            reader.position = 0
            loose.append(try reader.bytes(count: reader.end))
        }
    }

    /// Returns whether `key` is the name of the record. A record holds its own name; for a damaged
    /// or a lost one, every key that leads to it is taken for its name.
    private static func isName(
        _ key: [UInt8], of handle: Handle, _ snapshot: Snapshot, _ keyspaces: Keyspaces,
        _ decompressor: RecordDecompressor
    ) throws -> Bool {
        if let record = try? snapshot.record(
            keyspaces, handle, by: decompressor,
            shapes: { try snapshot.storedShape(keyspaces, $0)?.shape })
        {
            return record.nameSpace != .segment
                && key == IndexKey.bytes(record.nameSpace, record.identifier)
        }
        if try snapshot.contains(keyspaces.nodes, handle.rawValue) { return true }
        return (try? snapshot.state(keyspaces, of: handle))??.flags.contains(.lost) == true
    }
}

extension CommitTransaction {
    /// Deletes index entries that lead to nothing, gives records their names back, and has all
    /// references counted anew.
    func mend(_ repair: NameRepair, in transaction: inout WriteTransaction) throws {
        try forget(names: repair.stale, in: &transaction)
        for key in repair.loose { try transaction.delete(keyspaces.nodes, key) }
        for handle in repair.nameless {
            guard let record = try readableRecord(handle, in: transaction) else { continue }
            let key = IndexKey.bytes(record.nameSpace, record.identifier)
            // If another record has the name by now, this one goes when nothing refers to it.
            guard try !transaction.contains(keyspaces.index, key) else { continue }
            try transaction.put(keyspaces.index, key, handle.storedBytes)
        }
        edits.index += repair.stale
        hasLostReferences = true
    }
}
