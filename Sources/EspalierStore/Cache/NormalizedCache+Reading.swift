public import EspalierRecords

// Each read comes in two forms: one that suspends, and one that blocks the calling thread. A read
// costs one transaction and one look-up and decoding per node; nothing is locked while models are
// made.
extension NormalizedCache {
    /// The tree of the node `identifier`; nil for a miss.
    public func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> Model? {
        readOutcome(type, identifier, consistency: consistency).value
    }

    /// The tree of the node `identifier`; nil for a miss.
    public func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) async -> Model? {
        await readOutcome(type, identifier, consistency: consistency).value
    }

    /// The same with the reason of a miss.
    public func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        outcome(.node(type, identifier), consistency) { try $0.node(type, identifier) }
    }

    /// The same with the reason of a miss.
    public func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<Model> {
        await outcome(.node(type, identifier), consistency) { try $0.node(type, identifier) }
    }

    /// What was set under `key` with `setModel(_:forKey:)`; else the node whose identifier `key`
    /// is.
    public func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) -> ReadOutcome<Model> {
        outcome(.key(type, key), consistency) { try $0.model(type, forKey: key) }
    }

    /// What was set under `key` with `setModel(_:forKey:)`; else the node whose identifier `key`
    /// is.
    public func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<Model> {
        await outcome(.key(type, key), consistency) { try $0.model(type, forKey: key) }
    }

    /// The collection under `key`. Elements whose record was deleted are left out; any other gap is
    /// a miss of the whole.
    public func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) -> ReadOutcome<[Model]> {
        outcome(.collection(type, key), consistency) { try $0.collection(type, forKey: key) }
    }

    /// The collection under `key`. Elements whose record was deleted are left out; any other gap is
    /// a miss of the whole.
    public func collectionOutcome<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) async -> ReadOutcome<[Model]> {
        await outcome(.collection(type, key), consistency) { try $0.collection(type, forKey: key) }
    }

    /// The collection under `key`; nil for a miss.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) -> [Model]? {
        collectionOutcome(of: type, forKey: key, consistency: consistency).value
    }

    /// The collection under `key`; nil for a miss.
    public func collection<Model: IdentifiedModel>(
        of type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest
    ) async -> [Model]? {
        await collectionOutcome(of: type, forKey: key, consistency: consistency).value
    }

    func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access = .touch,
        _ body: (SnapshotReader) throws -> ReadOutcome<Value>
    ) -> ReadOutcome<Value> {
        guard !isClosed else { return .miss(.unavailable(detail: CacheError.closed.message)) }
        return engine.read(target, consistency, access, body)
    }

    func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access = .touch,
        _ body: @escaping @Sendable (SnapshotReader) throws -> ReadOutcome<Value>
    ) async -> ReadOutcome<Value> {
        await withCheckedContinuation { continuation in
            outcome(target, consistency, access, body) { continuation.resume(returning: $0) }
        }
    }

    func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access = .touch,
        _ body: @escaping @Sendable (SnapshotReader) throws -> ReadOutcome<Value>,
        completion: @escaping @Sendable (ReadOutcome<Value>) -> Void
    ) {
        guard !isClosed else {
            return completion(.miss(.unavailable(detail: CacheError.closed.message)))
        }
        engine.read(target, consistency, access, body, completion: completion)
    }
}
