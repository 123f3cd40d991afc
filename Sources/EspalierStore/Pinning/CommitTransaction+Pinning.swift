import EspalierLMDB
import EspalierRecords

// A pin is a reference that no record makes: what it names, and all below, is never evicted.
extension CommitTransaction {
    /// The most that pinned records may cost.
    private var pinLimit: Int { generation.budget.bytes / 2 }

    func pin(_ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction)
        throws
    {
        guard let handle = try knownHandle(nameSpace, identifier, in: &transaction),
            let record = try readableRecord(handle, in: transaction),
            record.isNamed(identifier, in: nameSpace)
        else {
            throw CacheError(.notFound, "There is nothing under this name to pin. Store it first.")
        }
        let key = IndexKey.bytes(nameSpace, identifier)
        if let known = try transaction.value(keyspaces.pins, key) {
            let target = try? Handle(stored: known)
            guard target != handle else { return }
            // Of a record that damage has taken.
            try unpin(nameSpace, identifier, in: &transaction)
        }
        try transaction.put(keyspaces.pins, key, handle.storedBytes)
        try counts.retain(handle, in: transaction)
        try counts.touch(handle, in: transaction)
        pinned.pins += 1
        try addReach(of: [handle], in: transaction)
        if pinned.total > pinLimit { try measurePins(in: transaction) }
        guard pinned.total <= pinLimit else { throw CacheError.pinnedFull(generation.budget) }
    }

    /// Takes a pin away, if there is one.
    func unpin(_ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction)
        throws
    {
        guard pinned.pins > 0 else { return }
        let key = IndexKey.bytes(nameSpace, identifier)
        let value = try transaction.value(keyspaces.pins, key)
        guard let value else { return }
        try transaction.delete(keyspaces.pins, key)
        pinned.pins -= 1
        if pinned.pins == 0 { pinned.total = 0 }
        guard let handle = try? Handle(stored: value),
            (1..<counters.nextHandle).contains(handle.rawValue)
        else {
            // Damage: whatever it kept has to be found by counting.
            hasLostReferences = true
            return
        }
        try counts.release(handle, in: transaction)
    }

    /// Throws when what was written since the last check makes the pinned records too many.
    func checkPins(in transaction: borrowing WriteTransaction) throws {
        let rewritten = edits.nodes[checkedEdits...]
        let bytes = Int(clamping: counters.bytesWritten - checkedBytes)
        checkedEdits = edits.nodes.count
        checkedBytes = counters.bytesWritten
        guard pinned.pins > 0, bytes > 0 else { return }
        if reach.isMeasured || pinned.isMeasurement {
            for handle in rewritten where reach.charge(handle, with: pinned) != nil {
                guard let record = try readableRecord(handle, in: transaction) else { continue }
                note(record)
                try addReach(of: record.children, in: transaction)
            }
        } else {
            pinned.total += bytes * 2
        }
        guard pinned.total > pinLimit else { return }
        try measurePins(in: transaction)
        guard pinned.total <= pinLimit else { throw CacheError.pinnedFull(generation.budget) }
    }

    /// Throws unless what is pinned takes no more than half of `budget`.
    func checkPins(for budget: ByteCount, in transaction: borrowing WriteTransaction) throws {
        guard pinned.total > budget.bytes / 2 else { return }
        try measurePins(in: transaction)
        guard pinned.total <= budget.bytes / 2 else { throw CacheError.pinnedFull(budget) }
    }

    /// Walks all that is pinned.
    private func measurePins(in transaction: borrowing WriteTransaction) throws {
        pinned.charges = [:]
        pinned.total = 0
        pinned.isMeasurement = true
        try addReach(of: transaction.pinnedHandles(keyspaces), in: transaction)
    }

    private func addReach(of handles: [Handle], in transaction: borrowing WriteTransaction) throws {
        var open = handles
        while let handle = open.popLast() {
            guard reach.charge(handle, with: pinned) == nil,
                let record = try readableRecord(handle, in: transaction)
            else { continue }
            note(record)
            open += record.children
        }
    }

    private func note(_ record: Record) {
        // Its bytes, its name in the index, and what LMDB adds to each entry.
        let charge =
            record.storedByteCount + 18
            + (record.nameSpace == .segment ? 0 : record.identifier.utf8.count + 27)
        pinned.total += charge - (reach.charge(record.handle, with: pinned) ?? 0)
        pinned.charges[record.handle] = charge
    }
}
