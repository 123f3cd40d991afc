public import EspalierConsistency
public import EspalierModels
public import Observation

/// Provides one model to a screen: fetched from the cache, set by the screen, and kept consistent with every other provider.
///
/// ```swift
/// let provider = DataProvider<Person>(dataModelManager: .shared)
/// provider.delegate = self
/// provider.fetchDataFromCache(withCacheKey: "Person:1") { person, error in ... }
/// provider.setData(personFromServer)                  // shown everywhere, and cached
/// ```
///
/// Belongs to the main actor, which no call of it blocks. `Observable`: views that read `data` follow it. The manager holds
/// providers weakly.
@preconcurrency @MainActor
open class DataProvider<T: SimpleModel>: ConsistencyManagerListener, ConsistencyManagerUpdatesListener, BatchListenable
{
    /// Told when the model has changed through somebody else. Weak.
    public weak var delegate: (any DataProviderDelegate)?
    public let dataModelManager: DataModelManager
    /// The batch that this provider is part of. Set by the batch.
    public weak var batchListener: BatchDataProviderListener?

    private var model: T?
    /// When the model was set, or updated by whoever did.
    public private(set) var lastUpdated = ChangeTime.zero
    /// When it was set or asked for: what was asked for before is about the past.
    private(set) var lastSet = ChangeTime.zero
    private var revision = ChangeTime.zero
    /// The identifier of a model that does not exist yet, to be taken when it does.
    private var awaited: String?
    /// What would have been taken while paused.
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

    private var consistencyManager: ConsistencyManager { dataModelManager.consistencyManager }

    // MARK: Data

    /// The model; nil if there is none, or if it was deleted.
    open var data: T? {
        registrar.access(self, keyPath: \.data)
        return model
    }

    /// The identifier of the model or, without one, of the model that is waited for.
    ///
    /// Set it while there is no model to wait for one: the first model of this type with the identifier is taken, and the
    /// delegate told. Ignored while there is a model.
    open var modelIdentifier: String? {
        get { model == nil ? awaited : model?.modelIdentifier }
        set {
            guard model == nil else { return }
            awaited = newValue
            if newValue == nil {
                consistencyManager.removeModelUpdatesListener(self)
            } else {
                consistencyManager.addModelUpdatesListener(self)
            }
        }
    }

    /// Shows `data`, saves it under its identifier, and posts it to everyone who shows the same model or a node in it. The own
    /// delegate is not called.
    ///
    /// - Parameters:
    ///   - data: nil shows nothing; it deletes nothing.
    ///   - updateCache: false to leave the cache as it is.
    ///   - context: handed to delegates and to the cache.
    open func setData(_ data: T?, updateCache: Bool = true, context: (any Sendable)? = nil) {
        lastSet = ChangeTime()
        take(data, time: lastSet, revision: nil)
        stopWaiting()
        publish(.own, context)
        guard let data else { return }
        consistencyManager.register(self, since: nil)
        dataModelManager.submit(data, context: context) { lane in
            if updateCache { lane.save([data], context: context) }
        }
    }

    /// A model of an age that counts from `time`.
    func take(_ data: T?, time: ChangeTime, revision: ChangeTime?) {
        registrar.withMutation(of: self, keyPath: \.data) { model = data }
        lastUpdated = time
        self.revision = revision ?? ChangeTime()
    }

    func publish(_ origin: ChangeOrigin, _ context: (any Sendable)?) {
        subscribers.send(DataChange(data: model, origin: origin, context: context))
    }

    /// Shows what was asked of the cache at `fetch`, with all that was posted since.
    func take(fetched data: T, at fetch: ChangeTime) {
        lastSet = fetch
        take(data, time: fetch, revision: nil)
        stopWaiting()
        publish(.cache, nil)
        consistencyManager.register(self, since: fetch)
    }

    // MARK: Pausing

    /// While true, the model only changes by this provider's own functions. Set to false, all that was missed comes in one
    /// change. The state of the batch, for a provider that is part of one.
    open var isPaused: Bool {
        get { consistencyManager.isListenerPaused(self) }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { resume() }
        }
    }

    // MARK: Listening

    open func currentModel() -> (any ConsistencyManagerModel)? { model }

    open func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?) {
        guard model == nil || model is T else { return }
        changed(to: model as? T, context: context, time: ChangeTime(), revision: ChangeTime())
    }

    /// Tells of all changes, of which a provider that waits for a model takes one.
    open func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {}

    private func changed(to model: T?, context: Any?, time: ChangeTime, revision: ChangeTime) {
        let deleted = model == nil ? self.model?.modelIdentifier : nil
        take(model, time: time, revision: revision)
        delegate?.dataProviderHasUpdatedData(self, context: context)
        batchListener?.note(self, context: context)
        // Whoever waited for a model waits for it again.
        if deleted != nil, deleted == awaited { consistencyManager.addModelUpdatesListener(self) }
    }

    private func stopWaiting() {
        guard awaited != nil, awaited != model?.modelIdentifier else { return }
        awaited = nil
        arrived = nil
        consistencyManager.removeModelUpdatesListener(self)
    }
}

extension DataProvider: Observable {}

extension DataProvider: TreeListener {
    package var base: ListenerBase? { model.map { ListenerBase(model: $0, revision: revision) } }

    package func take(_ delivery: Delivery) {
        // What is shown is newer.
        guard delivery.time.after(lastUpdated), delivery.model == nil || delivery.model is T else { return }
        changed(
            to: delivery.model as? T, context: delivery.context, time: delivery.time, revision: delivery.revision)
        publish(.update, delivery.context)
    }
}

extension DataProvider: WaitingListener {
    package func take(_ changes: [String: ModelChange], context: (any Sendable)?, time: ChangeTime) {
        guard model == nil, let awaited else { return consistencyManager.removeModelUpdatesListener(self) }
        guard case .updated(let models)? = changes[awaited], let model = models.lazy.compactMap({ $0 as? T }).first,
            time.after(lastUpdated)
        else { return }
        let arrival = Arrival(model: model, context: context, time: time)
        if isPaused { arrived = arrival } else { take(arrival) }
    }

    private func take(_ arrival: Arrival) {
        arrived = nil
        lastSet = arrival.time
        changed(to: arrival.model, context: arrival.context, time: arrival.time, revision: ChangeTime())
        publish(.update, arrival.context)
        consistencyManager.register(self, since: nil)
    }
}

extension DataProvider: PausableProvider {
    func pause() { consistencyManager.pauseListener(self) }

    var resumingListener: (any ConsistencyManagerListener)? { self }

    func resume() {
        consistencyManager.resumeListener(self)
        didResume()
    }

    func didResume() {
        if let arrived, model == nil { DeliveryRound.run { take(arrived) } }
    }
}
