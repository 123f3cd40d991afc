public import EspalierConsistency
public import EspalierModels
public import EspalierRecords
import Synchronization

/// The consistency manager and the cache that data providers share. An app has one.
///
/// ```swift
/// extension DataModelManager {
///     static let shared = DataModelManager(cacheDelegate: cache)
/// }
/// ```
///
/// The functions may be called on any thread. Changes take effect in the order of submission, both
/// in memory and in the cache. The cache is called off the main actor, one call after the other.
///
/// A subclass may override the functions that call the cache, for example to count the calls or to
/// add a context. The functions that save are called while a change is submitted: an override must
/// neither submit another change nor begin a fetch, which would deadlock.
///
/// The names and the behaviour follow LinkedIn's RocketData.
open class DataModelManager: @unchecked Sendable {
    // `@unchecked` because the class is open. Its own fields are immutable, and their types are
    // `Sendable`.
    /// The cache.
    public let cacheDelegate: any CacheDelegate
    /// The manager that keeps the models of the data providers consistent.
    public let consistencyManager = ConsistencyManager()
    let cacheQueue: CacheQueue
    let sharedCollections = SharedCollections()
    /// The policy of all writes; nil if the types of the models decide.
    public let writePolicy: WritePolicy?
    /// Held while a change is submitted to both queues, so that their orders agree.
    let order = Mutex(RecentRoots())
    /// The requests to the network that providers have begun.
    let flights = SingleFlight()
    /// Keeps the screens as the cache is; nil for a manager that does not follow its cache.
    private let follower = Mutex<CacheFollower?>(nil)
    private static let latestSource = Atomic<Int>(0)

    /// Creates a manager with a cache, which is held strongly.
    ///
    /// The manager shows what it is told, as RocketData does: changes that others make in the cache
    /// reach its screens with the next fetch only. `init(cache:writePolicy:)` follows the cache.
    public init(cacheDelegate: any CacheDelegate) {
        self.cacheDelegate = cacheDelegate
        writePolicy = nil
        cacheQueue = CacheQueue(cacheDelegate, source: 0)
    }

    /// Creates a manager whose screens follow a cache: they show what the cache has, whichever
    /// caller wrote it, in this process or in another one.
    ///
    /// ```swift
    /// let manager = DataModelManager(cache: try NormalizedCache(directory: path))
    /// ```
    ///
    /// When a commit of others has changed nodes that a provider shows, the manager reads these
    /// nodes as the types that are shown, and delivers them like updates. When the cache is
    /// emptied, the providers show nothing, and their delegates are called. An eviction changes no
    /// screen.
    ///
    /// A collection follows the cache until one of its edits is not saved, because the write failed
    /// or `shouldCache` was false. Reading the list again would take that edit off the screen. The
    /// next edit that is saved stores all elements, over what others have done meanwhile, and the
    /// collection follows the cache again.
    ///
    /// - Parameters:
    ///   - cache: The cache, which is held strongly.
    ///   - writePolicy: The policy of all writes; nil if the types of the models decide.
    public init(cache: any SharedCacheDelegate, writePolicy: WritePolicy? = nil) {
        cacheDelegate = cache
        self.writePolicy = writePolicy
        let source = Self.latestSource.add(1, ordering: .relaxed).newValue
        cacheQueue = CacheQueue(cache, source: source, policy: writePolicy)
        let follower = CacheFollower(cache, self, source: source)
        self.follower.withLock { $0 = follower }
    }

    var currentFollower: CacheFollower? { follower.withLock { $0 } }

    // MARK: Changing models

    /// Updates `model` in all data providers that show it or a model in it, and saves it under its
    /// identifier.
    ///
    /// - Parameters:
    ///   - model: The new version of the model.
    ///   - updateCache: Whether to save the model.
    ///   - context: A value that is passed to the delegates and to the cache.
    @preconcurrency
    open func updateModel(
        _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        let policy = policy(of: type(of: model), nil)
        if updateCache, merges(model, policy) {
            return saveMerged([model], policy, context: context)
        }
        submit(model, context: context) {
            if updateCache { save(model, context) }
        }
    }

    /// Updates several models in one step: a data provider that shows more than one of them is
    /// notified once. Models that the cache merges are a step of their own, because they are shown
    /// when they are merged.
    ///
    /// - Parameters:
    ///   - models: The new versions of the models. Each is saved under its identifier.
    ///   - updateCache: Whether to save the models.
    ///   - context: A value that is passed to the delegates and to the cache.
    @preconcurrency
    open func updateModels(
        _ models: [any SimpleModel], updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        guard !models.isEmpty else { return }
        let policies = models.map { policy(of: type(of: $0), nil) }
        let merges = zip(models, policies).map { updateCache && self.merges($0, $1) }
        for policy in [TreePolicy.merge, .ofTypes] {
            let merged = models.indices.filter { merges[$0] && policies[$0] == policy }
            if !merged.isEmpty { saveMerged(merged.map { models[$0] }, policy, context: context) }
        }
        let rest = models.indices.filter { !merges[$0] }
        let models = rest.map { models[$0] }
        guard !models.isEmpty else { return }
        let batch = BatchUpdateModel(models: models.map { $0 as any ConsistencyManagerModel })
        submit(batch, roots: models, context: context) {
            if updateCache {
                saveTogether(models, writePolicy == nil ? .ofTypes : .replace, context)
            }
        }
    }

    /// Merges partial models into the cache, and shows the merged models.
    ///
    /// Each model is merged into what the cache has under its identifier: a field that is nil keeps
    /// its value. Providers show the result when it is stored, and not the partial model before.
    /// All models are stored in one step, or none.
    ///
    /// ```swift
    /// // {id 123, image new, recipe} over {id 123, image old, board}
    /// manager.mergeModels([pin])
    /// ```
    ///
    /// A manager that does not follow its cache updates the models instead, as `updateModels` does:
    /// such a cache can't merge.
    ///
    /// - Parameters:
    ///   - models: The models. A model without identifier is left out, and is a failure.
    ///   - context: A value that is passed to the cache where it can't merge.
    @preconcurrency
    open func mergeModels(_ models: [any SimpleModel], context: (any Sendable)? = nil) {
        guard follows else { return updateModels(models, context: context) }
        mergeInCache(models, .merge)
    }

    /// Saves models that the cache merges, and shows the merged models. With the policy `.merge` it
    /// calls `mergeModels`, which a subclass may override.
    func saveMerged(
        _ models: [any SimpleModel], _ policy: TreePolicy, context: (any Sendable)?
    ) {
        if policy == .merge { return mergeModels(models, context: context) }
        mergeInCache(models, policy)
    }

    /// Lets the cache merge models, and then shows the merged models.
    func mergeInCache(_ models: [any SimpleModel], _ policy: TreePolicy) {
        order.withLock { mergeInCache(models, policy, noting: &$0) }
    }

    /// Lets the cache merge models. The caller holds `order`, whose roots it passes.
    func mergeInCache(
        _ models: [any SimpleModel], _ policy: TreePolicy, noting roots: inout RecentRoots
    ) {
        guard let follower = currentFollower else { return }
        let named = named(models)
        let identifiers = Set(named.compactMap(\.modelIdentifier))
        guard !named.isEmpty else { return }
        for model in named { roots.note(model) }
        // Also if nothing has changed in the cache: a screen may show less than it has.
        cacheQueue.merge(named, policy) { follower.refresh(identifiers) }
    }

    /// Returns the models that have an identifier, and tells that the others can't be stored.
    private func named(_ models: [any SimpleModel]) -> [any SimpleModel] {
        let named = models.filter { $0.modelIdentifier?.isEmpty == false }
        if named.count < models.count { cacheQueue.refuse(DataProviderError.noIdentifier) }
        return named
    }

    /// Reads nodes again that a write of the manager may have changed in ways that only the cache
    /// knows.
    func refresh(_ identifiers: Set<String>) { currentFollower?.refresh(identifiers) }

    /// Changes a stored model in one step that no other write comes between, of this process or
    /// another one. The providers then show the new model.
    ///
    /// ```swift
    /// try await manager.update(Person.self, "Person:1") { $0.with(visits: $0.visits + 1) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - identifier: The identifier of the model.
    ///   - change: Returns the new model for the stored one. Called off the main actor, perhaps
    ///     more than once; the last call counts.
    /// - Returns: The new model, once it is stored.
    /// - Throws: The error of `change`, after which nothing has changed; the reason why the model
    ///   could not be read or stored; `DataProviderError.notShared` for a manager that does not
    ///   follow its cache.
    @discardableResult
    public func update<T: SimpleModel>(
        _ type: T.Type, _ identifier: String, _ change: @escaping @Sendable (T) throws -> T
    ) async throws -> T {
        guard let follower = currentFollower, let cache = cacheDelegate as? any SharedCacheDelegate
        else { throw DataProviderError.notShared }
        await cacheQueue.afterCalls()
        // The answer to a request that began before is out of date. The cache may have the change
        // long before the reply arrives here, and an answer that comes in between must not undo it.
        let attempt = order.withLock { $0.noteAttempt(type, identifier) }
        do {
            let changed = try await withCheckedThrowingContinuation { continuation in
                let reply = PendingReply<Result<T, any Error>>(
                    default: .failure(DataProviderError.noAnswer)
                ) { continuation.resume(with: $0) }
                cache.updateModel(type, identifier: identifier, change) { reply.fulfill($0) }
            }
            // So is the answer to a request that began before the commit.
            order.withLock { $0.note(type, identifier) }
            follower.refresh([identifier])
            return changed
        } catch {
            order.withLock { $0.withdraw(attempt) }
            throw error
        }
    }

    /// The writes that the cache could not store, from now on: of all providers, and of the
    /// manager's own functions. Each is told once, with the reason.
    ///
    /// ```swift
    /// for await failure in manager.failures() { log("\(failure.names): \(failure.error)") }
    /// ```
    ///
    /// A model whose type can't be stored, or that has no identifier, is a failure of its first
    /// write, in debug and release builds alike. Of a cache that is no `SharedCacheDelegate` only
    /// failed edits are known.
    ///
    /// Each call begins a sequence of its own, which buffers the latest 256 failures. May be called
    /// on any thread.
    public func failures() -> AsyncStream<SaveFailure> { cacheQueue.failures.subscribe() }

    /// Makes changes, and waits until the cache has stored them.
    ///
    /// The screens show the changes at once, as without `saving`: only the caller waits.
    ///
    /// ```swift
    /// do {
    ///     try await manager.saving {
    ///         messages.append([message])
    ///         draft.setData(nil)
    ///     }
    /// } catch {
    ///     show(error)                     // the message is on the screen, and not in the cache
    /// }
    /// ```
    ///
    /// A cache that is no `SharedCacheDelegate` does not tell when it has stored something: its
    /// writes count as done when it was called. Only edits are waited for, if it is a
    /// `CollectionCacheDelegate`. A cancelled task waits all the same, and a cache that keeps a
    /// completion without calling it makes the caller wait for ever.
    ///
    /// - Parameter changes: Calls functions of providers and managers, on the main actor. Changes
    ///   that it begins in a task of its own are not waited for.
    /// - Returns: What `changes` returns.
    /// - Throws: The error of `changes`, at once: the changes made before it stay, and are not
    ///   waited for. Otherwise the reason of the first write that failed: the cache's error,
    ///   `DataProviderError.noIdentifier`, or `.noAnswer`. The failure of one write does not undo
    ///   the others. The delegates of the providers concerned, and `failures`, are told as well.
    @MainActor
    public func saving<Result>(_ changes: () throws -> Result) async throws -> Result {
        let call = WriteCall()
        let result = try call.perform(changes)
        let failure = await withCheckedContinuation { continuation in
            call.whenEnded { continuation.resume(returning: $0) }
        }
        if let failure { throw failure.error }
        return result
    }

    /// Whether a write of the model, or of a node in it, is merged by the cache. The screens then
    /// show what the cache makes of it.
    ///
    /// - Complexity: O(*n*) in the nodes of the model, if their types decide.
    func merges(_ model: any SimpleModel, _ policy: TreePolicy) -> Bool {
        model.modelIdentifier?.isEmpty == false && policy.merges(model)
    }

    /// Returns the policy by which the screens apply a write: that of the call, else the manager's,
    /// else that of the types. A manager that does not follow its cache shows what it is given. The
    /// cache may merge it all the same.
    func policy(of type: any SimpleModel.Type, _ policy: WritePolicy?) -> TreePolicy {
        follows ? TreePolicy(policy ?? writePolicy, root: type.writePolicy) : .replace
    }

    /// Whether the manager's screens follow its cache.
    var follows: Bool { currentFollower != nil }

    /// Deletes `model` from all data providers and from the cache.
    ///
    /// The model leaves collections, and an optional child becomes `nil`. A model that requires it
    /// is deleted as well. To remove a model from one collection only, edit the collection.
    ///
    /// - Parameters:
    ///   - model: The model. Without identifier it stays on all screens, and a cache that finds
    ///     models by `context` may delete it.
    ///   - updateCache: Whether to delete the model from the cache.
    ///   - context: A value that is passed to the delegates and to the cache.
    @preconcurrency
    open func deleteModel(
        _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        let identifier = model.modelIdentifier
        let queue = cacheQueue
        order.withLock { roots in
            if let identifier {
                roots.note(deleted: identifier)
                currentFollower?.noteDeletion(of: identifier)
            }
            let time = ChangeTime()
            let deletesCascade = updateCache && !queue.acceptsEdits
            if updateCache { queue.delete(model, forKey: identifier, context: context, time: time) }
            guard identifier != nil else { return }
            consistencyManager.post(model, isDeletion: true, context: context, time: time) {
                cascaded in
                if deletesCascade { queue.deleteCascaded(cascaded, context: context, time: time) }
            }
        }
    }

    /// Posts and saves in one step, so that both queues have the same order.
    ///
    /// - Parameter roots: The models that are set by themselves, if `model` is a batch.
    func submit(
        _ model: (any ConsistencyManagerModel)?, roots: [any SimpleModel] = [],
        context: (any Sendable)?, _ save: () -> Void
    ) {
        order.withLock { recent in
            for model in roots { recent.note(model) }
            if let model {
                // The elements of a collection are not set by themselves.
                if !(model is BatchUpdateModel) { recent.note(model) }
                post(model, context)
            }
            save()
        }
    }

    /// Posts a model. The caller holds `order`.
    func post(_ model: any ConsistencyManagerModel, _ context: (any Sendable)?) {
        // A screen that shows a node as another type gets its fields from the cache, once the cache
        // has them.
        let refresh: @Sendable (Set<String>) -> Void = { [weak follower = currentFollower] in
            follower?.refresh($0)
        }
        consistencyManager.post(
            model, context: context, time: ChangeTime(), onForeignNodes: refresh)
    }

    /// Starts a fetch: its result catches up with all changes that are submitted after this call.
    /// The lock ensures that no change is in only one of the two queues at this moment.
    func beginFetch() -> ChangeTime {
        let fetch = begin()
        currentFollower?.begin(fetch)
        return fetch
    }

    private func begin() -> ChangeTime {
        order.withLock { _ in
            let fetch = ChangeTime()
            consistencyManager.beginFetch(fetch)
            return fetch
        }
    }

    /// Starts a fetch by the follower itself.
    func beginReading() -> ChangeTime { begin() }
    func endReading(_ fetch: ChangeTime) { consistencyManager.endFetch(fetch) }

    func endFetch(_ fetch: ChangeTime) {
        consistencyManager.endFetch(fetch)
        currentFollower?.end(fetch)
    }

    func save(_ model: any SimpleModel, _ context: (any Sendable)?) {
        guard let key = model.modelIdentifier, !key.isEmpty else {
            return cacheQueue.refuse(DataProviderError.noIdentifier)
        }
        cacheModel(model, forKey: key, context: context)
    }

    /// Saves models in one step, if the cache can. A subclass gets a call of `cacheModel` for each.
    func saveTogether(
        _ models: [any SimpleModel], _ policy: TreePolicy, _ context: (any Sendable)?
    ) {
        guard follows, type(of: self) == DataModelManager.self else {
            return WriteCall(policy: policy).perform { models.forEach { save($0, context) } }
        }
        let named = named(models)
        if !named.isEmpty { cacheQueue.save(named, policy) }
    }

    // MARK: The cache

    /// Saves a model in the cache, without updating data providers, unless the cache merges it.
    ///
    /// A manager that follows its cache calls this function for models that it replaces as a whole.
    /// Models that merge, or that contain a node that merges, go to the cache in other ways.
    ///
    /// - Parameters:
    ///   - model: The model to save.
    ///   - cacheKey: The key to save it under.
    ///   - context: A value that is passed to the cache.
    @preconcurrency
    open func cacheModel(
        _ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?
    ) {
        cacheQueue.save(model, forKey: cacheKey, context: context)
    }

    /// Reads a model from the cache.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the model.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called exactly once, on the main actor, with the model; with `(nil, nil)`
    ///     for a miss; or with the cache's error, or `DataProviderError.noAnswer`.
    @preconcurrency
    open func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        cacheQueue.model(cacheKey, context: context, completion: completion)
    }

    /// Saves a collection in the cache, without updating data providers.
    ///
    /// - Parameters:
    ///   - collection: The elements, in their order.
    ///   - cacheKey: The key to save them under.
    ///   - context: A value that is passed to the cache.
    @preconcurrency
    open func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: (any Sendable)?
    ) {
        cacheQueue.save(collection: collection, forKey: cacheKey, context: context)
    }

    /// Reads a collection from the cache.
    ///
    /// An override that asks the cache calls `super` before it returns. Called later, the cache can
    /// tell the provider only that there was a miss, and not why: the next edit may then replace a
    /// stored collection that has expired, or that was too large to be read.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the collection.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called exactly once, on the main actor, with the elements; with `(nil, nil)`
    ///     for a miss; or with the cache's error, or `DataProviderError.noAnswer`.
    @preconcurrency
    open func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        cacheQueue.collection(cacheKey, context: context, completion: completion)
    }

    /// Waits until everything that was submitted before has been applied and delivered, and the
    /// cache has been called and has replied. A `CollectionCacheDelegate` has also written its
    /// changes, unless it can no longer write. A manager that follows its cache also shows what
    /// other managers of this process had committed before. A commit of another process may arrive
    /// later.
    public func flush() async {
        // Work may submit more work: a deletion its cascade, a reply an edit. If other callers keep
        // submitting without end, their work is not waited for.
        for round in 1... {
            let calls = cacheQueue.callCount
            await consistencyManager.flush()
            await cacheQueue.flush()
            await currentFollower?.flush()
            await consistencyManager.flush()
            if calls == cacheQueue.callCount { break }
            if round >= 8, await !sharedCollections.isEditing { break }
        }
        await cacheQueue.flushCache()
        await currentFollower?.flush()
        await cacheQueue.flush()
        await consistencyManager.flush()
    }
}

/// An error of a data provider.
public enum DataProviderError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither the memory nor the cache contains a collection under the key. Set it, or append to
    /// it, first.
    case notFound
    /// The index is outside the collection.
    case outOfRange
    /// The cache released a completion without calling it: a mistake in the `CacheDelegate`.
    case noAnswer
    /// The manager does not follow its cache. Create it by `init(cache:writePolicy:)`.
    case notShared
    /// The model has no identifier, or an empty one, so it is shown and not stored.
    case noIdentifier

    /// The message for developers, in English.
    public var description: String {
        switch self {
        case .notFound: "There is no collection under this key. Set it, or append to it, first."
        case .outOfRange: "The index is outside the collection."
        case .noAnswer:
            """
            The cache released a completion without calling it. A cache delegate must call each \
            completion once.
            """
        case .notShared:
            "The manager does not follow its cache. Create it by init(cache:writePolicy:)."
        case .noIdentifier:
            "The model has no identifier, so the cache can't store it. It is shown all the same."
        }
    }
}
