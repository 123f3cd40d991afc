public import EspalierConsistency
public import EspalierModels
import EspalierProviders
public import Foundation

/// Provides one model to a screen: it fetches the model from the cache, lets the screen set it, and
/// keeps it consistent with every other provider.
///
/// The functions are RocketData's. They belong to the main thread.
@preconcurrency @MainActor
open class DataProvider<T: SimpleModel>: ConsistencyManagerListener,
    ConsistencyManagerUpdatesListener, BatchListenable
{
    /// The delegate, which is notified of changes that others make. Held weakly.
    open weak var delegate: (any DataProviderDelegate)?
    /// The manager that the provider shares with others.
    public let dataModelManager: DataModelManager
    /// The batch that this provider belongs to. The batch sets it. Held weakly.
    open weak var batchListener: BatchDataProviderListener?
    private let backend: ModelBackend<T>

    /// Creates a provider without a model.
    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
        backend = ModelBackend(dataModelManager: dataModelManager.backend)
        backend.owner = self
        backend.delegate = backend
    }

    /// The model; `nil` if there is none, or if it was deleted.
    open var data: T? { backend.data }

    /// The time at which the model was set, or at which an update of it was submitted.
    open var lastUpdated: ChangeTime { backend.lastUpdated }

    /// Whether the provider is paused. A paused provider is changed only by its own functions. When
    /// it is resumed, it shows everything that it missed in one change. Set it on the batch, if the
    /// provider belongs to one.
    open var isPaused: Bool {
        get { backend.isPaused }
        set {
            Log.sharedInstance.assert(
                batchListener == nil,
                "Pause the batch listener, and not a data provider that belongs to it.")
            backend.isPaused = newValue
        }
    }

    /// The identifier of the model or, if there is no model, of the model that the provider waits
    /// for. Set it only while there is no model.
    open var modelIdentifier: String? {
        get { backend.modelIdentifier }
        set {
            guard data == nil else {
                return Log.sharedInstance.assert(
                    false, "The model identifier was set on a provider that has a model.")
            }
            wait(for: newValue)
        }
    }

    private func wait(for identifier: String?) {
        backend.modelIdentifier = identifier
        if identifier != nil {
            dataModelManager.consistencyManager.addModelUpdatesListener(self)
        }
    }

    /// Shows `data`, saves it under its identifier, and updates all providers that show the same
    /// model or a model in it. The provider's own delegate is not called.
    ///
    /// - Parameters:
    ///   - data: The new model. `nil` shows nothing, and deletes nothing; a provider that waits for
    ///     a model goes on waiting.
    ///   - updateCache: Whether to save the model.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func setData(_ data: T?, updateCache: Bool = true, context: Any? = nil) {
        ThreadChanges.performOnMain { [backend] in
            backend.setData(data, updateCache: updateCache, context: UncheckedContext(context))
        }
    }

    /// Reads a model from the cache and shows it, unless the provider shows something newer by
    /// then. If the key is the identifier of the model that is shown, the cache is not called.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model; `nil` for a cache that finds it by `context`.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main thread, with the model that is shown then, or with
    ///     the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: Any? = nil,
        completion: @escaping (T?, NSError?) -> Void
    ) {
        ThreadChanges.performOnMain { [backend] in
            backend.fetchDataFromCache(withCacheKey: cacheKey, context: UncheckedContext(context)) {
                model, error in
                // The provider lives until the completion, as in RocketData.
                withExtendedLifetime(self) {
                    completion(model, error.map(RocketDataError.converted))
                }
            }
        }
    }

    /// Reads a model from the cache and shows it; waits for the model if there is none.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model; `nil` for a cache that finds it by `context`.
    ///   - listenToModelIdentifier: Whether to wait for the model, as if `modelIdentifier` had been
    ///     set to the key.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main thread, with the model that is shown then, or with
    ///     the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, listenToModelIdentifier: Bool, context: Any? = nil,
        completion: @escaping (T?, NSError?) -> Void
    ) {
        // The model may be posted while the cache reads, so waiting begins here.
        if listenToModelIdentifier, data == nil { wait(for: cacheKey) }
        fetchDataFromCache(withCacheKey: cacheKey, context: context, completion: completion)
    }

    // MARK: Listening

    /// Returns the model, for a `BatchListener`. Not open, because the model of updates is `data`.
    public func currentModel() -> (any ConsistencyManagerModel)? { data }

    /// Shows `model`, and notifies the delegate. Called for each update of the shown model that is
    /// newer than it.
    ///
    /// An override may pass another model of the same identifier on. If it does not call this
    /// function, the provider does not show the update.
    open func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        Log.sharedInstance.assert(
            model == nil || model is T,
            "A model has the identifier of a model of another type. Identifiers must be unique.")
        backend.show(model, updates: updates, context: context)
    }

    /// Called for every change while the provider waits for a model. The provider shows the model
    /// by itself, also if an override does not call this function.
    open func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {
        if data != nil || backend.modelIdentifier == nil {
            consistencyManager.removeModelUpdatesListener(self)
        }
    }

    /// Called when the batch is resumed, before the provider shows what it missed. Does nothing.
    open func batchDataProviderUnpausedDataProvider() {}

    /// Returns whether the provider shows the change with `context`. The batch has left out
    /// providers that ignored a change, so this is `true`.
    open func syncedWithContext(_ context: Any?) -> Bool { true }
}

/// Is notified when the model of a data provider was changed by others.
@preconcurrency @MainActor
public protocol DataProviderDelegate: AnyObject {
    /// Reports that the model has changed. Called on the main thread, once for each update.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - context: The context of the update.
    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?)
}

extension DataProvider: BackedProvider {
    var batchable: any ConsistencyManagerListener & EspalierProviders.BatchListenable { backend }
}

// The backend is the listener of the consistency manager: adding the provider has no effect.
extension DataProvider: TreeListener {
    package var base: ListenerBase? { nil }
    package func apply(_ delivery: Delivery) {}
}

/// The Espalier provider behind a `DataProvider`, which calls the functions and the delegate of its
/// owner.
@MainActor
final class ModelBackend<T: SimpleModel>: EspalierProviders.DataProvider<T>,
    EspalierProviders.DataProviderDelegate
{
    weak var owner: DataProvider<T>?

    override func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        owner?.modelUpdated(
            model, updates: updates, context: UncheckedContext.value(of: context))
    }

    func show(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        super.modelUpdated(model, updates: updates, context: context)
    }

    func dataProviderHasUpdatedData<U>(
        _ dataProvider: EspalierProviders.DataProvider<U>, context: Any?
    ) {
        guard let owner else { return }
        owner.delegate?.dataProviderHasUpdatedData(
            owner, context: UncheckedContext.value(of: context))
    }
}
