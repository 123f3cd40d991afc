public import EspalierConsistency
public import EspalierModels
import Synchronization

/// What data providers share: the consistency of models in memory, and the cache behind them. One
/// for an app.
///
/// ```swift
/// extension DataModelManager {
///     static let shared = DataModelManager(cacheDelegate: cache)
/// }
/// ```
///
/// Its functions may be called on any thread. What is submitted takes effect in that order, in
/// memory and in the cache alike: the cache is called off the main actor, one call after the other.
///
/// A subclass may override what goes to the cache and comes from it, to count or to add a context.
/// The functions that save are called while a change is submitted: an override must not submit
/// another.
///
/// After LinkedIn's RocketData, whose names and behaviour these are.
open class DataModelManager: @unchecked Sendable {
    // `@unchecked`, for it may be subclassed: it has only constants of its own.
    public let cacheDelegate: any CacheDelegate
    public let consistencyManager = ConsistencyManager()
    let lane: CacheQueue
    let sharedCollections = SharedCollections()
    /// Held while a change is submitted to both queues, so that their orders agree.
    private let order = Mutex<Void>(())

    public init(cacheDelegate: any CacheDelegate) {
        self.cacheDelegate = cacheDelegate
        lane = CacheQueue(cacheDelegate)
    }

    // MARK: Changing models

    /// Posts `model` to everyone who shows it, or a node in it, and to the cache, under its
    /// identifier.
    ///
    /// - Parameters:
    ///   - updateCache: false to leave the cache as it is.
    ///   - context: handed to delegates and to the cache.
    @preconcurrency
    open func updateModel(
        _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        submit(model, context: context) {
            if updateCache { save(model, context) }
        }
    }

    /// The same for several models: whoever shows more than one of them is told once.
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

    /// Deletes `model` everywhere: it leaves lists, optional places become nil, and models that
    /// can't be without it are deleted, too. A model without identifier is deleted from the cache
    /// only.
    ///
    /// To take a model out of one list, edit the list.
    @preconcurrency
    open func deleteModel(
        _ model: any SimpleModel, updateCache: Bool = true, context: (any Sendable)? = nil
    ) {
        let identifier = model.modelIdentifier
        let lane = lane
        order.withLock { _ in
            let time = ChangeTime()
            let follows = updateCache && !lane.takesEdits
            if updateCache { lane.delete(model, forKey: identifier, context: context, time: time) }
            guard identifier != nil else { return }
            consistencyManager.delete(model, context: context, time: time) { cascaded in
                if follows { lane.deleteCascaded(cascaded, context: context, time: time) }
            }
        }
    }

    /// Posts and saves in one step, so that no other thread comes between memory and cache.
    func submit(
        _ model: (any ConsistencyManagerModel)?, context: (any Sendable)?, _ save: () -> Void
    ) {
        order.withLock { _ in
            if let model { consistencyManager.post(model, context: context, time: ChangeTime()) }
            save()
        }
    }

    /// What is asked of the cache after this is caught up with all that is submitted after this,
    /// until `endFetch`: no change may be in one of the queues already and not yet in the other.
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

    /// Hands a model to the cache, and to nobody else.
    @preconcurrency
    open func cacheModel(
        _ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?
    ) {
        lane.save(model, forKey: cacheKey, context: context)
    }

    /// Asks the cache for a model. `completion` is called on the main actor, exactly once: with
    /// neither model nor error for a miss.
    @preconcurrency
    open func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        lane.fetch(
            { cache, answer in cache.modelForKey(cacheKey, context: context, completion: answer) },
            completion: completion)
    }

    /// Hands a collection to the cache, and to nobody else.
    @preconcurrency
    open func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: (any Sendable)?
    ) {
        lane.save(collection: collection, forKey: cacheKey, context: context)
    }

    /// Asks the cache for a collection; like `modelFromCache`.
    @preconcurrency
    open func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        lane.fetch(
            { cache, answer in
                cache.collectionForKey(cacheKey, context: context, completion: answer)
            },
            completion: completion)
    }

    /// Returns when everything submitted before has been applied and delivered, and the cache has
    /// been asked and has answered. A cache that tells, as this package's does, has also written
    /// it.
    public func flush() async {
        // What was submitted may submit in turn: a deletion what it takes along, an answer an edit.
        // Others may, too, without end: those are not waited for.
        for round in 1... {
            let calls = lane.callCount
            await consistencyManager.flush()
            await lane.flush()
            await consistencyManager.flush()
            if calls == lane.callCount { break }
            if round >= 8, await !sharedCollections.isEditing { break }
        }
        await lane.flushCache()
    }
}
