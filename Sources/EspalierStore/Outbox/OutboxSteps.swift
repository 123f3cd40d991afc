import EspalierLMDB
import EspalierRecords

// What the steps of an outbox do in a commit.
//
//     add --> waiting --- sent: finish ---> gone, its change confirmed
//               |  ^
//         fail, |  | revive: its change is applied again, on top
//      the last |  |
//               v  |
//             dead letter, its change rolled back --- drop ---> gone
//
// An operation and its optimistic change are never apart: one commit changes both. A finished
// operation is never sent again: the commit that removes it also writes the answer, so a process
// that dies before has not applied the answer either.
extension CommitTransaction {
    /// Applies a step of an outbox.
    ///
    /// - Throws: `CacheError.noOperation` if there is no operation of that name, or if the cache
    ///   has begun anew while the operation was sent. An operation that was dropped while it was
    ///   sent is no error: its answer is written.
    func apply(_ step: OutboxStep, in transaction: inout WriteTransaction) throws {
        let name: OutboxName
        switch step {
        case .add(let draft, let sections):
            name = draft.name
            try add(draft, sections, in: &transaction)
        case .fail(let failed, let attempts, let failure, let isLast):
            name = failed.name
            try fail(failed, attempts, failure, isLast: isLast, in: &transaction)
        case .finish(let finished, let sections, let replacesChange):
            name = finished.name
            try finish(finished, sections, replacesChange: replacesChange, in: &transaction)
        case .revive(let revived):
            name = revived
            try revive(name, in: &transaction)
        case .drop(let dropped):
            name = dropped
            try layers.remove(try operation(name), in: &transaction)
            try rollBackChange(of: name, in: &transaction)
        }
        changes.change(key: name.changedKey, in: .key)
        pins.setLayerEntries(try transaction.statistics(of: keyspaces.layers).entries)
    }

    private func operation(_ name: OutboxName) throws -> OutboxEntry {
        guard let entry = layers.operation(name) else { throw CacheError.noOperation }
        return entry
    }

    private func add(
        _ draft: OutboxDraft, _ sections: [BatchSection], in transaction: inout WriteTransaction
    ) throws {
        guard layers.operation(draft.name) == nil else { throw CacheError.pendingOperation }
        // Before anything is written: no record is evicted for an operation that is refused.
        try checkLayerLimit(adding: draft.payload.count)
        // The change of an operation that was lost, because its bytes were damaged.
        try rollBackChange(of: draft.name, in: &transaction)
        // No two operations of a name and a lineage have the same number, also if the first one was
        // dropped.
        let entry = OutboxEntry(
            number: max(layers.nextOperation, changes.commit &<< 16), draft,
            addedAt: WriteTime(now),
            hasChange: !sections.isEmpty)
        try layers.set(entry, in: &transaction)
        if sections.isEmpty {
            try checkLayerLimit()
        } else {
            try addLayer(draft.name.change, sections, in: &transaction)
        }
    }

    private func finish(
        _ finished: OutboxIdentity, _ sections: [BatchSection], replacesChange: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        // Whoever has emptied the cache does not want the answer: another user may be logged in.
        guard finished.lineage == generation.lineage else { throw CacheError.noOperation }
        let entry = layers.operation(finished.name)
        // One of the same name that was added meanwhile keeps its change.
        let isOther = entry.map { $0.number != finished.number } ?? false
        if let entry, !isOther { try layers.remove(entry, in: &transaction) }
        let layer = isOther ? nil : layers.layer(finished.name.change)
        try confirm(layer, as: sections, replacesChange: replacesChange, in: &transaction)
    }

    private func fail(
        _ failed: OutboxIdentity, _ attempts: Int, _ failure: String, isLast: Bool,
        in transaction: inout WriteTransaction
    ) throws {
        let name = failed.name
        var entry = try operation(name)
        guard entry.number == failed.number, generation.lineage == failed.lineage else {
            throw CacheError.noOperation
        }
        entry.attempts = attempts
        entry.failure = String(failure.prefix(Self.longestFailure))
        if isLast {
            entry.isDead = true
            if let layer = layers.layer(name.change) {
                entry.sections = layer.encodedSections
                try rollBackChange(of: name, in: &transaction)
            }
        }
        try layers.set(entry, in: &transaction)
    }

    private func revive(_ name: OutboxName, in transaction: inout WriteTransaction) throws {
        var entry = try operation(name)
        guard entry.isDead else { return }
        let sections =
            try entry.sections.isEmpty ? [] : Layer.decodeSections(entry.sections)
        entry.isDead = false
        entry.attempts = 0
        entry.sections = []
        try layers.set(entry, in: &transaction)
        if !sections.isEmpty {
            try addLayer(name.change, sections, clamps: true, in: &transaction)
        }
    }

    private func rollBackChange(
        of name: OutboxName, in transaction: inout WriteTransaction
    ) throws {
        // Without an operation's change there is nothing to roll back: the app may have ended it.
        guard let layer = layers.layer(name.change) else { return }
        try rollBack(layer, in: &transaction)
    }

    /// The most characters of an error's text that are kept.
    private static let longestFailure = 500
}
