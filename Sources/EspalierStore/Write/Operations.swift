import EspalierLMDB
import EspalierRecords

// What each operation does to the tables.
extension CommitTransaction {
    /// Applies one operation: to the records, or below the optimistic changes of those that have
    /// some.
    func apply(_ operation: WriteOperation, in transaction: inout WriteTransaction) throws {
        changes.source = operation.source
        entryMaxAge = nil
        keptByPins.removeAll()
        try applyBelowLayers(operation, in: &transaction)
        try flagSuspects(in: transaction)
        try checkPins(in: transaction)
    }

    /// Applies one operation to the records as they are.
    ///
    /// - Parameter keepable: The write that the operation stands for, if memory may keep it.
    func applyToRecords(
        _ operation: WriteOperation, as keepable: KeepableWrite? = nil,
        in transaction: inout WriteTransaction
    ) throws {
        switch operation {
        case .keepable(let write):
            try applyToRecords(write.operation, as: write, in: &transaction)
        case .nodes(let tree, let roots, _):
            let handles = try write(tree, as: keepable, in: &transaction)
            for root in roots { try finishRoot(root, of: tree, handles, in: &transaction) }
            counters.writes += 1
        case .key(let key, let value, let tree, _):
            let handles = try write(tree, as: keepable, in: &transaction)
            entryMaxAge = tree.maxAge ?? maxAge
            try writeKey(key, value, handles, in: &transaction)
            counters.writes += 1
        case .collection(let key, let operation, let tree, let neighbours, _):
            var handles = try write(tree, as: keepable, in: &transaction)
            for identifier in tree.storedNodes {
                handles.append(try slot(.node, identifier, in: &transaction).handle)
            }
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
        case .delete(let names):
            for name in names
            where try delete(name.nameSpace, name.identifier.string, in: &transaction) {
                counters.deletes += 1
            }
        case .restore(let records, let restoration):
            var restorer = Restorer(self, restoration)
            try restorer.restore(records, in: &transaction)
            counters.writes += 1
        case .outdate(let names):
            for name in names { try outdate(name, in: &transaction) }
        case .evict(let names):
            try evict(names, onlyExpired: false, in: &transaction)
        case .evictExpired(let names):
            try evict(names, onlyExpired: true, in: &transaction)
        case .pin(let name): try pin(name.nameSpace, name.identifier.string, in: &transaction)
        case .unpin(let name): try unpin(name.nameSpace, name.identifier.string, in: &transaction)
        case .checkPins(let budget): try checkPins(for: budget, in: transaction)
        case .repair(let repair):
            contentChanges.changeAnything()
            try apply(repair, in: &transaction)
        case .install(let trained, let isForAll):
            try install(trained, isForAll: isForAll, in: &transaction)
        case .retireDictionary: retireDictionary()
        case .repack(let slice): try repack(slice, in: &transaction)
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact, .repairAll: break
        }
    }

    /// Counts a node that was written by itself as accessed. A key of the same name is deleted.
    func finishRoot(
        _ root: Int, of tree: FlattenedTree, _ handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        try states.noteWrite(
            handles[root], at: WriteTime(now), maxAge: tree.maxAge(at: root) ?? maxAge,
            in: transaction)
        try delete(.key, tree.entries[root].identifier, in: &transaction)
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
        if try put(content, at: slot, in: &transaction) { changes.change(key: key, in: .key) }
        try states.noteWrite(
            slot.handle, at: WriteTime(now), maxAge: entryMaxAge, in: transaction)
    }

    /// Evicts the records of names, as one run of the evictor.
    private func evict(
        _ names: [RecordName], onlyExpired: Bool, in transaction: inout WriteTransaction
    ) throws {
        var evicted = EvictionCounts()
        for name in names {
            if onlyExpired, try !hasExpired(name, in: transaction) { continue }
            try evictNamed(name, keepsTime: onlyExpired, countingIn: &evicted, in: &transaction)
        }
        if !evicted.isEmpty { count(evicted, for: .explicit) }
    }

    /// Makes the record of a name count as expired, if there is one.
    private func outdate(
        _ name: RecordName, in transaction: inout WriteTransaction
    ) throws {
        let (nameSpace, identifier) = (name.nameSpace, name.identifier.string)
        if var layered = layers.records[name], layered.confirmed.content != nil {
            expiryMark = .any
            layered.confirmed.maxAge = 0
            layered.confirmed.writtenAt = layered.confirmed.writtenAt ?? WriteTime(now)
            try layers.set(layered.confirmed, of: name, at: layered.handle, in: &transaction)
        }
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
            changes.change(key: identifier, in: nameSpace)
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
            let isLayered = layers.hasLayers(handle)
            // An optimistic deletion may be rolled back.
            if !isLayered { try unpin(nameSpace, identifier, in: &transaction) }
            try removeOrScheduleRemoval(record, atOnce: isLayered, in: &transaction)
        } else {
            // The references of a damaged record are not known. Its bytes and index entry go now.
            let isCertain = try isCertain(match, nameSpace, identifier, in: transaction)
            if !layers.hasLayers(handle) { try unpin(nameSpace, identifier, in: &transaction) }
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
            changes.change(key: identifier, in: nameSpace)
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
