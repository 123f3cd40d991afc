import EspalierLMDB
import EspalierModels
import EspalierRecords

/// Reads entries of one snapshot. Lives as long as its transaction.
final class SnapshotReader {
    private let generation: Generation
    private let snapshot: Snapshot
    private let limits: TreeLimits
    /// Records found on their own path.
    private(set) var onCycle: [Handle] = []
    /// Records that are damaged, as far as the read can tell.
    private(set) var unreadable: [Handle] = []
    /// The entries of hits: what the read touches.
    private(set) var touched: [Handle] = []

    init(generation: Generation, snapshot: Snapshot, limits: TreeLimits) {
        self.generation = generation
        self.snapshot = snapshot
        self.limits = limits
    }

    /// The node `identifier`.
    func node<Model: IdentifiedModel>(_ type: Model.Type, _ identifier: String) throws
        -> ReadOutcome<Model>
    {
        guard let handle = try handle(.node, identifier) else { return nothing(of: type) }
        return try read(identifier, at: handle) { treeReader in
            try ModelStorage.decode(type, entry: handle, identifier: identifier, of: treeReader)
        }
    }

    /// What `key` names: an entry of its own, or the node of that identifier.
    func model<Model: IdentifiedModel>(_ type: Model.Type, forKey key: String) throws
        -> ReadOutcome<Model>
    {
        guard let handle = try handle(.key, key) else { return try node(type, key) }
        return try read(key, at: handle) { treeReader in
            try treeReader.values(entry: handle, identifier: key, in: .key) {
                try ModelStorage.decode(type, from: &$0)
            }
        }
    }

    /// The elements of the collection under `key`.
    func collection<Model: IdentifiedModel>(_ type: Model.Type, forKey key: String) throws
        -> ReadOutcome<[Model]>
    {
        guard let handle = try handle(.collection, key) else { return nothing(of: type) }
        return try read(key, at: handle) { treeReader in
            var elements: [Model] = []
            let segments = try treeReader.children(entry: handle, identifier: key)
            for segment in segments {
                try treeReader.values(entry: segment, identifier: "", in: .segment) { decoder in
                    try decoder.decodeElements(numberedFrom: elements.count) {
                        elements.append(try ModelStorage.decode(type, from: &$0))
                    }
                }
            }
            return elements
        }
    }

    /// A type that can't be read could not be stored either: to say so beats "not found".
    private func nothing<Model, Value>(of type: Model.Type) -> ReadOutcome<Value> {
        .miss(ModelStorage.isReadable(type) ? .notFound : .notStorable(type: "\(type)"))
    }

    private func handle(_ nameSpace: NameSpace, _ identifier: String) throws -> Handle? {
        guard !identifier.isEmpty else { return nil }
        do {
            return try snapshot.handle(generation.keyspaces, nameSpace, identifier)
        } catch is FormatError {
            throw MissReason.damaged(path: identifier, detail: "the index entry is damaged")
        }
    }

    private func read<Value>(
        _ entry: String, at handle: Handle, _ body: (TreeReader) throws -> Value
    ) throws -> ReadOutcome<Value> {
        let treeReader = TreeReader(
            source: try SnapshotSource(snapshot, of: generation, limit: limits.maximumBytes),
            limits: limits)
        let result = treeReader.read(entry) { try body(treeReader) }
        onCycle += treeReader.onCycle
        unreadable += treeReader.unreadable
        switch result {
        case .success(let value):
            touched.append(handle)
            return .hit(
                Hit(value: value, isCut: treeReader.isCut, recordCount: treeReader.recordCount))
        case .failure(let reason): return .miss(reason)
        }
    }
}
