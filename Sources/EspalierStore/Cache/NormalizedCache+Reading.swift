import EspalierModels
public import EspalierRecords

// Each read comes in two forms: one that suspends, and one that blocks the calling thread.
//
// A read costs one transaction, and one look-up and one decoding per node. No lock is held while
// models are made.
//
// The form that suspends answers what is in memory at once, on the caller's actor. It leaves the
// actor to read records: a tree of up to 128 nodes on a thread of Swift's pool if it has nothing to
// wait for, and others on a thread of the cache. If its task is cancelled, it returns at once with
// the miss `cancelled`, and the read ends before its next record.
extension NormalizedCache {
    // MARK: - Nodes

    /// Reads the tree of the node `identifier`. Blocks the calling thread.
    ///
    /// ```swift
    /// let message = cache.read(Message.self, "Message:34")
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it; nil for a miss.
    /// - Complexity: O(*n*) in the records of the tree.
    public func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> Model? {
        // Two functions, because looking up the metadata of the types of one that misses takes
        // longer than a read from memory.
        if let known = memoryHit(
            .node(type, identifier).accepting(freshness), as: Model.self, consistency, access)
        {
            return known.value(as: Model.self)
        }
        return decoded(.node(type, identifier).accepting(freshness), consistency, access) {
            try $0.node(type, identifier, into: &$1)
        }
    }

    /// Reads the tree of the node `identifier`: at once if it is in memory, on another thread if
    /// not.
    ///
    /// A read from memory does not suspend, so a view that reads on the main actor has its model in
    /// the same frame.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it; nil for a miss.
    public nonisolated(nonsending) func read<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> Model? {
        if !Task.isCancelled,
            let known = memoryHit(
                .node(type, identifier).accepting(freshness), as: Model.self, consistency, access)
        {
            return known.value(as: Model.self)
        }
        return await decoded(.node(type, identifier).accepting(freshness), consistency, access) {
            try $0.node(type, identifier, into: &$1)
        }
    }

    /// Reads the tree of the node `identifier` and says why, if it misses. Blocks the calling
    /// thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> ReadOutcome<Model> {
        outcome(.node(type, identifier).accepting(freshness).dated, consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).node(type, identifier, into: &$1)
        }
    }

    /// Reads the tree of the node `identifier` and says why, if it misses: at once if it is in
    /// memory, on another thread if not.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public nonisolated(nonsending) func readOutcome<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<Model> {
        await outcome(.node(type, identifier).accepting(freshness).dated, consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).node(type, identifier, into: &$1)
        }
    }

    /// Reads the tree of the node with an `id`. Blocks the calling thread.
    ///
    /// ```swift
    /// let ada = cache.read(Person.self, id: 1)  // the node Person:1
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - id: The node's `id`, from which its identifier follows.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it; nil for a miss.
    /// - Complexity: O(*n*) in the records of the tree.
    public func read<Model: NodeModel>(
        _ type: Model.Type, id: Model.NodeID, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> Model? {
        read(
            type, type.modelIdentifier(id: id), consistency: consistency, access: access,
            accepting: freshness)
    }

    /// Reads the tree of the node with an `id`: at once if it is in memory, on another thread if
    /// not.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - id: The node's `id`, from which its identifier follows.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it; nil for a miss.
    public nonisolated(nonsending) func read<Model: NodeModel>(
        _ type: Model.Type, id: Model.NodeID, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> Model? {
        await read(
            type, type.modelIdentifier(id: id), consistency: consistency, access: access,
            accepting: freshness)
    }

    /// Reads the tree of the node with an `id` and says why, if it misses. Blocks the calling
    /// thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - id: The node's `id`, from which its identifier follows.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    /// - Complexity: O(*n*) in the records of the tree.
    public func readOutcome<Model: NodeModel>(
        _ type: Model.Type, id: Model.NodeID, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> ReadOutcome<Model> {
        readOutcome(
            type, type.modelIdentifier(id: id), consistency: consistency, access: access,
            accepting: freshness)
    }

    /// Reads the tree of the node with an `id` and says why, if it misses: at once if it is in
    /// memory, on another thread if not.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - id: The node's `id`, from which its identifier follows.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public nonisolated(nonsending) func readOutcome<Model: NodeModel>(
        _ type: Model.Type, id: Model.NodeID, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<Model> {
        await readOutcome(
            type, type.modelIdentifier(id: id), consistency: consistency, access: access,
            accepting: freshness)
    }

    /// Returns the tree of the node `identifier` if memory has it, as `read` would.
    package func memoryHit<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String
    ) -> MemoryHit? {
        memoryHit(.node(type, identifier), as: type, .latest, .touch)
    }

    // MARK: - Partial trees

    /// Reads what the cache has of the tree of the node `identifier`, and which fields it lacks.
    /// Blocks the calling thread.
    ///
    /// A model that lacks a required field is left out: of an optional, an array or a dictionary.
    /// So a screen can show the rest, and fetch what is missing.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    /// - Returns: The model, and all missing fields of all records.
    /// - Complexity: As that of `read` for a complete tree. Three times as much for an incomplete
    ///   one, and a further look-up for each missing field.
    public func readPartial<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch
    ) -> PartialRead<Model> {
        PartialRead(
            outcome(.node(type, identifier), consistency, access) {
                try $0.partialNode(type, identifier, into: &$1)
            })
    }

    /// Reads what the cache has of the tree of the node `identifier` on another thread, and which
    /// fields it lacks.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the node the last to be evicted.
    /// - Returns: The model, and all missing fields of all records.
    public nonisolated(nonsending) func readPartial<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, consistency: Consistency = .latest,
        access: Access = .touch
    ) async -> PartialRead<Model> {
        PartialRead(
            await outcome(.node(type, identifier), consistency, access) {
                try $0.partialNode(type, identifier, into: &$1)
            })
    }

    // MARK: - Keys

    /// Reads the model that was set under `key` with ``setModel(_:forKey:policy:maxAge:)``, or else
    /// the node whose identifier `key` is. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - key: The key, or the identifier of a node.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the entry the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) -> ReadOutcome<Model> {
        outcome(.key(type, key).accepting(freshness).dated, consistency, access) { [wallClock] in
            try $0.dated(by: wallClock).model(type, forKey: key, into: &$1)
        }
    }

    /// Reads the model under `key`, or else the node whose identifier `key` is: at once if it is in
    /// memory, on another thread if not.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - key: The key, or the identifier of a node.
    ///   - consistency: Whether the read waits for the writes submitted before it.
    ///   - access: Whether the read makes the entry the last to be evicted.
    ///   - freshness: Whether the read accepts records that have expired.
    /// - Returns: The model with everything below it, or the reason of the miss.
    public nonisolated(nonsending) func modelOutcome<Model: IdentifiedModel>(
        _ type: Model.Type = Model.self, forKey key: String, consistency: Consistency = .latest,
        access: Access = .touch, accepting freshness: Freshness = .fresh
    ) async -> ReadOutcome<Model> {
        await outcome(.key(type, key).accepting(freshness).dated, consistency, access) {
            [wallClock] in
            try $0.dated(by: wallClock).model(type, forKey: key, into: &$1)
        }
    }

    // MARK: - Implementation

    /// The clock by which hits tell their age.
    var wallClock: WallClock { engine.generations.clock.wallClock }

    /// Returns the tree of a read if memory has it unchanged.
    func memoryHit(
        _ target: ReadTarget, as value: Any.Type, _ consistency: Consistency, _ access: Access
    ) -> MemoryHit? {
        isClosed ? nil : engine.memoryHit(target.whole, as: value, consistency, access)
    }

    /// Reads what is not in memory, as a whole. `body` decodes it into a variable that is nil
    /// before, and after a miss.
    @inline(never)
    func decoded<Value: Sendable>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: ReadBody<Value>
    ) -> Value? {
        guard !isClosed else { return nil }
        var value: Value?
        let finding = engine.read(target.whole, as: Value.self, consistency, access) {
            try body($0, &value)
        }
        return engine.value(of: finding, value)
    }

    func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: ReadBody<Value>
    ) -> ReadOutcome<Value> {
        guard !isClosed else { return .miss(.unavailable(detail: CacheError.closed.message)) }
        if let known = engine.memoryHit(target, as: Value.self, consistency, access) {
            return engine.outcome(of: known)
        }
        var value: Value?
        let finding = engine.read(target, as: Value.self, consistency, access) {
            try body($0, &value)
        }
        return engine.outcome(of: finding, value)
    }

    nonisolated(nonsending) func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: @escaping SendableReadBody<Value>
    ) async -> ReadOutcome<Value> {
        guard !Task.isCancelled else { return .miss(.cancelled) }
        if !isClosed,
            let known = engine.memoryHit(target, as: Value.self, consistency, access)
        {
            return engine.outcome(of: known)
        }
        return await outcomeOfRecords(target, consistency, access, body)
    }

    /// Reads records: on this thread if the tree is small.
    @concurrent
    private func outcomeOfRecords<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: @escaping SendableReadBody<Value>
    ) async -> ReadOutcome<Value> {
        if !isClosed {
            var value: Value?
            let finding = engine.readSmall(target, as: Value.self, consistency, access) {
                try body($0, &value)
            }
            if let finding { return engine.outcome(of: finding, value) }
        }
        return await outcomeOnReader(target, consistency, access, body)
    }

    /// Reads the records of a whole tree: on this thread if the tree is small.
    @inline(never)
    @concurrent
    func decoded<Value: Sendable>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: @escaping SendableReadBody<Value>
    ) async -> Value? {
        guard !Task.isCancelled else { return nil }
        if !isClosed {
            var value: Value?
            let finding = engine.readSmall(target.whole, as: Value.self, consistency, access) {
                try body($0, &value)
            }
            if let finding { return engine.value(of: finding, value) }
        }
        return await outcomeOnReader(target.whole, consistency, access, body).value
    }

    private func outcomeOnReader<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: @escaping SendableReadBody<Value>
    ) async -> ReadOutcome<Value> {
        let cancellation = ReadCancellation()
        let end = Resumption<ReadOutcome<Value>>()
        return await withTaskCancellationHandler {
            outcome(target, consistency, access, cancelledBy: cancellation, body) { end.resume($0) }
            return await end.value
        } onCancel: {
            cancellation.set()
            // The read may still wait for its turn.
            end.resume(.miss(.cancelled))
        }
    }

    /// Reads on a thread of the cache's own, and calls `completion` there.
    func outcome<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        cancelledBy cancellation: ReadCancellation? = nil,
        _ body: @escaping SendableReadBody<Value>,
        completion: @escaping @Sendable (ReadOutcome<Value>) -> Void
    ) {
        guard !isClosed else {
            return engine.runOnAnotherThread {
                completion(.miss(.unavailable(detail: CacheError.closed.message)))
            }
        }
        engine.read(
            target, consistency, access, cancelledBy: cancellation, body, completion: completion)
    }
}
