import EspalierModels
public import EspalierRecords

// Writes return at once. A thread of the cache's flattens the model and the writer's thread commits
// it. Writes take effect in the order of the calls. A ticket succeeds only if everything that the
// write was given is stored, or was overwritten by a write submitted later. A full queue drops the
// oldest writes: their tickets fail, and the cache counts and reports each. A write that fails does
// not affect others.
extension NormalizedCache {
    /// Stores a tree: one record per node, from `model` down.
    ///
    /// ```swift
    /// try await cache.set(message).committed
    /// ```
    ///
    /// Models below `model` that have no identifier are stored inside of the record that contains
    /// them. A write that changes nothing writes no record.
    ///
    /// - Parameters:
    ///   - model: The root of the tree. It must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Returns: A ticket. It fails with `noIdentifier` when the model has no identifier, with
    ///   `notFlattened` or `treeTooLarge` when the tree can't be stored, with `full`, `pagesHeld`
    ///   or `pinnedFull` when it does not fit, and with `dropped` when the queue was full.
    /// - Complexity: O(1) for the caller; O(*n*) in the records of the tree on other threads.
    @discardableResult
    public func set<Model: IdentifiedModel>(
        _ model: Model, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) -> WriteTicket {
        guard let identifier = model.modelIdentifier, !identifier.isEmpty else {
            return reject(.noIdentifier(of: Model.self))
        }
        return store(
            model, identifier, TreePolicy(policy, root: Model.writePolicy), maxAge, source: 0)
    }

    /// Stores several trees in one write: all of them or none.
    ///
    /// When several trees contain the same node, the first of them determines its record, unless
    /// the write merges: then the record gets every field that any of them has.
    ///
    /// - Parameters:
    ///   - models: The roots of the trees. Each must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Returns: A ticket that fails for the same reasons as that of `set(_:policy:maxAge:)`.
    @discardableResult
    public func set<Model: IdentifiedModel>(
        _ models: [Model], policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) -> WriteTicket {
        guard models.allSatisfy({ $0.modelIdentifier?.isEmpty == false }) else {
            return reject(.noIdentifier(of: Model.self))
        }
        let policy = TreePolicy(policy, root: Model.writePolicy)
        return submit { flattener in
            flattener.policy = policy
            flattener.maxAge = maxAge
            let roots = try models.map { try flattener.root(of: $0) }
            return .nodes(flattener.finish(), roots: roots)
        }
    }

    /// Stores a tree under a key of the caller's choice.
    ///
    /// If `key` is the model's identifier, this is `set(_:policy:maxAge:)`. Otherwise the key's
    /// entry refers to the model's node, or contains the model when the model has no identifier.
    ///
    /// - Parameters:
    ///   - model: The root of the tree.
    ///   - key: The key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare;
    ///     nil: the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Returns: A ticket. It fails with `noIdentifier` when `key` is empty, and otherwise for the
    ///   same reasons as that of `set(_:policy:maxAge:)`.
    @discardableResult
    public func setModel<Model: IdentifiedModel>(
        _ model: Model, forKey key: String, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) -> WriteTicket {
        store(model, forKey: key, policy, maxAge, source: 0)
    }

    /// Stores a model under its identifier or another key.
    func store<Model: IdentifiedModel>(
        _ model: Model, forKey key: String, _ policy: WritePolicy?, _ maxAge: Duration? = nil,
        source: Int
    ) -> WriteTicket {
        guard !key.isEmpty else { return reject(.noIdentifier) }
        let policy = TreePolicy(policy, root: Model.writePolicy)
        if let identifier = model.modelIdentifier, Identifier(identifier) == Identifier(key) {
            return store(model, identifier, policy, maxAge, source: source)
        }
        return submit(
            [model], .key, key, policy, maxAge, source: source,
            coalescingKey: coalescingKey(.key, key, model, policy)
        ) { flattener in
            let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
            return .key(key, value, flattener.finish(), source: source)
        }
    }

    private func store(
        _ model: some IdentifiedModel, _ identifier: String, _ policy: TreePolicy,
        _ maxAge: Duration?, source: Int
    ) -> WriteTicket {
        submit(
            [model], .node, identifier, policy, maxAge, source: source,
            coalescingKey: coalescingKey(.node, identifier, model, policy)
        ) { flattener in
            let root = try flattener.root(of: model)
            return .nodes(flattener.finish(), roots: [root], source: source)
        }
    }

    /// Submits the write of a model or of a list, which memory may keep.
    ///
    /// Memory does not keep it while 16 writes wait: such a write holds its models until its
    /// commit, which would double the memory of the queue. Nor does memory keep a write with an age
    /// of its own, because that write sets the dates of all its records.
    func submit(
        _ models: [any IdentifiedModel], _ nameSpace: NameSpace, _ name: String,
        _ policy: TreePolicy, _ maxAge: Duration?, source: Int,
        coalescingKey: CoalescingKey? = nil,
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) -> WriteTicket {
        let isKeepable = maxAge == nil && engine.queue.pending.count < 16
        let memory = isKeepable ? engine.memory : nil
        return submit(coalescingKey: coalescingKey) { flattener in
            flattener.policy = policy
            flattener.maxAge = maxAge
            return try KeepableWrite.operation(
                of: models, nameSpace, name, policy, source: source, in: memory, flattener, flatten)
        }
    }

    /// Deletes the node `identifier`.
    ///
    /// References to it read as nil, or are left out of arrays. A model that can't exist without
    /// the node counts as deleted, too.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Returns: A ticket. It succeeds when there is no such node.
    @discardableResult
    public func delete(_ identifier: String) -> WriteTicket {
        delete([(.node, identifier)])
    }

    /// Deletes the entry of `key`, not the node to which it refers.
    ///
    /// A key that is the model's own identifier has no entry: use ``delete(_:)`` for the node.
    ///
    /// - Parameter key: The key.
    /// - Returns: A ticket. It succeeds when there is no such key.
    @discardableResult
    public func deleteModel(forKey key: String) -> WriteTicket {
        delete([(.key, key)])
    }

    func delete(_ entries: [(NameSpace, String)]) -> WriteTicket {
        guard entries.allSatisfy({ !$0.1.isEmpty }) else { return reject(.noIdentifier) }
        let names = entries.map { RecordName($0.0, $0.1) }
        return submit(isDroppable: false) { _ in .delete(names) }
    }

    /// Returns the key that this write shares with later writes that may overwrite it; nil if all
    /// nodes merge, because a merge never replaces an earlier write.
    private func coalescingKey(
        _ nameSpace: NameSpace, _ name: String, _ model: some IdentifiedModel, _ policy: TreePolicy
    ) -> CoalescingKey? {
        guard policy != .merge else { return nil }
        return CoalescingKey(
            nameSpace: nameSpace, name: name, projection: model.projectionIdentifier)
    }
}

extension Flattener {
    /// Flattens `model`, which must have an identifier, and returns the index of its node.
    func root<Model: IdentifiedModel>(of model: Model) throws -> Int {
        let value = try self.value { try ModelStorage.encode(model, into: $0) }
        guard let root = value.children.first else {
            throw CacheError.noIdentifier(of: Model.self)
        }
        return root
    }
}
