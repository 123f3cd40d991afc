public import EspalierConsistency
public import EspalierModels
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
/// not submit another change, which would deadlock.
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
    /// Held while a change is submitted to both queues, so that their orders agree.
    private let order = Mutex<Void>(())

    /// Creates a manager with a cache, which is held strongly.
    public init(cacheDelegate: any CacheDelegate) {
        self.cacheDelegate = cacheDelegate
        cacheQueue = CacheQueue(cacheDelegate)
    }

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
        submit(model, context: context) {
            if updateCache { save(model, context) }
        }
    }

    /// Updates several models in one step: a data provider that shows more than one of them is
    /// notified once.
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
        let batch = BatchUpdateModel(models: models.map { $0 as any ConsistencyManagerModel })
        submit(batch, context: context) {
            if updateCache { for model in models { save(model, context) } }
        }
    }

    /// Deletes `model` from all data providers and from the cache.
    ///
    /// The model leaves collections, and an optional child becomes `nil`. A model that requires it
    /// is deleted as well. To remove a model from one collection only, edit the collection.
    ///
    /// - Parameters:
    ///   - model: The model. Without identifier it is deleted from the cache only.
    ///   - updateCache: Whether to delete the model from the cache.
    ///   - context: A value that is passed to the delegates and to the cache.
    @preconcurrency
    open func deleteModel(
        _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        let identifier = model.modelIdentifier
        let queue = cacheQueue
        order.withLock { _ in
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
    func submit(
        _ model: (any ConsistencyManagerModel)?, context: (any Sendable)?, _ save: () -> Void
    ) {
        order.withLock { _ in
            if let model { consistencyManager.post(model, context: context, time: ChangeTime()) }
            save()
        }
    }

    /// Starts a fetch: its result catches up with all changes that are submitted after this call.
    /// The lock ensures that no change is in only one of the two queues at this moment.
    func beginFetch() -> ChangeTime {
        order.withLock { _ in
            let fetch = ChangeTime()
            consistencyManager.beginFetch(fetch)
            return fetch
        }
    }

    func endFetch(_ fetch: ChangeTime) { consistencyManager.endFetch(fetch) }

    func save(_ model: any SimpleModel, _ context: (any Sendable)?) {
        if let key = model.modelIdentifier { cacheModel(model, forKey: key, context: context) }
    }

    // MARK: The cache

    /// Saves a model in the cache, without updating data providers.
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
        cacheQueue.fetch(
            { cache, reply in cache.modelForKey(cacheKey, context: context, completion: reply) },
            completion: completion)
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
        cacheQueue.fetch(
            { cache, reply in
                cache.collectionForKey(cacheKey, context: context, completion: reply)
            },
            completion: completion)
    }

    /// Waits until everything that was submitted before has been applied and delivered, and the
    /// cache has been called and has replied. A `CollectionCacheDelegate` has also written its
    /// changes, unless it can no longer write.
    public func flush() async {
        // Work may submit more work: a deletion its cascade, a reply an edit. If other callers keep
        // submitting without end, their work is not waited for.
        for round in 1... {
            let calls = cacheQueue.callCount
            await consistencyManager.flush()
            await cacheQueue.flush()
            await consistencyManager.flush()
            if calls == cacheQueue.callCount { break }
            if round >= 8, await !sharedCollections.isEditing { break }
        }
        await cacheQueue.flushCache()
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
        }
    }
}
