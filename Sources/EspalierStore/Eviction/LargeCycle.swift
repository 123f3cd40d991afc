import EspalierLMDB
import EspalierRecords

// A cycle that is too large to be evicted as one is cut at the flagged record that was accessed
// longest ago. The references of that record are replaced by references to a lost record:
//
//     User:7   name "Ada", boards -> Board:70, Board:71        before
//     User:7   name "Ada", boards -> lost, lost                after
//
// What a cut loses: a tree that needs these references is a miss (`lost`), and the next write of
// the record restores it. Trees that need only the values of the record stay whole. What other
// records do not refer to, of what was below the record, counts as accessed when the record was,
// and is evicted next.

/// Records of a cycle that is too large to be evicted as one, as a search has found them.
///
/// A search looks at thousands of records, so what it has found serves for several cuts. Cuts only
/// remove references, so a record may have left the cycle meanwhile: a sixteenth of the members may
/// be cut before the next search.
struct LargeCycle {
    private let members: Set<Handle>
    private var cutsLeft: Int

    init(members: Set<Handle>) {
        self.members = members
        cutsLeft = max(1, members.count / 16)
    }

    /// Returns whether a record may be cut without another search.
    func allowsCut(of handle: Handle) -> Bool { cutsLeft > 0 && members.contains(handle) }

    mutating func countCut() { cutsLeft -= 1 }
}

extension CommitTransaction {
    /// Returns whether a pin or an optimistic change keeps what is below a record. Measures what
    /// they keep first, if no measurement is known.
    func isKeptFromCuts(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard !pins.isEmpty else { return false }
        if !pins.isMeasured { try measurePins(in: transaction) }
        return pins.isPinned(handle)
    }

    /// Cuts the references of a record on a large cycle, at most ``removalBatch`` in one step. A
    /// long record, which can't be rewritten in one step, becomes lost instead.
    ///
    /// - Returns: Whether references are left for a further step.
    func cutReferences(
        of handle: Handle, reason: Eviction.Reason, countingIn evicted: inout EvictionCounts,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let record = try readableRecord(handle) else {
            try states.update(handle, in: transaction) { $0.unflag() }
            return false
        }
        let stamp = try states.entry(handle, in: transaction).stamp
        counters.cuts += 1
        generation.noteCuts()
        if record.isLong {
            let victim = Victim(stamp: stamp, reason: reason)
            try loseInSteps(record, as: victim, countingIn: &evicted, in: &transaction)
            return false
        }
        let known = try record.children.first {
            try states.entry($0, in: transaction).flags.contains(.cut)
        }
        let whole = record.children.filter { $0 != known }
        let cut = Set(whole.prefix(removalBatch))
        if !cut.isEmpty {
            let lost = try known ?? states.makeCutRecord(in: transaction)
            try replace(cut, by: lost, in: record, in: transaction)
            for child in cut.sorted() {
                try states.release(child, evictedAt: stamp, in: transaction)
            }
        }
        guard cut.count == whole.count else { return true }
        try states.update(handle, in: transaction) { $0.unflag() }
        return false
    }

    /// Writes a record again that refers to `lost` where it referred to the records of `cut`.
    private func replace(
        _ cut: Set<Handle>, by lost: Handle, in record: Record,
        in transaction: borrowing WriteTransaction
    ) throws {
        var splicer = ValueSplicer()
        try ByteReader.reading(record.values) { reader in
            try splicer.append(0..<reader.end, of: reader) { ordinal in
                guard ordinal < record.children.count else {
                    throw FormatError.malformed("a child that is not in the record")
                }
                let child = record.children[ordinal]
                return cut.contains(child) ? lost : child
            }
        }
        let content = RecordContent(
            nameSpace: record.nameSpace, identifier: record.identifier, shape: record.shape,
            children: splicer.children, values: splicer.values[...])
        let shape = shapes.bind(
            content.shape, next: &counterTable.value.nextShape, limit: records.valueLimit)
        records.store(content, shape, at: record.handle, over: record)
        if case .number(let number, _) = shape { shapes.retain(number) }
        shapes.release(record.shapeNumber)
    }

    /// Removes the name of a long record now, and the rest in steps. References to it lead to a
    /// lost record.
    private func loseInSteps(
        _ record: Record, as victim: Victim, countingIn evicted: inout EvictionCounts,
        in transaction: inout WriteTransaction
    ) throws {
        var victim = victim
        victim.add(record)
        changes.add(victim)
        evicted.add(records: 1, bytes: victim.bytes, accessedAt: victim.stamp, isGroup: false)
        try index.removeEntry(of: record, in: &transaction)
        try states.scheduleRemovalAsLost(
            record.handle, accessedAt: victim.stamp, in: transaction)
    }
}
