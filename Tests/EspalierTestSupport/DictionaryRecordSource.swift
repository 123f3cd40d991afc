package import EspalierModels
package import EspalierRecords

/// Records in a dictionary: a store without file, transaction or eviction.
///
/// Its tables are open, so that a test can damage them.
package final class DictionaryRecordSource: RecordSource {
    package var records: [Handle: [UInt8]] = [:]
    package var tombstones: Set<Handle> = []
    package var lost: Set<Handle> = []
    package var shapes: [UInt64: Shape] = [:]
    package var index: [Identifier: Handle] = [:]
    /// How often a read asked for a record.
    package private(set) var lookups = 0
    private var lastHandle: UInt64 = 0

    package init() {}

    package func record(_ handle: Handle) throws -> RecordLookup {
        lookups += 1
        if tombstones.contains(handle) { return .tombstone }
        if lost.contains(handle) { return .lost }
        guard let record = records[handle] else { return .nothing }
        let buffer = try Self.open(record, handle) { shapes[$0] }
        return .found(buffer.reader, owner: buffer)
    }

    package func shape(_ number: UInt64) throws -> Shape? { shapes[number] }

    package func handle(of identifier: String) -> Handle? { index[Identifier(identifier)] }

    package func newHandle() -> Handle {
        lastHandle += 1
        return Handle(lastHandle)
    }

    /// Returns the number of `shape`, and adds the shape if it is new.
    package func number(of shape: Shape) -> UInt64 {
        if let known = shapes.first(where: { $0.value == shape }) { return known.key }
        let number = UInt64(shapes.count + 1)
        shapes[number] = shape
        return number
    }
}

extension DictionaryRecordSource {
    /// Flattens and stores `model`.
    package func store(
        _ model: some NormalizedModel, policy: TreePolicy = .replace,
        limits: TreeLimits = TreeLimits()
    ) throws {
        try store(Self.flatten(model, policy: policy, limits: limits))
    }

    package static func flatten(
        _ model: some NormalizedModel, policy: TreePolicy = .replace,
        limits: TreeLimits = TreeLimits()
    ) throws -> FlattenedTree {
        let flattener = Flattener(limits: limits)
        flattener.policy = policy
        _ = try flattener.value { try model.encodeValue(into: $0) }
        return flattener.finish()
    }

    /// Gives out handles in pre-order, merges every node into its record, and writes the records.
    package func store(_ tree: FlattenedTree) throws {
        let handles = tree.nodes.map { node in
            let handle = handle(of: node.identifier) ?? newHandle()
            index[Identifier(node.identifier)] = handle
            return handle
        }
        for (index, handle) in handles.enumerated() {
            let merge = try RecordMerge(
                index, of: tree, into: parsedRecord(handle), handles: handles)
            put(merge, identifier: tree.nodes[index].identifier, handle: handle)
        }
    }

    private func put(_ merge: RecordMerge, identifier: String, handle: Handle) {
        lost.remove(handle)
        let shape = RecordLayout.ShapeReference.number(number(of: merge.shape), merge.shape)
        let record = RecordLayout.build(
            handle: handle, nameSpace: .node, shape: shape, children: merge.children,
            identifier: identifier, values: Array(merge.values))
        records[handle] = Self.seal(record, handle, shape)
    }

    /// Returns a record as a block of its own, followed by its check.
    package static func seal(
        _ record: [UInt8], _ handle: Handle, _ shape: RecordLayout.ShapeReference
    ) -> [UInt8] {
        let buffer = RecordBuffer(record)
        var writer = ByteWriter()
        let sealed = BlockRecord(handle: handle, bytes: buffer.reader, shape: BlockShape(shape))
        withExtendedLifetime(buffer) { RecordBlock.write([sealed], to: &writer) }
        writer.append(integer: writer.check(seed: RecordLayout.seed(handle: handle)))
        return writer.bytes
    }

    /// Returns the bytes of the record in a sealed block, which it verifies.
    package static func open(
        _ sealed: [UInt8], _ handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws -> RecordBuffer {
        guard sealed.count > RecordLayout.checkSize else { throw FormatError.truncated }
        let check = try ByteReader.reading(Array(sealed.suffix(RecordLayout.checkSize))) {
            try $0.integer(UInt64.self)
        }
        let block = try RecordBlock(
            RecordBuffer(Array(sealed.dropLast(RecordLayout.checkSize))), first: handle,
            check: check, shapes: shapes)
        guard block.count == 1 else { throw FormatError.malformed("several records") }
        let record = try block.record(at: 0)
        return withExtendedLifetime(block) { RecordBuffer(record, 0..<record.end) }
    }

    /// Parses the record in a sealed block.
    package static func parse(
        _ sealed: [UInt8], _ handle: Handle, shapes: (UInt64) throws -> Shape?
    ) throws -> Record {
        let buffer = try open(sealed, handle, shapes: shapes)
        return try withExtendedLifetime(buffer) {
            try Record(reading: buffer.reader, handle: handle, shapes: shapes)
        }
    }

    /// Returns the parsed record of `handle`; nil when it is damaged, deleted or not there.
    package func parsedRecord(_ handle: Handle) throws -> Record? {
        guard !lost.contains(handle), !tombstones.contains(handle), let bytes = records[handle]
        else { return nil }
        return try Self.parse(bytes, handle) { shapes[$0] }
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

extension DictionaryRecordSource {
    /// Reads the tree under `identifier`.
    package func read<Model: NormalizedModel>(
        _ identifier: String, as type: Model.Type = Model.self, limits: TreeLimits = TreeLimits()
    ) -> Result<Model, MissReason> {
        read(identifier, as: type, in: TreeReader(source: self, limits: limits))
    }

    /// Reads the tree under `identifier` through a reader that the caller can examine afterwards.
    package func read<Model: NormalizedModel>(
        _ identifier: String, as type: Model.Type, in treeReader: TreeReader
    ) -> Result<Model, MissReason> {
        guard let handle = handle(of: identifier) else { return .failure(.notFound) }
        return treeReader.read(identifier) {
            try treeReader.entry(handle, identifier: identifier) {
                try Model.decodeValue(from: &$0)
            }
        }
    }

    /// Reads the tree of a kind under `identifier`.
    package func read(
        _ identifier: String, as kind: TreeKind, limits: TreeLimits = TreeLimits()
    ) -> Result<TreeModel, MissReason> {
        switch kind {
        case .node: read(identifier, as: TypedTree<TreeTypes.Node>.self, limits: limits).map(\.tree)
        case .summary:
            read(identifier, as: TypedTree<TreeTypes.Summary>.self, limits: limits).map(\.tree)
        case .owned:
            read(identifier, as: TypedTree<TreeTypes.Owned>.self, limits: limits).map(\.tree)
        case .framed:
            read(identifier, as: TypedTree<TreeTypes.Framed>.self, limits: limits).map(\.tree)
        case .caption:
            read(identifier, as: TypedTree<TreeTypes.Caption>.self, limits: limits).map(\.tree)
        case .note: read(identifier, as: TypedTree<TreeTypes.Note>.self, limits: limits).map(\.tree)
        }
    }
}
