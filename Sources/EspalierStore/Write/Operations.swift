import EspalierLMDB
import EspalierRecords

// What each operation does to the tables.
extension CommitTransaction {
    /// Applies one operation: to the records, or below the optimistic changes of those that have
    /// some.
    func apply(_ operation: WriteOperation, in transaction: inout WriteTransaction) throws {
        changes.source = operation.source
        kept.removeAll()
        try applyBelowLayers(operation, in: &transaction)
        try flagSuspects(in: transaction)
        try checkPins(in: transaction)
    }

    /// Applies one operation to the records as they are.
    func applyToRecords(
        _ operation: WriteOperation, in transaction: inout WriteTransaction
    ) throws {
        switch operation {
        case .nodes(let tree, let entries, _):
            let handles = try TreeWriter(self).write(tree, in: &transaction)
            for entry in entries { try finishNode(at: entry, of: tree, handles, in: &transaction) }
            counters.writes += 1
        case .key(let key, let value, let tree, _):
            let handles = try TreeWriter(self).write(tree, in: &transaction)
            entryMaxAge = tree.maxAge ?? maxAge
            try writeKey(key, value, handles, in: &transaction)
            counters.writes += 1
        case .collection(let key, let operation, let tree, let neighbours, _):
            let handles = try TreeWriter(self).write(tree, in: &transaction)
            entryMaxAge = tree.maxAge ?? maxAge
            try CollectionWriter(self).apply(
                operation, toCollection: key, expecting: neighbours, handles: handles,
                in: &transaction)
            counters.writes += 1
        case .batch(let sections):
            try apply(sections, in: &transaction)
        case .optimistic(let step): try apply(step, in: &transaction)
        case .outbox(let step): try apply(step, in: &transaction)
        case .transaction(let body): try run(body, in: &transaction)
        case .delete(let entries):
            for entry in entries
            where try delete(entry.nameSpace, entry.identifier, in: &transaction) {
                counters.deletes += 1
            }
        case .restore(let records, let restoration):
            var restorer = Restorer(self, restoration)
            try restorer.restore(records, in: &transaction)
            counters.writes += 1
        case .outdate(let entries):
            for entry in entries { try outdate(entry, in: &transaction) }
        case .evict(let entries):
            for entry in entries {
                try evict(entry.nameSpace, entry.identifier, in: &transaction)
            }
        case .evictExpired(let entries):
            for entry in entries where try hasExpired(entry, in: transaction) {
                try evict(entry.nameSpace, entry.identifier, in: &transaction)
            }
        case .pin(let entry): try pin(entry.nameSpace, entry.identifier, in: &transaction)
        case .unpin(let entry): try unpin(entry.nameSpace, entry.identifier, in: &transaction)
        case .checkPins(let budget): try checkPins(for: budget, in: transaction)
        case .repair(let repair):
            contentChanges.changeAnything()
            try apply(repair, in: &transaction)
        case .install(let trained): try install(trained, in: &transaction)
        case .retireDictionary: retireDictionary()
        case .repack(let slice): try repack(slice, in: &transaction)
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact, .repairAll: break
        }
    }

    /// Notes that a record has a new reference, which may have closed a cycle through it. The
    /// operation ends with a search.
    func suspectCycle(at handle: Handle) { suspects.append(handle) }

    /// Notes that a reference to a record was removed. A cycle may have split into several, and the
    /// record may lie on one of them or lead to one. The operation ends with a search.
    func suspectSplit(at handle: Handle) { splitSuspects.append(handle) }

    /// The records that the search looks at for one suspect.
    private static let suspectLimit = 512
    /// The records that the searches of one kind look at for all suspects of an operation.
    private static let searchLimit = 4_096

    /// Flags the cycles that an operation has closed, and those into which it has split a larger
    /// one.
    ///
    /// A cycle through a record that `recency` lists as on a cycle needs no other flag, so the
    /// first search stops at such records. An operation without a new reference closes no cycle.
    /// Every cycle that a new reference closes leads through the record that has it: if the search
    /// does not get to its end, that record gets the flag unseen. The evictor takes the flag away
    /// where it is wrong. So the more records refer to each other, the more of them are flagged,
    /// and the shorter the searches are.
    ///
    /// After a split the flagged record may lie on one part only, so the second search does not
    /// stop at flags. The scan for cycles finds those that lie beyond its limit.
    private func flagSuspects(in transaction: borrowing WriteTransaction) throws {
        defer {
            suspects.removeAll()
            splitSuspects.removeAll()
            hasNewReferences = false
        }
        guard !suspects.isEmpty || !splitSuspects.isEmpty else { return }
        var closed = CycleFinder()
        var flagged: Set<Handle> = []
        for handle in hasNewReferences ? suspects : [] {
            let limit = min(Self.suspectLimit, Self.searchLimit - closed.lookCount)
            let isComplete =
                try limit > 0
                && closed.search(from: handle, limit: limit) { record in
                    try flagged.contains(record)
                        || states.entry(record, in: transaction).isListedCycle
                        ? [] : records.children(of: record)
                }
            if !isComplete { flagged.insert(handle) }
        }
        var split = CycleFinder()
        for handle in splitSuspects {
            let limit = Self.searchLimit - split.lookCount
            guard limit > 0 else { break }
            split.search(from: handle, limit: limit) { records.children(of: $0) }
        }
        flagged.formUnion(closed.found)
        // A search may have stopped at a flag that is wrong, in front of a closed cycle.
        if !flagged.isEmpty || hasNewReferences && !suspects.isEmpty { knownCycles.noteNewCycle() }
        for handle in flagged.union(split.found).sorted() {
            // A write and a removed reference count as an access to all below.
            try states.flagCycle(at: handle, isAccess: true, in: transaction)
            try states.unblockCycle(at: handle, in: transaction)
        }
    }

    /// Counts a node that was written by itself as accessed. A key of the same name is deleted.
    func finishNode(
        at entry: Int, of tree: FlattenedTree, _ handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        try states.noteWrite(
            handles[entry], at: WriteTime(now), maxAge: tree.maxAge(at: entry) ?? maxAge,
            in: transaction)
        try delete(.key, tree.entries[entry].identifier, in: &transaction)
    }

    /// Writes the entry of a key. `handles` are those of the tree's nodes, to which the value
    /// refers by index.
    func writeKey(
        _ key: String, _ value: ValueDraft, _ handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        try writeKey(
            key, value.bytes, children: value.children.map { handles[$0] },
            at: try slot(.key, key, in: &transaction), in: &transaction)
    }

    /// Writes the entry of a key: one value, a reference or an inline model.
    func writeKey(
        _ key: String, _ value: [UInt8], children: [Handle], at slot: RecordSlot,
        in transaction: inout WriteTransaction
    ) throws {
        let content = RecordContent(
            nameSpace: .key, identifier: key, children: children, values: value[...])
        if try put(content, at: slot, in: &transaction) { changes.change(key: key) }
        try states.noteWrite(
            slot.handle, at: WriteTime(now), maxAge: entryMaxAge, in: transaction)
    }

    /// Makes the record of an entry count as expired, if there is one.
    private func outdate(
        _ entry: WriteOperation.Entry, in transaction: inout WriteTransaction
    ) throws {
        let (nameSpace, identifier) = (entry.nameSpace, entry.identifier)
        guard let match = try index.match(nameSpace, identifier, in: transaction.snapshot),
            let record = try readableRecord(match.handle), record.isNamed(identifier, in: nameSpace)
        else { return }
        expiryMark = .any
        let writtenAt = try states.entry(match.handle, in: transaction).writtenAt
        try states.setTimes(
            match.handle, writtenAt: writtenAt ?? WriteTime(now), maxAge: 0, in: transaction)
        if nameSpace == .node {
            changes.write(identifier)
        } else {
            changes.change(key: identifier)
        }
    }

    /// Deletes the entry of an identifier or key. Returns whether there was one.
    @discardableResult
    func delete(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let match = try index.match(nameSpace, identifier, in: transaction.snapshot) else {
            return false
        }
        let handle = match.handle
        if let record = try readableRecord(handle) {
            guard record.isNamed(identifier, in: nameSpace) else {
                // A whole entry that leads to the record of another name is damaged.
                if match.isWhole {
                    try index.removeEntry(nameSpace, identifier, of: handle, in: &transaction)
                }
                return false
            }
            let isHeld = layers.holds(handle)
            // An optimistic deletion may be rolled back.
            if !isHeld { try unpin(nameSpace, identifier, in: &transaction) }
            try removeOrScheduleRemoval(record, atOnce: isHeld, in: &transaction)
        } else {
            // The references of a damaged record are not known. Its bytes and index entry go now.
            let isCertain = try isCertain(match, nameSpace, identifier, in: transaction)
            if !layers.holds(handle) { try unpin(nameSpace, identifier, in: &transaction) }
            try index.removeEntry(nameSpace, identifier, of: handle, in: &transaction)
            if isCertain {
                try discardUnreadable(handle, in: &transaction)
                try states.remove(handle, in: transaction)
            } else {
                try loseUnnamed(handle, in: &transaction)
            }
        }
        if nameSpace == .node {
            changes.delete(identifier)
        } else {
            changes.change(key: identifier)
        }
        return true
    }

    /// Removes a small record at once. Removes the index entry of a large record now, and the rest
    /// in steps. A record that is referred to and not chunked is removed at once even if it is
    /// large, because its references must lead to a tombstone.
    private func removeOrScheduleRemoval(
        _ record: Record, atOnce: Bool, in transaction: inout WriteTransaction
    ) throws {
        // Its optimistic changes may give the record new content in the same commit.
        guard !atOnce else { return try remove(record, in: &transaction) }
        let isReferenced = try states.entry(record.handle, in: transaction).referenceCount > 0
        guard isLarge(record), record.isLong || !isReferenced else {
            return try remove(record, in: &transaction)
        }
        try scheduleRemoval(record, accessedAt: states.stamp, in: &transaction)
    }
}
