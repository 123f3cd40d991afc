import EspalierLMDB
import EspalierRecords

extension CommitTransaction {
    /// Writes the nodes of a tree. Returns their handles, by index in the tree.
    @discardableResult
    func write(
        _ tree: FlattenedTree, policy: WritePolicy, in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        let places = try places(of: tree, policy: policy, in: &transaction)
        var referred: Set<Handle> = []
        // Of two projections one may take another's child away: what no record of the tree refers
        // to is touched by itself.
        let mayLoseChildren = tree.hasProjections
        for number in places.changed.indices {
            let index = places.changed[number].index
            let place = Place(handle: places.handles[index], old: places.changed[number].old)
            let children = try write(
                index, of: tree, to: place, policy: policy, handles: places.handles,
                in: &transaction)
            if mayLoseChildren { referred.formUnion(children) }
        }
        counters.recordsUnchanged += UInt64(tree.count - places.changed.count)
        if mayLoseChildren {
            for handle in places.handles where !referred.contains(handle) {
                try counts.touch(handle, in: transaction)
            }
        }
        return places.handles
    }

    private func write(
        _ index: Int, of tree: FlattenedTree, to place: Place, policy: WritePolicy,
        handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        let merge = try RecordMerge(
            index, of: tree, into: place.old, policy: policy, handles: handles)
        let identifier = tree.entries[index].identifier
        let content = Content(
            nameSpace: .node, identifier: identifier, shape: merge.shape, children: merge.children,
            values: merge.values)
        if try put(content, at: place.handle, over: place.old, in: &transaction) {
            changes.written.append(identifier)
        }
        if tree.entries[index].isOnCycle {
            // Written is accessed: it stands among the roots of its time, and not before them all.
            try counts.update(place.handle, in: transaction) { entry in
                entry.flags.insert(.onCycle)
                entry.stamp = stamp
            }
        }
        // What the tree does not know of may lead back into it.
        if merge.keepsChildren { suspects.append(place.handle) }
        return merge.children
    }

    /// Where a record goes, and what stands there.
    struct Place {
        let handle: Handle
        let old: Record?
    }

    /// The place of an identifier, given out now if it has none, or if its index entry leads to
    /// another's record: merging into that would damage it, too.
    func place(_ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction)
        throws -> Place
    {
        let bound = try bind(nameSpace, identifier, in: &transaction)
        guard !bound.isNew else { return Place(handle: bound.handle, old: nil) }
        return try place(nameSpace, identifier, boundTo: bound.handle, in: &transaction)
    }

    func place(
        _ nameSpace: NameSpace, _ identifier: String, boundTo handle: Handle,
        in transaction: inout WriteTransaction
    ) throws -> Place {
        if let old = try readableRecord(handle, in: transaction) {
            guard old.isNamed(identifier, in: nameSpace) else {
                return Place(handle: try rebind(nameSpace, identifier, in: &transaction), old: nil)
            }
            return Place(handle: handle, old: old)
        }
        // The references of a lost record were counted anew when it was cleared away, if it ever
        // had any.
        if try !counts.isLost(handle, in: transaction) { hasLostReferences = true }
        try clearUnreadable(handle, nameSpace, in: &transaction)
        return Place(handle: handle, old: nil)
    }

    /// The record to write over; a damaged or lost one is cleared away first, and its place is as
    /// good as new.
    func repairedRecord(
        _ handle: Handle, _ nameSpace: NameSpace, in transaction: inout WriteTransaction
    ) throws -> Record? {
        if let record = try readableRecord(handle, in: transaction) { return record }
        try clearUnreadable(handle, nameSpace, in: &transaction)
        return nil
    }

    private func clearUnreadable(
        _ handle: Handle, _ nameSpace: NameSpace, in transaction: inout WriteTransaction
    ) throws {
        try discardUnreadable(handle, nameSpace, in: &transaction)
        try counts.clear([.lost, .nameless], of: handle, in: transaction)
    }

    /// Writes the entry of a key: one value, a reference or an inline model.
    func writeKey(
        _ key: String, _ value: ValueDraft, handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        let place = try place(.key, key, in: &transaction)
        try writeKey(
            key, value.bytes, children: value.children.map { handles[$0] }, at: place,
            in: &transaction)
    }

    func writeKey(
        _ key: String, _ value: [UInt8], children: [Handle], at place: Place,
        in transaction: inout WriteTransaction
    ) throws {
        let content = Content(
            nameSpace: .key, identifier: key, children: children, values: value[...])
        if try put(content, at: place.handle, over: place.old, in: &transaction) {
            changes.keys.append(key)
        }
        try counts.touch(place.handle, in: transaction)
    }

    /// Takes away what `identifier` names. Returns whether there was anything.
    @discardableResult
    func delete(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let handle = try knownHandle(nameSpace, identifier, in: &transaction) else {
            return false
        }
        try unpin(nameSpace, identifier, in: &transaction)
        if let record = try readableRecord(handle, in: transaction) {
            if record.isNamed(identifier, in: nameSpace) {
                try removeOrScheduleRemoval(record, in: &transaction)
            } else {
                // A damaged index entry: the record it leads to is another's.
                try forget(names: [IndexKey.bytes(nameSpace, identifier)], in: &transaction)
            }
        } else {
            try removeUnreadable(handle, nameSpace, identifier, in: &transaction)
        }
        if nameSpace == .node {
            changes.delete(identifier)
        } else {
            changes.keys.append(identifier)
        }
        return true
    }

    /// A record with much below it loses its name now, and the rest in steps. One that is referred
    /// to and short goes at once: those who refer to it have to find nothing under its handle.
    private func removeOrScheduleRemoval(_ record: Record, in transaction: inout WriteTransaction)
        throws
    {
        let isReferenced = try counts.entry(record.handle, in: transaction).referenceCount > 0
        guard isLarge(record), isChunked(record) || !isReferenced else {
            return try remove(record, in: &transaction)
        }
        try scheduleRemoval(record, accessedAt: stamp, in: &transaction)
    }

    /// A damaged record goes by its keys alone: what it referred to is not known any more.
    private func removeUnreadable(
        _ handle: Handle, _ nameSpace: NameSpace, _ identifier: String,
        in transaction: inout WriteTransaction
    ) throws {
        try discardUnreadable(handle, nameSpace, in: &transaction)
        try forget(names: [IndexKey.bytes(nameSpace, identifier)], in: &transaction)
        try counts.remove(handle, in: transaction)
    }

    /// Takes the bytes of a damaged record away, so that it can be written anew or go.
    func discardUnreadable(
        _ handle: Handle, _ nameSpace: NameSpace, in transaction: inout WriteTransaction
    ) throws {
        var keys: [[UInt8]] = []
        try transaction.forEach(in: keyspaces.nodes, from: handle.rawValue) { key, value in
            try ByteReader.reading(key) { reader in
                guard try reader.integer(UInt64.self) == handle.rawValue else { return false }
                reader.position = 0
                keys.append(try reader.bytes(count: reader.end))
                return true
            }
        }
        guard !keys.isEmpty else { return }
        // The recount also tells how many records and bytes are left.
        hasLostReferences = true
        edits.nodes.append(handle)
        for key in keys { try transaction.delete(keyspaces.nodes, key) }
    }
}

extension Record {
    func isNamed(_ identifier: String, in nameSpace: NameSpace) -> Bool {
        self.nameSpace == nameSpace && Identifier(self.identifier) == Identifier(identifier)
    }
}
