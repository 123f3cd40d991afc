public import EspalierConsistency
public import EspalierModels
public import EspalierProviders
public import Foundation

/// Provides a list of models to a screen: it fetches the list from the cache, lets the screen edit
/// it, and keeps each element consistent. Providers with the same key share one collection.
///
/// The functions are RocketData's. They belong to the main thread. An index outside the collection
/// traps.
@preconcurrency @MainActor
open class CollectionDataProvider<T: SimpleModel>: ConsistencyManagerListener, BatchListenable {
    /// The delegate, which is notified of changes that others make. Held weakly.
    open weak var delegate: (any CollectionDataProviderDelegate)?
    /// The manager that the provider shares with others.
    public let dataModelManager: DataModelManager
    /// The batch that this provider belongs to. The batch sets it. Held weakly.
    open weak var batchListener: BatchDataProviderListener?
    private let backend: ListBackend<T>

    /// Creates a provider with an empty collection that has no key.
    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
        backend = ListBackend(dataModelManager: dataModelManager.backend)
        backend.owner = self
        backend.delegate = backend
    }

    // MARK: Data

    /// The elements, in their order; empty until they are set or fetched.
    open var data: [T] { backend.data }

    /// The number of elements.
    open var count: Int { backend.count }

    /// Returns the element at `index`, which must be in `0 ..< count`.
    open subscript(index: Int) -> T { backend[index] }

    /// The key of the collection; `nil` for a collection that is not saved.
    open var cacheKey: String? { backend.cacheKey }

    /// The time at which the collection was last set or edited, or at which the last update of an
    /// element was submitted.
    open var lastUpdated: ChangeTime { backend.lastUpdated }

    /// Whether the provider is paused. A paused provider is changed only by its own functions. When
    /// it is resumed, it shows the collection as the others have left it. Set it on the batch, if
    /// the provider belongs to one.
    open var isPaused: Bool {
        get { backend.isPaused }
        set {
            Log.sharedInstance.assert(
                batchListener == nil,
                "Pause the batch listener, and not a data provider that belongs to it.")
            backend.isPaused = newValue
        }
    }

    // MARK: Changing

    /// Shows `data` as the collection under `cacheKey`, saves it, and updates all providers that
    /// show its elements. The provider's own delegate is not called.
    ///
    /// - Parameters:
    ///   - data: The elements, in their order.
    ///   - cacheKey: The key; `nil` for a collection that is not shared and not saved.
    ///   - shouldCache: Whether to save the collection.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func setData(
        _ data: [T], cacheKey: String?, shouldCache: Bool = true, context: Any? = nil
    ) {
        perform(context) {
            $0.setData(data, cacheKey: cacheKey, shouldCache: shouldCache, context: $1)
        }
    }

    /// Inserts elements before the element at `index`, in all providers of the collection and in
    /// the cache. The provider's own delegate is not called.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - index: An index in `0 ... count`.
    ///   - shouldCache: Whether to save the collection.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func insert(
        _ newData: [T], at index: Int, shouldCache: Bool = true, context: Any? = nil
    ) {
        perform(context) { $0.insert(newData, at: index, shouldCache: shouldCache, context: $1) }
    }

    /// Adds elements after the last element. Like `insert` in all else.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - shouldCache: Whether to save the collection.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func append(_ newData: [T], shouldCache: Bool = true, context: Any? = nil) {
        perform(context) { $0.append(newData, shouldCache: shouldCache, context: $1) }
    }

    /// Puts `element` in place of the one at `index`. Like `insert` in all else.
    ///
    /// - Parameters:
    ///   - element: The new element, which may be another model.
    ///   - index: An index in `0 ..< count`.
    ///   - shouldCache: Whether to save the collection.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func update(
        _ element: T, at index: Int, shouldCache: Bool = true, context: Any? = nil
    ) {
        perform(context) { $0.update(element, at: index, shouldCache: shouldCache, context: $1) }
    }

    /// Removes the element at `index` from the collection. The model is not deleted. Like `insert`
    /// in all else.
    ///
    /// - Parameters:
    ///   - index: An index in `0 ..< count`.
    ///   - shouldCache: Whether to save the collection.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func remove(at index: Int, shouldCache: Bool = true, context: Any? = nil) {
        perform(context) { $0.remove(at: index, shouldCache: shouldCache, context: $1) }
    }

    /// Makes a change or begins a fetch with the boxed context, after the change that is being
    /// saved, if any.
    private func perform(
        _ context: Any?,
        _ change: @escaping @MainActor (ListBackend<T>, UncheckedContext?) -> Void
    ) {
        let boxed = UncheckedContext(context)
        ThreadChanges.performOnMain { [backend] in change(backend, boxed) }
    }

    // MARK: Fetching

    /// Shows the collection under a key: as another provider has it, or else as the cache has it.
    ///
    /// - Parameters:
    ///   - cacheKey: The key; `nil` for a cache that finds the collection by `context`.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main thread, with the elements that are shown then, or
    ///     with the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: Any? = nil,
        completion: @escaping ([T]?, NSError?) -> Void
    ) {
        perform(context) {
            $0.fetchDataFromCache(withCacheKey: cacheKey, context: $1) { elements, error in
                // The provider lives until the completion, as in RocketData.
                withExtendedLifetime(self) {
                    completion(elements, error.map(RocketDataError.converted))
                }
            }
        }
    }

    // MARK: Changing collections without a provider

    /// Sets the collection under a key, saves it, and updates all providers that show its elements.
    ///
    /// - Parameters:
    ///   - data: The elements, in their order.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    public static func setData(
        _ data: [T], cacheKey: String, dataModelManager: DataModelManager, context: Any? = nil
    ) {
        let boxed = UncheckedContext(context)
        ThreadChanges.performOnMain {
            ListBackend<T>.setData(
                data, cacheKey: cacheKey, dataModelManager: dataModelManager.backend,
                context: boxed)
        }
    }

    /// Inserts elements into the collection under a key.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - index: Returns the index in `0 ... count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: Called on the main thread, with `nil` when the elements are inserted, even
    ///     if they are not saved yet. Otherwise called with the cache's error, or with one in
    ///     `rocketDataErrorDomain`; the collection is then unchanged.
    public static func insert(
        _ newData: [T], at index: @escaping ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, context: Any? = nil,
        completion: ((NSError?) -> Void)? = nil
    ) {
        let (boxed, completion) = (UncheckedContext(context), converted(completion))
        ThreadChanges.performOnMain {
            ListBackend<T>.insert(
                newData, at: { index($0) }, cacheKey: cacheKey,
                dataModelManager: dataModelManager.backend, context: boxed, completion: completion)
        }
    }

    /// Appends elements to the collection under a key, which is created if the cache reports a miss
    /// without an error.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: As for `insert`.
    public static func append(
        _ newData: [T], cacheKey: String, dataModelManager: DataModelManager, context: Any? = nil,
        completion: ((NSError?) -> Void)? = nil
    ) {
        let (boxed, completion) = (UncheckedContext(context), converted(completion))
        ThreadChanges.performOnMain {
            ListBackend<T>.append(
                newData, cacheKey: cacheKey, dataModelManager: dataModelManager.backend,
                context: boxed, completion: completion)
        }
    }

    /// Puts an element in place of another in the collection under a key.
    ///
    /// - Parameters:
    ///   - element: The new element.
    ///   - index: Returns the index in `0 ..< count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: As for `insert`.
    public static func update(
        _ element: T, at index: @escaping ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, context: Any? = nil,
        completion: ((NSError?) -> Void)? = nil
    ) {
        let (boxed, completion) = (UncheckedContext(context), converted(completion))
        ThreadChanges.performOnMain {
            ListBackend<T>.update(
                element, at: { index($0) }, cacheKey: cacheKey,
                dataModelManager: dataModelManager.backend, context: boxed, completion: completion)
        }
    }

    /// Removes an element from the collection under a key. The model is not deleted.
    ///
    /// - Parameters:
    ///   - index: Returns the index in `0 ..< count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: As for `insert`.
    public static func removeAtIndex(
        _ index: @escaping ([T]) -> Int, cacheKey: String, dataModelManager: DataModelManager,
        context: Any? = nil, completion: ((NSError?) -> Void)? = nil
    ) {
        let (boxed, completion) = (UncheckedContext(context), converted(completion))
        ThreadChanges.performOnMain {
            ListBackend<T>.removeAtIndex(
                { index($0) }, cacheKey: cacheKey, dataModelManager: dataModelManager.backend,
                context: boxed, completion: completion)
        }
    }

    private static func converted(
        _ completion: ((NSError?) -> Void)?
    ) -> (@MainActor @Sendable ((any Error)?) -> Void)? {
        guard let completion else { return nil }
        return { error in completion(error.map(RocketDataError.converted)) }
    }

    // MARK: Listening

    /// Returns the elements as one `BatchUpdateModel` whose identifier is the key, for a
    /// `BatchListener`. Not open, because the model of updates is `data`.
    public func currentModel() -> (any ConsistencyManagerModel)? {
        BatchUpdateModel(
            models: data.map { $0 as any ConsistencyManagerModel }, modelIdentifier: cacheKey)
    }

    /// Does nothing. Not open, because providers with one key share their collection, which is
    /// updated once: implement the delegate, which is told of each change.
    public func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {}

    /// Called when the batch is resumed, before the provider shows what it missed. Does nothing.
    open func batchDataProviderUnpausedDataProvider() {}

    /// Returns whether the provider shows the change with `context`. The batch has left out
    /// providers that ignored a change, so this is `true`.
    open func syncedWithContext(_ context: Any?) -> Bool { true }
}

/// Is notified when the collection of a data provider was changed by others.
@preconcurrency @MainActor
public protocol CollectionDataProviderDelegate: AnyObject {
    /// Reports that the collection has changed. Called on the main thread.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - collectionChanges: The steps from the elements that were shown to those that are shown
    ///     now.
    ///   - context: The context of the change.
    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?)
}

extension CollectionDataProvider: BackedProvider {
    var batchable: any ConsistencyManagerListener & EspalierProviders.BatchListenable { backend }
}

// The backend is the listener of the consistency manager: adding the provider has no effect.
extension CollectionDataProvider: TreeListener {
    package var base: ListenerBase? { nil }
    package func apply(_ delivery: Delivery) {}
}

/// The Espalier provider behind a `CollectionDataProvider`, which calls the delegate of its owner.
@MainActor
final class ListBackend<T: SimpleModel>: EspalierProviders.CollectionDataProvider<T>,
    EspalierProviders.CollectionDataProviderDelegate
{
    weak var owner: CollectionDataProvider<T>?

    func collectionDataProviderHasUpdatedData<U>(
        _ dataProvider: EspalierProviders.CollectionDataProvider<U>,
        collectionChanges: EspalierProviders.CollectionChange, context: Any?
    ) {
        guard let owner else { return }
        owner.delegate?.collectionDataProviderHasUpdatedData(
            owner, collectionChanges: collectionChanges,
            context: UncheckedContext.value(of: context))
    }
}
