package import EspalierModels
package import EspalierRecords

extension DictionaryRecordSource {
    /// Flattens and stores `model`.
    package func store(
        _ model: some NormalizedModel, policy: WritePolicy = .replace,
        limits: TreeLimits = TreeLimits()
    ) throws {
        try store(Self.flatten(model, limits: limits), policy: policy)
    }

    package static func flatten(
        _ model: some NormalizedModel, limits: TreeLimits = TreeLimits()
    ) throws -> FlattenedTree {
        let flattener = Flattener(limits: limits)
        _ = try flattener.value { try model.encodeValue(into: $0) }
        return flattener.finish()
    }

    /// Binds handles in pre-order, merges every node into the record it has, and writes the
    /// records.
    package func store(_ tree: FlattenedTree, policy: WritePolicy = .replace) throws {
        let handles = tree.nodes.map { node in
            let handle = handle(of: node.identifier) ?? newHandle()
            index[Identifier(node.identifier)] = handle
            return handle
        }
        for (index, handle) in handles.enumerated() {
            let merge = try RecordMerge(
                index, of: tree, into: parsedRecord(handle), policy: policy, handles: handles)
            put(merge, identifier: tree.nodes[index].identifier, handle: handle)
        }
    }

    private func put(_ merge: RecordMerge, identifier: String, handle: Handle) {
        lost.remove(handle)
        records[handle] = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: .number(number(of: merge.shape), merge.shape),
            children: merge.children,
            payload: Record.payload(identifier: identifier, values: merge.values))
    }

    /// The record of `handle`, taken apart; nil when it is damaged, deleted or not there.
    package func parsedRecord(_ handle: Handle) throws -> Record? {
        guard !lost.contains(handle), !tombstones.contains(handle), let bytes = records[handle]
        else { return nil }
        return try ByteReader.reading(bytes) { reader in
            try Record(reading: &reader, handle: handle) { shapes[$0] }
        }
    }

    /// Deletes the record of `identifier`; references to it find a tombstone.
    package func delete(_ identifier: String) {
        guard let handle = index.removeValue(forKey: Identifier(identifier)) else { return }
        records[handle] = nil
        lost.remove(handle)
        tombstones.insert(handle)
    }

    /// Makes the record of `identifier` one that was found damaged.
    package func lose(_ identifier: String) {
        guard let handle = handle(of: identifier) else { return }
        lost.insert(handle)
    }
}
