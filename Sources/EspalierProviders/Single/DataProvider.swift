public import EspalierConsistency
public import EspalierModels
public import Observation

/// Provides one model to a screen: fetched from the cache, set by the screen, and kept consistent
/// with every other provider.
///
/// ```swift
/// let provider = DataProvider<Person>(dataModelManager: .shared)
/// provider.delegate = self
/// provider.fetchDataFromCache(withCacheKey: "Person:1") { person, error in ... }
/// provider.setData(personFromServer)                  // shown everywhere, and cached
/// ```
///
/// Belongs to the main actor, which no call of it blocks. `Observable`: views that read `data`
/// follow it. The manager holds providers weakly.
@preconcurrency @MainActor
open class DataProvider<T: SimpleModel>: ConsistencyManagerListener,
    ConsistencyManagerUpdatesListener, BatchListenable
{
    /// Told when the model has changed through somebody else. Weak.
    open weak var delegate: (any DataProviderDelegate)?
    public let dataModelManager: DataModelManager
    /// The batch that this provider is part of. Set by the batch.
    open weak var batchListener: BatchDataProviderListener?

    /// As `data`, without being observed.
    private(set) var model: T?
    /// When the model was set, or updated by whoever did.
    public private(set) var lastUpdated = ChangeTime.zero
    /// When it was set or asked for: what was asked for before is about the past.
    private var lastSet = ChangeTime.zero
    /// When it was set, or the cache last answered what was asked: an answer to what was asked
    /// before is about the past.
    private var lastAsked = ChangeTime.zero
    private var revision = ChangeTime.zero
    /// The identifier of a model that does not exist yet, to be taken when it does.
    private var awaited: String?
    /// What came while paused, as it came: the consistency manager keeps what becomes of it
    /// meanwhile.
    private var arrived: Arrival?
    private let registrar = ObservationRegistrar()
    let subscribers = Subscribers<DataChange<T>>()

    private struct Arrival {
        let model: T
        let context: (any Sendable)?
        let time: ChangeTime
    }

    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
    }

    deinit { dataModelManager.consistencyManager.forget(ObjectIdentifier(self)) }

    private var consistencyManager: ConsistencyManager { dataModelManager.consistencyManager }

    // MARK: Data

    /// The model; nil if there is none, or if it was deleted.
    open var data: T? {
        registrar.access(self, keyPath: \.data)
        return model
    }

    /// The identifier of the model or, without one, of the model that is waited for.
    ///
    /// Set it while there is no model to wait for one: the first model of this type with the
    /// identifier is taken, and the delegate told. Ignored while there is a model.
    open var modelIdentifier: String? {
        get { model == nil ? awaited : model?.modelIdentifier }
        set {
            guard model == nil else { return }
            if newValue != awaited { arrived = nil }
            awaited = newValue
            if newValue == nil {
                consistencyManager.removeModelUpdatesListener(self)
            } else {
                consistencyManager.addModelUpdatesListener(self)
            }
        }
    }

    /// Shows `data`, saves it under its identifier, and posts it to everyone who shows the same
    /// model or a node in it. The own delegate is not called.
    ///
    /// - Parameters:
    ///   - data: nil shows nothing; it deletes nothing.
    ///   - updateCache: false to leave the cache as it is.
    ///   - context: handed to delegates and to the cache.
    open func setData(_ data: T?, updateCache: Bool = true, context: (any Sendable)? = nil) {
        lastSet = ChangeTime()
        lastAsked = lastSet
        take(data, time: lastSet, revision: nil)
        stopWaiting()
        publish(.own, context)
        guard let data else { return }
        consistencyManager.register(self, since: nil)
        dataModelManager.submit(data, context: context) {
            if updateCache { dataModelManager.save(data, context) }
        }
    }

    /// A model of an age that counts from `time`.
    private func take(_ data: T?, time: ChangeTime, revision: ChangeTime?) {
        registrar.withMutation(of: self, keyPath: \.data) { model = data }
        arrived = nil
        lastUpdated = time
        self.revision = revision ?? ChangeTime()
    }

    // MARK: Fetching

    /// Asks the cache for a model and shows it, unless something newer is shown by then.
    ///
    /// Where the key is the identifier of what is shown, nobody is asked, and the completion called
    /// at once. The delegate is not called.
    ///
    /// - Parameters: - cacheKey: the model's identifier, or another key it was saved under; nil for
    ///   a cache that goes by the context. - context: handed to the cache. - completion: called
    ///   once, on the main actor, with what is shown then; with neither model nor error for a miss.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        fetchDataFromCache(
            withCacheKey: cacheKey, listenToModelIdentifier: false, context: context,
            completion: completion)
    }

    /// The same; where there is no such model yet, and `listenToModelIdentifier` is true, the
    /// provider waits for one, as if `modelIdentifier` had been set to the key.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, listenToModelIdentifier: Bool,
        context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        if let cacheKey, let model, model.modelIdentifier == cacheKey {
            return completion(model, nil)
        }
        // From now on: it may be made while the cache looks for it.
        if listenToModelIdentifier, model == nil { modelIdentifier = cacheKey }
        let manager = dataModelManager
        let fetch = manager.beginFetch()
        manager.modelFromCache(cacheKey, context: context) { (model: T?, error) in
            defer { manager.endFetch(fetch) }
            // Set, or fetched, by a call that came later: this answer is about the past.
            guard fetch.after(self.lastAsked) else { return completion(self.model, nil) }
            self.lastAsked = fetch
            if let model { self.take(fetched: model, at: fetch) }
            completion(model, error)
        }
    }

    private func publish(_ origin: ChangeOrigin, _ context: (any Sendable)?) {
        subscribers.send(DataChange(data: model, origin: origin, context: context))
    }

    /// Shows what was asked of the cache at `fetch`, with all that was posted since.
    private func take(fetched data: T, at fetch: ChangeTime) {
        lastSet = fetch
        take(data, time: fetch, revision: nil)
        stopWaiting()
        publish(.cache, nil)
        consistencyManager.register(self, since: fetch)
    }

    // MARK: Pausing

    /// While true, the model only changes by this provider's own functions. Set to false, all that
    /// was missed comes in one change. The state of the batch, for a provider that is part of one.
    open var isPaused: Bool {
        get { consistencyManager.isListenerPaused(self) }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { resume() }
        }
    }

    // MARK: Listening

    open func currentModel() -> (any ConsistencyManagerModel)? { model }

    open func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        guard model == nil || model is T else { return }
        take(model as? T, time: ChangeTime(), revision: nil)
        publish(.update, nil)
        tell(context)
    }

    /// Tells of all changes, of which a provider that waits for a model takes one.
    open func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {}

    private func changed(
        to model: T?, context: (any Sendable)?, time: ChangeTime, revision: ChangeTime
    ) {
        let deleted = model == nil ? self.model?.modelIdentifier : nil
        take(model, time: time, revision: revision)
        // Whoever waited for a model waits for it again.
        if deleted != nil, deleted == awaited { consistencyManager.addModelUpdatesListener(self) }
        publish(.update, context)
        tell(context)
    }

    private func tell(_ context: Any?) {
        delegate?.dataProviderHasUpdatedData(self, context: context)
        batchListener?.note(self, context: context)
    }

    private func stopWaiting() {
        guard awaited != nil, awaited != model?.modelIdentifier else { return }
        awaited = nil
        consistencyManager.removeModelUpdatesListener(self)
    }
}

extension DataProvider: Observable {}

extension DataProvider: TreeListener {
    package var base: ListenerBase? {
        if let model { return ListenerBase(model: model, revision: revision) }
        return arrived.map { ListenerBase(model: $0.model, revision: nil) }
    }

    package func take(_ delivery: Delivery) {
        guard delivery.model == nil || delivery.model is T else { return }
        let new = delivery.model as? T
        if model == nil {
            arrived = nil
            if let new { take(Arrival(model: new, context: delivery.context, time: delivery.time)) }
            return
        }
        // What is shown is newer, or was fetched since: then it catches up by itself.
        guard delivery.time.after(lastSet),
            delivery.base.revision == nil || delivery.base.revision == revision
        else { return }
        changed(
            to: new, context: delivery.context, time: delivery.time, revision: delivery.revision)
    }
}

extension DataProvider: WaitingListener {
    package func take(_ changes: [String: ModelChange], context: (any Sendable)?, time: ChangeTime)
        -> Bool
    {
        guard model == nil, let awaited else {
            consistencyManager.removeModelUpdatesListener(self)
            return false
        }
        switch changes[awaited] {
        case .updated(let models):
            guard let model = models.lazy.compactMap({ $0 as? T }).first, time.after(lastUpdated)
            else { return false }
            let arrival = Arrival(model: model, context: context, time: time)
            if isPaused { arrived = arrival } else { take(arrival) }
            return true
        case .deleted: arrived = nil
        case nil: break
        }
        return false
    }

    private func take(_ arrival: Arrival) {
        lastSet = arrival.time
        lastAsked = arrival.time
        changed(
            to: arrival.model, context: arrival.context, time: arrival.time, revision: ChangeTime())
    }
}

extension DataProvider: PausableProvider {
    func pause() { consistencyManager.pauseListener(self) }

    var resumingListener: (any ConsistencyManagerListener)? { self }
    var resumesAtOnce: Bool { false }

    func resume() {
        consistencyManager.resume([self]) { [weak self] in self?.showMissed() }
    }

    /// What has arrived is shown when the consistency manager has said, if need be, what became of
    /// it.
    func showMissed() {
        guard let arrived, model == nil, !isPaused else { return }
        DeliveryRound.run { take(arrived) }
    }
}
