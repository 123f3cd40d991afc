import EspalierModels
public import EspalierRecords

// Writes return at once. The model is flattened on another thread and committed by the writer's, in
// the order of the calls. A ticket fails with a `CacheError`; the writes around it are not
// affected.
extension NormalizedCache {
    /// Stores a tree: one record per node, from the model down.
    ///
    /// The model must have an identifier, or the ticket fails with `.noIdentifier`; models below it
    /// without one are stored inline. A write that changes nothing writes no record.
    @discardableResult
    public func set<Model: IdentifiedModel>(_ model: Model, policy: WritePolicy = .replace)
        -> WriteTicket
    {
        guard let identifier = model.modelIdentifier, !identifier.isEmpty else {
            return WriteTicket(failed: .noIdentifier(of: Model.self))
        }
        return submit(coalescingKey: coalescingKey(.node, identifier, model, policy)) { flattener in
            let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
            guard let entry = value.children.first else {
                throw CacheError.noIdentifier(of: Model.self)
            }
            return .nodes(flattener.finish(), entries: [entry], policy: policy)
        }
    }

    /// Stores several trees in one write: all of them or none. A node that stands in more than one
    /// of them gets what the first says.
    ///
    /// Every model must have an identifier, or the ticket fails with `.noIdentifier`.
    @discardableResult
    public func set<Model: IdentifiedModel>(_ models: [Model], policy: WritePolicy = .replace)
        -> WriteTicket
    {
        guard models.allSatisfy({ $0.modelIdentifier?.isEmpty == false }) else {
            return WriteTicket(failed: .noIdentifier(of: Model.self))
        }
        return submit { flattener in
            let entries = try models.map { model in
                let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
                guard let entry = value.children.first else {
                    throw CacheError.noIdentifier(of: Model.self)
                }
                return entry
            }
            return .nodes(flattener.finish(), entries: entries, policy: policy)
        }
    }

    /// Stores a tree under a key of the caller's choice. If the key is the model's identifier this
    /// is `set`; otherwise the key refers to the model's node, or holds the model itself when it
    /// has no identifier.
    @discardableResult
    public func setModel<Model: IdentifiedModel>(
        _ model: Model, forKey key: String, policy: WritePolicy = .replace
    ) -> WriteTicket {
        if let identifier = model.modelIdentifier, Identifier(identifier) == Identifier(key) {
            return set(model, policy: policy)
        }
        guard !key.isEmpty else { return WriteTicket(failed: .noIdentifier) }
        return submit(coalescingKey: coalescingKey(.key, key, model, policy)) { flattener in
            let value = try flattener.value { try ModelStorage.encode(model, into: $0) }
            return .key(key, value, flattener.finish(), policy: policy)
        }
    }

    /// Deletes the node `identifier`. References to it read as nil, are left out, or make what
    /// can't be without it count as deleted too. Deleting nothing succeeds.
    @discardableResult
    public func delete(_ identifier: String) -> WriteTicket {
        delete([(.node, identifier)])
    }

    /// Deletes what `key` names: its entry, not the node it refers to. A key that is the model's
    /// own identifier has no entry: `delete` is what deletes the node.
    @discardableResult
    public func deleteModel(forKey key: String) -> WriteTicket {
        delete([(.key, key)])
    }

    func delete(_ entries: [(NameSpace, String)]) -> WriteTicket {
        let entries = entries.map { WriteOperation.Entry(nameSpace: $0.0, identifier: $0.1) }
        guard entries.allSatisfy({ !$0.identifier.isEmpty }) else {
            return WriteTicket(failed: .noIdentifier)
        }
        return submit(isDroppable: false) { _ in .delete(entries) }
    }

    private func coalescingKey(
        _ nameSpace: NameSpace, _ name: String, _ model: some IdentifiedModel, _ policy: WritePolicy
    ) -> CoalescingKey? {
        // Merges add up: an earlier one is not superfluous because a later one follows.
        guard policy == .replace else { return nil }
        return CoalescingKey(
            nameSpace: nameSpace, name: name, projection: model.projectionIdentifier)
    }
}

extension CacheError {
    static let noIdentifier = CacheError(
        .noIdentifier,
        "An identifier or key is missing or empty. Give the model an identifier, or store it under a key."
    )

    /// Names the type, because a property of another name or type than `modelIdentifier: String?`
    /// is none, in silence.
    static func noIdentifier<Model>(of type: Model.Type) -> CacheError {
        CacheError(
            .noIdentifier,
            """
            A model of type \(type) has no identifier. Give it a modelIdentifier of type String? that is not empty, or \
            store it under a key.
            """)
    }
}
