import EspalierLMDB
import EspalierRecords

// What a damaged record referred to is not known any more. When one is cleared away, the references
// and the uses of shapes are counted anew over the whole cache: a walk of it, for something that
// hardly ever happens.
extension CommitTransaction {
    /// Puts right every reference count, every shape's record count, and how many records and bytes
    /// there are. A record that can't be read refers to nothing.
    func recount(in transaction: borrowing WriteTransaction) throws {
        var references: [Handle: UInt64] = [:]
        var uses: [UInt64: UInt64] = [:]
        var dictionaryUses: [UInt64: UInt64] = [:]
        var handles: Set<Handle> = []
        for nameSpace in NameSpace.allCases { counters[count: nameSpace] = 0 }
        counters.recordBytes = try storedBytes(in: transaction)
        counters.rawBytes = 0
        for handle in try storedHandles(keyspaces.nodes, in: transaction) {
            handles.insert(handle)
            let entry = try counts.entry(handle, in: transaction)
            let isPendingRemoval = entry.flags.contains(.pendingRemoval)
            guard !isPendingRemoval || entry.released != StateEntry.allReleased,
                let record = try readableRecord(handle, in: transaction)
            else { continue }
            let released = isPendingRemoval ? Int(clamping: entry.released) : 0
            for child in record.children.dropFirst(released) { references[child, default: 0] += 1 }
            uses[record.shapeNumber, default: 0] += 1
            counters[count: record.nameSpace] += 1
            dictionaryUses[record.dictionaryNumber, default: 0] += 1
            counters.rawBytes += UInt64(record.rawByteCount)
        }
        for handle in try transaction.pinnedHandles(keyspaces) {
            references[handle, default: 0] += 1
        }
        handles.formUnion(references.keys)
        handles.formUnion(try storedHandles(keyspaces.state, in: transaction))
        handles.formUnion(counts.changedHandles)
        // No handle is given out twice, whatever the counters say.
        if let last = handles.max(), last.rawValue < UInt64.max {
            counters.nextHandle = max(counters.nextHandle, last.rawValue + 1)
        }
        for handle in handles {
            try counts.setCount(references[handle] ?? 0, of: handle, in: transaction)
        }
        // `flush` adds what the counts changed.
        counters.tombstones = UInt64(
            max(
                0,
                try counts.tombstoneCount(among: handles, in: transaction) - counts.tombstoneChange)
        )
        shapes.setUses(uses)
        dictionaries.setUses(dictionaryUses)
    }

    private func storedBytes(in transaction: borrowing WriteTransaction) throws -> UInt64 {
        var bytes: UInt64 = 0
        try transaction.forEach(in: keyspaces.nodes) { _, value in
            bytes += UInt64(value.byteCount)
            return true
        }
        return bytes
    }

    /// The handles that are keys of a keyspace, chunks apart.
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
