import EspalierLMDB
import EspalierRecords

// Of a cycle that is too large to be evicted as one, the flagged record that was accessed longest
// ago is detached from its children. Its references are replaced by references to a stub:
//
//     User:7   name "Ada", boards -> Board:70, Board:71        before
//     User:7   name "Ada", boards -> stub, stub                after
//
// A tree that needs these references is a miss (`lost`), and the next write of the record restores
// it. Trees that need only the values of the record stay whole. Records to which only the detached
// record referred become roots with its stamp, and are evicted next, unless they were accessed
// later.
//
// Change sets and events name the record as evicted, in each commit that takes references from it.

extension CommitTransaction {
    /// Returns whether a pin or an optimistic change keeps what is below a record. Measures what
    /// they keep first, if that may have changed.
    func isKept(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard !pins.isEmpty else { return false }
        if !pins.isMeasured || pins.isPinned(handle) && pins.mayBeTooMany {
            try measurePins(in: transaction)
        }
        return pins.isPinned(handle)
    }

    /// Detaches a record from its children, at most `removal.batch` in one step. A record that
    /// can't be rewritten in one step, because it is long or malformed, becomes lost instead.
    ///
    /// - Returns: Whether children are left for a further step.
    func detachChildren(
        of handle: Handle, reason: Eviction.Reason, countingIn evicted: inout EvictionCounts,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let record = try readableRecord(handle) else {
            try states.update(handle, in: transaction) { $0.unflag() }
            return false
        }
        let stamp = try states.entry(handle, in: transaction).stamp
        generation.noteDetached()
        if record.isLong {
            try loseInSteps(record, stamp, reason, countingIn: &evicted, in: &transaction)
            return false
        }
        let known = try record.children.first {
            try states.entry($0, in: transaction).flags.contains(.stub)
        }
        let whole = record.children.filter { $0 != known }
        let detached = Set(whole.prefix(removal.batch))
        if !detached.isEmpty {
            let content: RecordContent
            let stub = try known ?? states.makeStub(in: transaction)
            do {
                content = try Self.content(of: record, replacing: detached, by: stub)
            } catch is FormatError {
                if known == nil { try states.release(stub, in: transaction) }
                try loseInSteps(record, stamp, reason, countingIn: &evicted, in: &transaction)
                return false
            }
            rewrite(record, as: content)
            for child in detached.sorted() {
                try states.release(child, evictedAt: stamp, in: transaction)
            }
        }
        var victim = Victim(stamp: stamp, reason: reason)
        victim.addDetached(record)
        changes.add(victim)
        guard detached.count == whole.count else { return true }
        countDetachment()
        try states.update(handle, in: transaction) { $0.unflag() }
        return false
    }

    private func countDetachment() {
        counters.detachments += 1
        // Trees in memory do not know which records on cycles they follow.
        if counters.detachments == 1 { contentChanges.changeAnything() }
    }

    /// Returns the content of a record that refers to `stub` where it refers to `detached` records.
    private static func content(
        of record: Record, replacing detached: Set<Handle>, by stub: Handle
    ) throws -> RecordContent {
        var splicer = ValueSplicer()
        try ByteReader.reading(record.values) { reader in
            try splicer.append(0..<reader.end, of: reader) { ordinal in
                guard ordinal < record.children.count else {
                    throw FormatError.malformed("a child that is not in the record")
                }
                let child = record.children[ordinal]
                return detached.contains(child) ? stub : child
            }
        }
        return RecordContent(
            nameSpace: record.nameSpace, identifier: record.identifier, shape: record.shape,
            children: splicer.children, values: splicer.values[...])
    }

    /// Stores a record again, of which only children have changed.
    private func rewrite(_ record: Record, as content: RecordContent) {
        let shape = shapes.bind(
            content.shape, next: &counterTable.value.nextShape, limit: records.valueLimit)
        records.store(content, shape, at: record.handle, over: record)
        if case .number(let number, _) = shape { shapes.retain(number) }
        shapes.release(record.shapeNumber)
    }

    /// Removes the name of a record now, and the rest in steps. References to it lead to a lost
    /// record. It counts as a detached record, too, so that later processes know that
    /// records were detached.
    private func loseInSteps(
        _ record: Record, _ stamp: Stamp, _ reason: Eviction.Reason,
        countingIn evicted: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        countDetachment()
        var victim = Victim(stamp: stamp, reason: reason)
        victim.add(record)
        changes.add(victim)
        evicted.add(records: 1, bytes: victim.bytes, accessedAt: victim.stamp, isGroup: false)
        try index.removeEntry(of: record, in: &transaction)
        try states.scheduleRemovalAsLost(
            record.handle, accessedAt: victim.stamp, in: transaction)
    }
}
