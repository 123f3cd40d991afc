import EspalierLMDB
import EspalierRecords

// A damaged record becomes *lost*: its bytes go, and a stub keeps its handle and its references,
// which are misses from then on and not taken for deletions. Its name stays, too, so that the next
// write of the identifier refills it under the same handle.
extension CommitTransaction {
    /// Makes stubs of those of `handles` that can't be read, or are not there at all. Returns
    /// which.
    ///
    /// What they referred to is not known any more: counts are put right when the commit is
    /// flushed, once for all of them.
    func lose(_ handles: [Handle], in transaction: inout WriteTransaction) throws -> Set<Handle> {
        var lost: Set<Handle> = []
        for handle in handles where try isDamaged(handle, in: transaction) { lost.insert(handle) }
        guard !lost.isEmpty else { return [] }
        let names = try names(of: lost, in: transaction)
        for handle in lost.sorted() {
            try discardUnreadable(handle, .node, in: &transaction)
            let named = names[handle, default: []]
            // Of two names one is damaged, and nobody knows which: what is written under either
            // must not appear under the other.
            if named.count > 1 {
                try forget(names: named, in: &transaction)
                edits.index += named
            }
            try counts.lose(handle, isNamed: named.count == 1, in: transaction)
        }
        hasLostReferences = true
        return lost
    }

    private func isDamaged(_ handle: Handle, in transaction: borrowing WriteTransaction) throws
        -> Bool
    {
        guard (1..<counters.nextHandle).contains(handle.rawValue) else { return false }
        let flags = try counts.entry(handle, in: transaction).flags
        guard flags.isDisjoint(with: [.tombstone, .lost, .pendingRemoval]) else { return false }
        do {
            guard let record = try record(handle, in: transaction) else { return true }
            try record.checkValues()
            return false
        } catch let error as FormatError {
            return !error.isNewer
        }
    }

    /// The keys of the index that lead to each of `handles`. Costs a walk of the index.
    private func names(
        of handles: Set<Handle>, in transaction: borrowing WriteTransaction
    ) throws -> [Handle: [[UInt8]]] {
        var names: [Handle: [[UInt8]]] = [:]
        try transaction.forEach(in: keyspaces.index) { key, value in
            guard let handle = try? Handle(stored: value), handles.contains(handle) else {
                return true
            }
            names[handle, default: []].append(
                try ByteReader.reading(key) { try $0.bytes(count: $0.end) })
            return true
        }
        return names
    }
}
