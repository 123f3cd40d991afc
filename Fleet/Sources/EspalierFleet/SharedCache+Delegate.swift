public import EspalierModels
public import EspalierRecords
import EspalierSharedRecords
import EspalierStore
import Synchronization

/// The calls of data providers, in the order in which they were made.
///
///     call --> queue --> one task that runs one call after the other
///
/// Calls are never dropped: each completion is called, at the latest when the servers' deadlines
/// have passed for all calls before it. A read does not wait if no call does.
final class OrderedCalls: Sendable {
    private let calls: AsyncStream<@Sendable () async -> Void>.Continuation
    private let pending = Atomic<Int>(0)

    init() {
        let (stream, continuation) = AsyncStream<@Sendable () async -> Void>.makeStream()
        calls = continuation
        Task.detached { for await call in stream { await call() } }
    }

    deinit { calls.finish() }

    /// Runs `body` after all calls before it.
    func add(_ body: @escaping @Sendable () async -> Void) {
        pending.add(1, ordering: .acquiringAndReleasing)
        calls.yield { [weak self] in
            await body()
            self?.pending.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Runs `body` after all calls before it, at once if there are none.
    func addRead(_ body: @escaping @Sendable () async -> Void) {
        guard pending.load(ordering: .acquiring) > 0 else {
            Task.detached { await body() }
            return
        }
        add(body)
    }
}

/// Those who follow the changes of a shared cache: managers of data providers.
final class ChangeObservers: Sendable {
    private struct State {
        var next = 0
        var observers: [Int: (source: Int, handler: @Sendable (CacheChanges) -> Void)] = [:]
    }
    private let state = Mutex(State())

    func add(
        notBy source: Int, _ handler: @escaping @Sendable (CacheChanges) -> Void
    ) -> CacheObservation {
        let number = state.withLock { state in
            state.next += 1
            state.observers[state.next] = (source, handler)
            return state.next
        }
        return CacheObservation { [weak self] in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    /// Tells all observers but those of a source of changes; 0 for all of them.
    func notify(_ names: some Collection<SharedName>, deleted: Set<SharedName>, source: Int) {
        guard !names.isEmpty else { return }
        let nodes = names.filter { $0.kind == .node }
        notify(
            CacheChanges(
                written: nodes.filter { !deleted.contains($0) }.map(\.identifier),
                deleted: nodes.filter(deleted.contains).map(\.identifier),
                keys: names.filter { $0.kind != .node }.map(\.identifier)),
            source: source)
    }

    /// Tells all observers that anything may have changed.
    func notifyReset() { notify(CacheChanges(isReset: true), source: 0) }

    private func notify(_ changes: CacheChanges, source: Int) {
        let handlers = state.withLock { state in
            state.observers.values.filter { $0.source == 0 || $0.source != source }.map(\.handler)
        }
        for handler in handlers { handler(changes) }
    }
}

/// The shared cache as the store behind data providers.
///
/// Completions run in tasks, exactly once. A miss completes with neither model nor error, unless
/// the model's type can't be stored or no server answers. Reads see the writes submitted before
/// them. A manager follows what other hosts change. The cache does not use contexts.
extension SharedCache: CacheDelegate {
    public func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return completion(nil, nil) }
        calls.addRead {
            Self.complete(await self.modelOutcome(T.self, forKey: cacheKey), completion)
        }
    }

    public func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return completion(nil, nil) }
        calls.addRead {
            Self.complete(await self.collectionOutcome(of: T.self, forKey: cacheKey), completion)
        }
    }

    private static func complete<Value>(
        _ outcome: ReadOutcome<Value>, _ completion: (Value?, (any Error)?) -> Void
    ) {
        switch outcome {
        case .hit(let hit): completion(hit.value, nil)
        case .miss(let reason):
            switch reason {
            case .notStorable, .unavailable: completion(nil, reason)
            default: completion(nil, nil)
            }
        }
    }

    public func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        setModel(model, forKey: cacheKey, options: CacheWriteOptions()) { _ in }
    }

    public func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, context: Any?
    ) {
        setCollection(collection, forKey: cacheKey, options: CacheWriteOptions()) { _ in }
    }

    public func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        deleteModel(model, forKey: cacheKey) { _ in }
    }
}

extension SharedCache: CollectionCacheDelegate {
    public func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        editCollection(
            edit, forKey: cacheKey, expecting: neighbours, options: CacheWriteOptions(),
            completion: completion)
    }

    /// Waits until the calls before this one have ended. What servers did not take is lost, and the
    /// completion of its call was told.
    public func flush() async throws {
        await withCheckedContinuation { continuation in calls.add { continuation.resume() } }
    }
}

extension SharedCache: SharedCacheDelegate {
    public func setModels(
        _ models: [any SimpleModel], options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        submit(options, completion) { try SharedWrite(setting: models, policy: options.policy) }
    }

    public func setModel(
        _ model: any SimpleModel, forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        submit(options, completion) {
            if let identifier = model.modelIdentifier,
                Identifier(identifier) == Identifier(cacheKey)
            {
                return try SharedWrite(setting: [model], policy: options.policy)
            }
            return try SharedWrite(setting: model, forKey: cacheKey, policy: options.policy)
        }
    }

    public func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        submit(options, completion) {
            guard options.keepsModels else {
                return try SharedWrite(
                    .replaceAll(collection), toCollection: cacheKey, policy: options.policy)
            }
            let known = try await self.known(of: collection)
            let models = collection.filter { model in
                model.modelIdentifier.map { !known.deleted.contains(Identifier($0)) } ?? true
            }
            return try SharedWrite(
                replacingAll: models, ofCollection: cacheKey, keeping: known.stored,
                policy: options.policy)
        }
    }

    /// Returns the identifiers of those models that the servers have as whole trees, expired or
    /// not, and of those that were deleted. Does not ask the near cache: its copies may be of
    /// records that servers have evicted.
    private func known(
        of models: [any IdentifiedModel]
    ) async throws -> (stored: Set<Identifier>, deleted: Set<Identifier>) {
        try requireOpen()
        let ages = SharedAges(acceptsExpired: true, second: configuration.milliseconds() / 1_000)
        let tree = SharedTree(
            shapes: servers.shapes, limits: configuration.nearConfiguration.limits)
        let nodes = models.compactMap { model in
            model.modelIdentifier.map { identifier in
                (type: type(of: model), position: tree.position(of: SharedName(.node, identifier)))
            }
        }
        var fetch = TreeFetch(servers, tree) { $0.states(of: nodes, ages: ages) }
        let states = try await fetch.run().result.get()
        func names(_ positions: Set<Int>) -> Set<Identifier> {
            Set(positions.map { Identifier(tree.name(at: $0).identifier) })
        }
        return (names(states.readable), names(states.deleted))
    }

    public func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        let change = edit.map { $0 as any IdentifiedModel }
        submit(.edit(change, expecting: neighbours), of: cacheKey, options, completion)
    }

    public func moveElement(
        from source: Int, to destination: Int, inCollection cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        submit(
            .move(from: source, to: destination, expecting: neighbours), of: cacheKey, options,
            completion)
    }

    /// Makes and runs a change of a collection after all calls before it.
    private func submit(
        _ change: SharedCollectionChange, of key: String, _ options: CacheWriteOptions,
        _ completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        submit(options) { error in
            guard let error else { return completion(.applied) }
            switch error {
            case SharedWriteError.outOfDate, SharedWriteError.outOfRange,
                SharedWriteError.noCollection:
                completion(.outOfDate)
            default: completion(.failed(error))
            }
        } _: {
            try SharedWrite(change, toCollection: key, policy: options.policy)
        }
    }

    public func deleteModel(
        _ model: any SimpleModel, forKey cacheKey: String?,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        var names: [SharedName] = []
        if let identifier = model.modelIdentifier, !identifier.isEmpty {
            names.append(SharedName(.node, identifier))
        }
        if let cacheKey, !cacheKey.isEmpty { names.append(SharedName(.key, cacheKey)) }
        guard !names.isEmpty else { return completion(nil) }
        submit(CacheWriteOptions(), completion) { [names] in SharedWrite(deleting: names) }
    }

    /// Makes and runs a write after all calls before it.
    private func submit(
        _ options: CacheWriteOptions, _ completion: @escaping @Sendable ((any Error)?) -> Void,
        _ make: @escaping @Sendable () async throws -> SharedWrite
    ) {
        calls.add {
            do {
                try await self.write(try await make(), source: options.source)
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    public func readModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        calls.addRead { completion(await self.modelOutcome(type, forKey: cacheKey).result) }
    }

    public func readCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<[T], MissReason>) -> Void
    ) {
        calls.addRead {
            completion(await self.collectionOutcome(of: type, forKey: cacheKey).result)
        }
    }

    public func readStaleModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<T>, MissReason>) -> Void
    ) {
        calls.addRead {
            let outcome = await self.modelOutcome(type, forKey: cacheKey, accepting: .stale)
            completion(outcome.staleResult)
        }
    }

    public func readStaleCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<[T]>, MissReason>) -> Void
    ) {
        calls.addRead {
            let outcome = await self.collectionOutcome(
                of: type, forKey: cacheKey, accepting: .stale)
            completion(outcome.staleResult)
        }
    }

    public func currentModel<T: SimpleModel>(
        _ type: T.Type, identifier: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        calls.addRead {
            completion(await self.readOutcome(type, identifier, accepting: .stale).result)
        }
    }

    public func updateModel<T: SimpleModel>(
        _ type: T.Type, identifier: String, _ change: @escaping @Sendable (T) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        calls.add {
            do {
                completion(.success(try await self.update(type, identifier, change)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    public func followChanges(
        notBy source: Int, _ handler: @escaping @Sendable (CacheChanges) -> Void
    ) -> CacheObservation {
        observers.add(notBy: source, handler)
    }
}
