import EspalierLMDB
import EspalierRecords

/// What a commit does about damaged records.
///
/// A damaged record becomes *lost*: the commit removes its bytes and keeps the references to its
/// handle. Reads treat such a reference as a miss and not as a deletion. The index entry stays, so
/// that the next write of the identifier refills the same handle.
///
/// The references that a damaged record held are not known. A walk of the cache therefore corrects
/// all reference counts, once for all records that a commit makes lost.
extension CommitTransaction {
    /// Makes those of `handles` lost that can't be read or have no record. Returns them.
    func lose(_ handles: [Handle], in transaction: inout WriteTransaction) throws -> Set<Handle> {
        var lost: Set<Handle> = []
        for handle in handles where try isDamaged(handle, in: transaction) { lost.insert(handle) }
        guard !lost.isEmpty else { return [] }
        let named = try index.removeDoubtfulEntries(leadingTo: lost, in: &transaction)
        for handle in lost.sorted() {
            try discardUnreadable(handle, in: &transaction)
            try states.lose(handle, isNamed: named.contains(handle), in: transaction)
        }
        needsRecount = true
        return lost
    }

    private func isDamaged(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        // A damaged reference may name a handle that was never given out. A record under such a
        // handle is left alone.
        guard counterTable.isGivenOut(handle) else { return false }
        let flags = try states.entry(handle, in: transaction).flags
        guard flags.isDisjoint(with: [.tombstone, .lost, .pendingRemoval]) else { return false }
        do {
            guard let record = try record(handle, in: transaction) else { return true }
            try record.checkValues()
            return false
        } catch let error as FormatError {
            return !error.isNewer
        }
    }

    /// Recounts all references, the records of each shape and dictionary, and the numbers of
    /// records and bytes. A record that can't be read counts as one without references.
    ///
    /// - Complexity: Walks the cache. Only damage and a repair of the index need it.
    func recount(in transaction: borrowing WriteTransaction) throws {
        var references: [Handle: UInt64] = [:]
        var shapeUses: [UInt64: UInt64] = [:]
        var dictionaryUses: [UInt64: UInt64] = [:]
        var handles: Set<Handle> = []
        for nameSpace in NameSpace.allCases { counters[count: nameSpace] = 0 }
        counters.recordBytes = try storedBytes(in: transaction)
        counters.rawBytes = 0
        for handle in try storedHandles(keyspaces.nodes, in: transaction) {
            handles.insert(handle)
            let entry = try states.entry(handle, in: transaction)
            let isPendingRemoval = entry.flags.contains(.pendingRemoval)
            guard !isPendingRemoval || entry.released != StateEntry.allReleased,
                let record = try readableRecord(handle, in: transaction)
            else { continue }
            let released = isPendingRemoval ? Int(clamping: entry.released) : 0
            for child in record.children.dropFirst(released) { references[child, default: 0] += 1 }
            shapeUses[record.shapeNumber, default: 0] += 1
            dictionaryUses[record.dictionaryNumber, default: 0] += 1
            counters[count: record.nameSpace] += 1
            counters.rawBytes += UInt64(record.rawByteCount)
        }
        for handle in try transaction.pinnedHandles(keyspaces) {
            references[handle, default: 0] += 1
        }
        handles.formUnion(references.keys)
        handles.formUnion(try storedHandles(keyspaces.state, in: transaction))
        handles.formUnion(states.changedHandles)
        // No handle must be given out twice, even if the counters are damaged.
        if let last = handles.max(), last.rawValue < UInt64.max {
            counters.nextHandle = max(counters.nextHandle, last.rawValue + 1)
        }
        for handle in handles {
            try states.setCount(references[handle] ?? 0, of: handle, in: transaction)
        }
        // `states.flush` adds `tombstoneChange` to this number.
        let tombstones = try states.tombstoneCount(among: handles, in: transaction)
        counters.tombstones = UInt64(max(0, tombstones - states.tombstoneChange))
        shapes.setRecordCounts(shapeUses)
        dictionaries.setRecordCounts(dictionaryUses)
    }

    private func storedBytes(in transaction: borrowing WriteTransaction) throws -> UInt64 {
        var bytes: UInt64 = 0
        try transaction.forEach(in: keyspaces.nodes) { _, value in
            bytes += UInt64(value.byteCount)
            return true
        }
        return bytes
    }

    /// Returns the handles that are keys of a keyspace. Leaves out the keys of chunks.
    private func storedHandles(
        _ keyspace: Keyspace, in transaction: borrowing WriteTransaction
    ) throws -> [Handle] {
        var handles: [Handle] = []
        try transaction.forEach(in: keyspace) { key, _ in
            try ByteReader.reading(key) { key in
                let handle = Handle(try key.integer(UInt64.self))
                if key.isAtEnd { handles.append(handle) }
            }
            return true
        }
        return handles
    }
}
