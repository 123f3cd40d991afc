import EspalierRecords

/// Records in a dictionary: what the store is to the bridge's tests.
final class BridgeStore: RecordSource {
    private var records: [Handle: RecordBuffer] = [:]
    private var stored: [Handle: [UInt8]] = [:]
    private var losses: [Handle: RecordLookup] = [:]
    private var handles: [String: Handle] = [:]
    private var shapes: [Shape] = []
    private let interner = ShapeInterner()

    func record(_ handle: Handle) -> RecordLookup {
        if let loss = losses[handle] { return loss }
        guard let record = records[handle] else { return .nothing }
        return .found(record.reader, owner: record)
    }

    func shape(_ number: UInt64) -> Shape? {
        shapes.indices.contains(Int(number) - 1) ? shapes[Int(number) - 1] : nil
    }

    /// Flattens `model` and keeps its records in place of what was there.
    @discardableResult
    func write(_ model: some IdentifiedModel, limits: TreeLimits = TreeLimits()) throws
        -> FlattenedTree
    {
        let flattener = Flattener(limits: limits, shapes: interner)
        _ = try flattener.value { try ModelStorage.encode(model, into: $0) }
        let tree = flattener.finish()
        for node in tree.nodes { losses[handle(of: node.identifier)] = nil }
        for node in tree.nodes { write(node, of: tree) }
        return tree
    }

    private func write(_ node: NodeDraft, of tree: FlattenedTree) {
        // Merging projections is not the bridge's business.
        guard let draft = node.projections.first else { return }
        let handle = handle(of: node.identifier)
        let record = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: .number(number(of: draft.shape), draft.shape),
            children: draft.children.map { self.handle(of: tree.nodes[$0].identifier) },
            payload: Record.payload(identifier: node.identifier, values: draft.values))
        stored[handle] = record
        // A new buffer: one that is being read stays as it is.
        records[handle] = RecordBuffer(record)
    }

    private func handle(of identifier: String) -> Handle {
        if let handle = handles[identifier] { return handle }
        let handle = Handle(UInt64(handles.count + 1))
        handles[identifier] = handle
        return handle
    }

    private func number(of shape: Shape) -> UInt64 {
        if let index = shapes.firstIndex(of: shape) { return UInt64(index + 1) }
        shapes.append(shape)
        return UInt64(shapes.count)
    }

    func read<Model>(
        _ type: Model.Type = Model.self, _ identifier: String, limits: TreeLimits = TreeLimits()
    ) -> Result<Model, MissReason> {
        guard let handle = handles[identifier] else { return .failure(.notFound) }
        let treeReader = TreeReader(source: self, limits: limits)
        return treeReader.read(identifier) {
            try ModelStorage.decode(type, entry: handle, identifier: identifier, of: treeReader)
        }
    }

    func delete(_ identifier: String) { losses[handle(of: identifier)] = .tombstone }
    func lose(_ identifier: String) { losses[handle(of: identifier)] = .lost }
    func forget(_ identifier: String) { losses[handle(of: identifier)] = .nothing }

    func bytes(of identifier: String) -> [UInt8]? { handles[identifier].flatMap { stored[$0] } }

    /// The record's fields by name.
    func fields(of identifier: String) throws -> [(name: String, value: RecordValue)] {
        guard let handle = handles[identifier], let bytes = stored[handle] else { return [] }
        let record = try ByteReader.reading(bytes) {
            try Record(reading: &$0, handle: handle, shapes: shape)
        }
        return try ByteReader.reading(record.values) { reader in
            try record.shape.fields.map { ($0.name, try RecordValue(reading: &reader)) }
        }
    }
}
