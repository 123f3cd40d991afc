import EspalierLMDB
import EspalierRecords

extension CommitTransaction {
    /// Records looked at for each suspect. What lies further away is left to the sweep.
    private static let suspectLimit = 4_096

    func apply(_ operation: WriteOperation, in transaction: inout WriteTransaction) throws {
        switch operation {
        case .nodes(let tree, let entries, let policy):
            let handles = try write(tree, policy: policy, in: &transaction)
            for entry in entries {
                try counts.touch(handles[entry], in: transaction)
                try delete(.key, tree.entries[entry].identifier, in: &transaction)
            }
            counters.writes += 1
        case .key(let key, let value, let tree, let policy):
            let handles = try write(tree, policy: policy, in: &transaction)
            try writeKey(key, value, handles: handles, in: &transaction)
            counters.writes += 1
        case .collection(let key, let edit, let tree, let policy, let neighbours):
            let handles = try write(tree, policy: policy, in: &transaction)
            try self.edit(
                collection: key, edit, expecting: neighbours, handles: handles, in: &transaction)
            counters.writes += 1
        case .delete(let entries):
            for entry in entries
            where try delete(entry.nameSpace, entry.identifier, in: &transaction) {
                counters.deletes += 1
            }
        case .restore(let records, let restoration):
            try restore(records, restoration, in: &transaction)
            counters.writes += 1
        case .evict(let entries):
            for entry in entries { try evict(entry.nameSpace, entry.identifier, in: &transaction) }
        case .pin(let entry): try pin(entry.nameSpace, entry.identifier, in: &transaction)
        case .unpin(let entry): try unpin(entry.nameSpace, entry.identifier, in: &transaction)
        case .checkPins(let budget): try checkPins(for: budget, in: transaction)
        case .mend(let repair): try mend(repair, in: &transaction)
        case .install(let trained): try install(trained, in: &transaction)
        case .retireDictionaries: retireDictionaries()
        case .recompress(let handles):
            for handle in handles { try recompress(handle, in: &transaction) }
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact: break
        }
        try flagSuspects(in: transaction)
        try checkPins(in: transaction)
    }

    /// Looks for cycles that an operation has closed, or left of a larger one, where no flag was
    /// set on the way.
    private func flagSuspects(in transaction: borrowing WriteTransaction) throws {
        guard !suspects.isEmpty else { return }
        var search = CycleSearch()
        for handle in suspects {
            search.search(from: handle, limit: Self.suspectLimit) {
                (try? transaction.children(keyspaces, of: $0)) ?? []
            }
        }
        suspects.removeAll()
        for handle in search.found.sorted() { try flagCycle(at: handle, in: transaction) }
    }

    /// Flags a record that a search found on a cycle, if it still is one and nobody has.
    func flagCycle(at handle: Handle, in transaction: borrowing WriteTransaction) throws {
        guard
            try counts.entry(handle, in: transaction).flags.isDisjoint(with: [
                .onCycle, .pendingRemoval, .tombstone,
            ])
        else {
            return
        }
        try counts.set(.onCycle, of: handle, in: transaction)
    }
}
