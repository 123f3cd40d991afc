public import EspalierConsistency
public import EspalierModels
import EspalierProviders
public import Foundation

/// The consistency manager and the cache that data providers share. An app has one.
///
/// ```swift
/// extension DataModelManager {
///     static let sharedInstance = DataModelManager(cacheDelegate: MyCacheDelegate())
/// }
/// ```
///
/// The functions may be called on any thread. A subclass may override them: data providers call the
/// overrides, too. The functions that save are called while a change is made. A change that such an
/// override makes itself takes effect directly after the change that is saved, and a fetch of a
/// provider begins then. The override must not wait for another thread, which may wait to make a
/// change itself.
open class DataModelManager {
    /// The cache.
    public let cacheDelegate: any CacheDelegate
    let backend: ManagerBackend

    /// The manager that keeps the models of the data providers consistent.
    public var consistencyManager: EspalierConsistency.ConsistencyManager {
        backend.consistencyManager
    }

    /// Creates a manager with a cache, which is held strongly.
    public init(cacheDelegate: any CacheDelegate) {
        self.cacheDelegate = cacheDelegate
        backend = ManagerBackend(cacheDelegate: CacheAdapter(cacheDelegate))
        backend.owner = self
    }

    /// Creates a manager with a cache of Espalier, such as a `NormalizedCache`, which is held
    /// strongly.
    ///
    /// A cache that is an `EspalierModels.CollectionCacheDelegate` is sent edits of collections as
    /// edits, without `cacheCollection`. Screens follow a cache that is a `SharedCacheDelegate`,
    /// whichever code changes it.
    public init(cache: any EspalierModels.CacheDelegate) {
        cacheDelegate = StoredCache(cache)
        if let shared = cache as? any SharedCacheDelegate {
            backend = ManagerBackend(cache: shared)
        } else {
            backend = ManagerBackend(cacheDelegate: cache)
        }
        backend.owner = self
    }

    /// Updates `model` in all data providers that show it or a model in it, and saves it under its
    /// identifier.
    ///
    /// - Parameters:
    ///   - model: The new version of the model.
    ///   - updateCache: Whether to save the model.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func updateModel(_ model: any SimpleModel, updateCache: Bool = true, context: Any? = nil) {
        ThreadChanges.perform { [backend] in
            backend.updateModel(
                model, updateCache: updateCache, context: UncheckedContext(context))
        }
    }

    /// Updates several models in one step: a data provider that shows more than one of them is
    /// notified once.
    ///
    /// - Parameters:
    ///   - models: The new versions of the models.
    ///   - updateCache: Whether to save the models.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func updateModels(
        _ models: [any SimpleModel], updateCache: Bool = true, context: Any? = nil
    ) {
        ThreadChanges.perform { [backend] in
            backend.updateModels(
                models, updateCache: updateCache, context: UncheckedContext(context))
        }
    }

    /// Deletes `model` from all data providers and from the cache. A model that requires it is
    /// deleted as well.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - updateCache: Whether to delete the model from the cache.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func deleteModel(_ model: any SimpleModel, updateCache: Bool = true, context: Any? = nil) {
        ThreadChanges.perform { [backend] in
            backend.deleteModel(
                model, updateCache: updateCache, context: UncheckedContext(context))
        }
    }

    /// Saves a model in the cache, without updating data providers.
    ///
    /// - Parameters:
    ///   - model: The model to save.
    ///   - cacheKey: The key to save it under.
    ///   - context: A value that is passed to the cache.
    open func cacheModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        backend.save(model, forKey: cacheKey, context: UncheckedContext(context))
    }

    /// Reads a model from the cache.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the model.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main thread, with the model or the cache's error.
    open func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping (T?, NSError?) -> Void
    ) {
        backend.readModel(cacheKey, context: UncheckedContext(context)) { (model: T?, error) in
            ThreadChanges.reply { completion(model, error.map(RocketDataError.converted)) }
        }
    }

    /// Saves a collection in the cache, without updating data providers.
    ///
    /// - Parameters:
    ///   - collection: The elements, in their order.
    ///   - cacheKey: The key to save them under.
    ///   - context: A value that is passed to the cache.
    open func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: Any?
    ) {
        backend.save(collection: collection, forKey: cacheKey, context: UncheckedContext(context))
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
    ///   - completion: Called once, on the main thread, with the elements or the cache's error.
    open func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping ([T]?, NSError?) -> Void
    ) {
        backend.readCollection(cacheKey, context: UncheckedContext(context)) {
            (collection: [T]?, error) in
            ThreadChanges.reply { completion(collection, error.map(RocketDataError.converted)) }
        }
    }

    /// Waits until everything that was submitted before has been applied and delivered, and the
    /// cache has been called and has replied. RocketData has no such function.
    public func flush() async { await backend.flush() }
}

/// The Espalier manager behind a `DataModelManager`. It calls the functions of its owner where data
/// providers call the cache, so that a subclass of the owner can override them.
final class ManagerBackend: EspalierProviders.DataModelManager, @unchecked Sendable {
    // `@unchecked` because the superclass is open. The owner is set once, before the manager is
    // used, and its functions may be called on any thread.
    weak var owner: DataModelManager?

    override func cacheModel(
        _ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?
    ) {
        guard let owner else { return save(model, forKey: cacheKey, context: context) }
        ThreadChanges.save {
            owner.cacheModel(
                model, forKey: cacheKey, context: UncheckedContext.value(of: context))
        }
    }

    override func cacheCollection<T: SimpleModel>(
        _ collection: [T], forKey cacheKey: String, context: (any Sendable)?
    ) {
        guard let owner else {
            return save(collection: collection, forKey: cacheKey, context: context)
        }
        ThreadChanges.save {
            owner.cacheCollection(
                collection, forKey: cacheKey, context: UncheckedContext.value(of: context))
        }
    }

    override func modelFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        guard let owner else {
            return readModel(cacheKey, context: context, completion: completion)
        }
        owner.modelFromCache(cacheKey, context: UncheckedContext.value(of: context)) {
            (model: T?, error: NSError?) in
            Self.onMain { completion(model, error) }
        }
    }

    override func collectionFromCache<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        guard let owner else {
            return readCollection(cacheKey, context: context, completion: completion)
        }
        owner.collectionFromCache(cacheKey, context: UncheckedContext.value(of: context)) {
            (collection: [T]?, error: NSError?) in
            Self.onMain { completion(collection, error) }
        }
    }

    /// Runs `body` at once on the main actor; an override may complete a read elsewhere.
    private static func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
        // On Linux, the main actor may run on another thread than the main thread.
        if ThreadChanges.isReplying || Thread.isMainThread {
            MainActor.assumeIsolated(body)
        } else {
            Task { @MainActor in body() }
        }
    }

    // MARK: What the owner's functions do

    func save(_ model: any SimpleModel, forKey cacheKey: String, context: (any Sendable)?) {
        super.cacheModel(model, forKey: cacheKey, context: context)
    }

    func save<T: SimpleModel>(
        collection: [T], forKey cacheKey: String, context: (any Sendable)?
    ) {
        super.cacheCollection(collection, forKey: cacheKey, context: context)
    }

    func readModel<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable (T?, (any Error)?) -> Void
    ) {
        super.modelFromCache(cacheKey, context: context, completion: completion)
    }

    func readCollection<T: SimpleModel>(
        _ cacheKey: String?, context: (any Sendable)?,
        completion: @escaping @MainActor @Sendable ([T]?, (any Error)?) -> Void
    ) {
        super.collectionFromCache(cacheKey, context: context, completion: completion)
    }
}

/// The changes that are in progress on one thread.
///
/// Espalier saves a change while it holds the lock that gives all changes one order, so an override
/// of a saving function must not begin another change or a fetch there. RocketData has no such
/// rule. A change that an override makes is therefore kept, and made when the lock is free again,
/// and so is a fetch.
final class ThreadChanges {
    private var depth = 0
    private var isSaving = false
    private var isReplying = false
    private var kept: [() -> Void] = []

    private static let key = "com.rocketData.threadChanges"

    private static var current: ThreadChanges {
        let values = Thread.current.threadDictionary
        if let known = values[key] as? ThreadChanges { return known }
        let changes = ThreadChanges()
        values[key] = changes
        return changes
    }

    /// Whether the thread is in a reply of the cache, and so on the main actor.
    static var isReplying: Bool { current.isReplying }

    /// Calls a completion of a read.
    @MainActor
    static func reply(_ body: () -> Void) {
        let changes = current
        let wasReplying = changes.isReplying
        changes.isReplying = true
        body()
        changes.isReplying = wasReplying
    }

    /// Makes a change, and after it those that overrides make while it is saved. Inside of such an
    /// override, keeps the change.
    static func perform(_ change: @escaping () -> Void) {
        let changes = current
        guard !changes.isSaving else { return changes.kept.append(change) }
        changes.depth += 1
        change()
        while !changes.kept.isEmpty { changes.kept.removeFirst()() }
        changes.depth -= 1
    }

    /// Makes a change or begins a fetch on the main actor, like `perform`.
    @MainActor
    static func performOnMain(_ change: @escaping @MainActor () -> Void) {
        perform { MainActor.assumeIsolated { change() } }
    }

    /// Calls a function that saves, which an app may have overridden.
    static func save(_ body: () -> Void) {
        let changes = current
        let wasSaving = changes.isSaving
        changes.isSaving = true
        body()
        changes.isSaving = wasSaving
        // A change that Espalier makes by itself, such as a static edit whose collection has
        // arrived, is in no `perform`.
        guard !wasSaving, changes.depth == 0, !changes.kept.isEmpty else { return }
        let kept = changes.kept
        changes.kept = []
        Task { @MainActor in for change in kept { perform(change) } }
    }
}
