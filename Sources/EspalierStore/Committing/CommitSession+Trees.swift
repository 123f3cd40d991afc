import EspalierLMDB
import EspalierRecords

extension CommitSession {
    /// Writes the nodes of a tree. Returns their handles, by index in the tree.
    @discardableResult
    func write(
        _ tree: FlattenedTree, policy: WritePolicy, in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        ledger.reserveCapacity(tree.nodes.count)
        var handles: [Handle] = []
        handles.reserveCapacity(tree.nodes.count)
        var isNew: [Bool] = []
        isNew.reserveCapacity(tree.nodes.count)
        for node in tree.nodes {
            let bound = try bind(.node, node.identifier, in: &transaction)
            handles.append(bound.handle)
            isNew.append(bound.isNew)
        }
        for (index, node) in tree.nodes.enumerated() {
            try write(node, at: handles[index], isNew: isNew[index], policy: policy, handles: handles, in: &transaction)
        }
        return handles
    }

    private func write(
        _ node: NodeDraft, at handle: Handle, isNew: Bool, policy: WritePolicy, handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        let old = isNew ? nil : try repairedRecord(handle, .node, in: &transaction)
        let merge = try RecordMerge(node, into: old, policy: policy, handles: handles)
        let content = Content(
            nameSpace: .node, identifier: node.identifier, shape: merge.shape, children: merge.children,
            values: merge.values)
        if try put(content, at: handle, over: old, in: &transaction) { changes.written.append(node.identifier) }
        if node.isOnCycle { try ledger.set(.onCycle, of: handle, in: transaction) }
    }

    /// The record to write over; a damaged or lost one is cleared away first, and its place is as good as new.
    func repairedRecord(
        _ handle: Handle, _ nameSpace: NameSpace, in transaction: inout WriteTransaction
    ) throws -> Record? {
        if let record = try readableRecord(handle, in: transaction) { return record }
        try discardUnreadable(handle, nameSpace, in: &transaction)
        try ledger.clear(.lost, of: handle, in: transaction)
        return nil
    }

    /// Writes the entry of a key: one value, a reference or an inline model.
    func writeKey(
        _ key: String, _ value: ValueDraft, handles: [Handle], in transaction: inout WriteTransaction
    ) throws {
        let bound = try bind(.key, key, in: &transaction)
        let old = bound.isNew ? nil : try repairedRecord(bound.handle, .key, in: &transaction)
        let content = Content(
            nameSpace: .key, identifier: key, children: value.children.map { handles[$0] }, values: value.bytes)
        if try put(content, at: bound.handle, over: old, in: &transaction) { changes.keys.append(key) }
        try ledger.touch(bound.handle, in: transaction)
    }

    /// Takes away what `identifier` names. Returns whether there was anything.
    @discardableResult
    func delete(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let handle = try transaction.handle(keyspaces, nameSpace, identifier) else { return false }
        switch nameSpace {
        case .collection: try deleteCollection(handle, in: &transaction)
        default: break
        }
        if let record = try readableRecord(handle, in: transaction) {
            try remove(record, in: &transaction)
        } else {
            try removeUnreadable(handle, nameSpace, identifier, in: &transaction)
        }
        if nameSpace == .node { changes.delete(identifier) } else { changes.keys.append(identifier) }
        return true
    }

    /// A damaged record goes by its keys alone: what it referred to is not known any more.
    private func removeUnreadable(
        _ handle: Handle, _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws {
        try discardUnreadable(handle, nameSpace, in: &transaction)
        try transaction.delete(keyspaces.index, IndexKey.bytes(nameSpace, identifier))
        try ledger.remove(handle, in: transaction)
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
                counters.recordBytes &-= UInt64(value.byteCount)
                return true
            }
        }
        guard !keys.isEmpty else { return }
        hasLostReferences = true
        counters[count: nameSpace] -= 1
        for key in keys { try transaction.delete(keyspaces.nodes, key) }
    }
}
