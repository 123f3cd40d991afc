public import EspalierModels
public import EspalierRecords

/// The cache as the store behind data providers.
///
/// Completions run on a thread of the cache's own, exactly once. A miss completes with neither
/// model nor error, unless the model's type can't be stored or the cache can't be read. Reads see
/// the writes submitted before them. The cache does not use contexts.
extension NormalizedCache: CacheDelegate {
    public func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return engine.runOnAnotherThread { completion(nil, nil) } }
        outcome(
            .key(T.self, cacheKey).whole, .latest, .touch,
            { try $0.model(T.self, forKey: cacheKey, into: &$1) }
        ) {
            Self.complete($0, completion)
        }
    }

    public func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return engine.runOnAnotherThread { completion(nil, nil) } }
        outcome(
            .collection(T.self, cacheKey).whole, .latest, .touch,
            { try $0.collection(T.self, forKey: cacheKey, into: &$1) }
        ) {
            Self.complete($0, completion)
        }
    }

    private static func complete<Value>(
        _ outcome: ReadOutcome<Value>, _ completion: (Value?, (any Error)?) -> Void
    ) {
        switch outcome {
        case .hit(let hit): completion(hit.value, nil)
        // Misses that fetching anew would not cure are errors.
        case .miss(let reason):
            switch reason {
            case .notStorable, .unavailable: completion(nil, reason)
            default: completion(nil, nil)
            }
        }
    }

    public func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        setModel(model, forKey: cacheKey)
    }

    public func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, context: Any?
    ) {
        _ = setCollection(collection, forKey: cacheKey, Self.policy(nil, of: collection))
    }

    /// Returns the policy of a write of elements. Their type is that of the first one.
    private static func policy(
        _ policy: WritePolicy?, of elements: [any SimpleModel]
    ) -> TreePolicy {
        TreePolicy(policy, root: elements.first.map { type(of: $0).writePolicy } ?? .replace)
    }

    public func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        let entries = Self.entries(of: model, cacheKey)
        if !entries.isEmpty { _ = delete(entries) }
    }

    private static func entries(of model: any SimpleModel, _ cacheKey: String?)
        -> [(NameSpace, String)]
    {
        var entries: [(NameSpace, String)] = []
        if let identifier = model.modelIdentifier, !identifier.isEmpty {
            entries.append((.node, identifier))
        }
        if let cacheKey, !cacheKey.isEmpty { entries.append((.key, cacheKey)) }
        return entries
    }
}

/// The cache as the store behind data providers of collections.
///
/// A full queue never drops an edit, unlike a whole collection that is set, because the edits after
/// it would be out of date.
///
/// Completions run when the edit is committed or has failed, in no particular order, on a thread
/// that may wait for the cache. They never run on the caller's thread, so that they may take a lock
/// that the caller holds during the call. The cache does not use contexts.
extension NormalizedCache: CollectionCacheDelegate {
    /// Submits `edit` of the collection under `cacheKey`.
    ///
    /// Costs the edit, and one look-up in the index for each neighbour. An edit that is out of date
    /// makes the writes committed together with it a commit each, as every write that fails does.
    /// An edit that meets a damaged part of the collection is out of date.
    public func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours,
        context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        editCollection(
            edit, forKey: cacheKey, expecting: neighbours, options: CacheWriteOptions(),
            completion: completion)
    }
}

/// The cache as the one truth of the screens that follow it.
extension NormalizedCache: SharedCacheDelegate {
    public func setModels(
        _ models: [any SimpleModel], options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        guard models.allSatisfy({ $0.modelIdentifier?.isEmpty == false }) else {
            return engine.runOnAnotherThread { completion(CacheError.noIdentifier) }
        }
        let policy = Self.policy(options.policy, of: models)
        let ticket = submit { flattener in
            flattener.policy = policy
            let roots = try models.map { try Self.root(of: $0, in: flattener) }
            return .nodes(flattener.finish(), roots: roots, source: options.source)
        }
        finish(ticket, completion)
    }

    private static func root(of model: some SimpleModel, in flattener: Flattener) throws -> Int {
        try flattener.root(of: model)
    }

    public func setModel(
        _ model: any SimpleModel, forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        finish(store(model, forKey: cacheKey, options.policy, source: options.source), completion)
    }

    public func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        if options.keepsModels, let first = collection.first {
            return setCollectionOnly(
                collection, like: first, forKey: cacheKey, options, completion)
        }
        let ticket = setCollection(
            collection, forKey: cacheKey, Self.policy(options.policy, of: collection),
            source: options.source)
        finish(ticket, completion)
    }

    /// Stores a collection of the nodes that the cache has, and of the given models where the cache
    /// can't read them. No other write comes between the reading and the writing.
    ///
    /// - Complexity: O(*n*) in the records of all elements, in the commit.
    private func setCollectionOnly<T: SimpleModel>(
        _ collection: [any SimpleModel], like first: T, forKey key: String,
        _ options: CacheWriteOptions, _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let elements = collection.compactMap { $0 as? T }
        guard elements.count == collection.count else {
            var options = options
            options.keepsModels = false
            return setCollection(
                collection, forKey: key, options: options, completion: completion)
        }
        let (ticket, outcome) = submit { transaction in
            try transaction.setCollection(
                keepingNodesOf: elements, forKey: key,
                policy: TreePolicy(options.policy, root: T.writePolicy), source: options.source)
        }
        finish(ticket) { error in completion(error.map { outcome.reason(for: $0) }) }
    }

    public func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let ticket = self.edit(
            cacheKey, edit.map { ModelStorage.encoding($0) },
            Self.policy(options.policy, of: edit.elements), expecting: neighbours,
            source: options.source)
        finish(ticket, completion)
    }

    public func moveElement(
        from source: Int, to destination: Int, inCollection cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let ticket = move(
            from: source, to: destination, inCollection: cacheKey, expecting: neighbours,
            source: options.source)
        finish(ticket, completion)
    }

    /// Calls `completion` when an edit has ended, on a thread that may wait for the cache.
    private func finish(
        _ ticket: WriteTicket, _ completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        ticket.whenDone { [engine] result in
            let outcome = CollectionEditOutcome(result)
            engine.runOnAnotherThread { completion(outcome) }
        }
    }

    public func deleteModel(
        _ model: any SimpleModel, forKey cacheKey: String?,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let entries = Self.entries(of: model, cacheKey)
        guard !entries.isEmpty else { return engine.runOnAnotherThread { completion(nil) } }
        finish(delete(entries), completion)
    }

    public func readModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        outcome(
            .key(type, cacheKey).whole, .latest, .touch,
            { try $0.model(type, forKey: cacheKey, into: &$1) }
        ) {
            completion($0.result)
        }
    }

    public func readCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<[T], MissReason>) -> Void
    ) {
        outcome(
            .collection(type, cacheKey).whole, .latest, .touch,
            { try $0.collection(type, forKey: cacheKey, into: &$1) }
        ) {
            completion($0.result)
        }
    }

    public func readStaleModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<T>, MissReason>) -> Void
    ) {
        outcome(
            .key(type, cacheKey).whole.accepting(.stale), .latest, .touch,
            { try $0.model(type, forKey: cacheKey, into: &$1) }
        ) {
            completion($0.staleResult)
        }
    }

    public func readStaleCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<[T]>, MissReason>) -> Void
    ) {
        outcome(
            .collection(type, cacheKey).whole.accepting(.stale), .latest, .touch,
            { try $0.collection(type, forKey: cacheKey, into: &$1) }
        ) {
            completion($0.staleResult)
        }
    }

    public func currentModel<T: SimpleModel>(
        _ type: T.Type, identifier: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        outcome(
            .node(type, identifier).whole.accepting(.stale), .latest, .touch,
            { try $0.node(type, identifier, into: &$1) }
        ) {
            completion($0.result)
        }
    }

    public func updateModel<T: SimpleModel>(
        _ type: T.Type, identifier: String, _ change: @escaping @Sendable (T) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        // Submitted before this returns: later calls take effect later.
        let (ticket, outcome) = submitUpdate(type, identifier, change)
        finish(ticket) { error in
            if let error {
                completion(.failure(outcome.reason(for: error)))
            } else {
                completion(Result { try outcome.value() })
            }
        }
    }

    public func followChanges(
        notBy source: Int, _ handler: @escaping @Sendable (CacheChanges) -> Void
    ) -> CacheObservation {
        let (changeSets, subscription) = engine.changeSets.subscription(until: closing)
        let task = Task.detached {
            for await changeSet in changeSets {
                let changes = CacheChanges(changeSet, notBy: source)
                if !changes.isEmpty { handler(changes) }
            }
        }
        return CacheObservation {
            task.cancel()
        } onFlush: {
            await subscription.flush()
        }
    }

    /// Calls `completion` when a write has ended, on a thread that may wait for the cache.
    private func finish(
        _ ticket: WriteTicket, _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        ticket.whenDone { [engine] result in
            engine.runOnAnotherThread {
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error)
                }
            }
        }
    }
}

extension CacheChanges {
    fileprivate init(_ changeSet: ChangeSet, notBy source: Int) {
        let written = changeSet.written(notBy: source)
        self.init(
            written: written.nodes, deleted: changeSet.deleted, keys: written.keys,
            isReset: changeSet.isReset, isEmptied: changeSet.isEmptied)
    }
}

extension CollectionEditOutcome {
    fileprivate init(_ result: Result<Void, CacheError>) {
        self =
            switch result {
            case .success: .applied
            case .failure(let error): error.code == .outOfDate ? .outOfDate : .failed(error)
            }
    }
}
