public import EspalierConsistency
public import EspalierModels
public import EspalierRecords
public import Observation

/// Provides one model to a screen: it fetches the model from the cache, lets the screen set it, and
/// keeps it consistent with every other provider.
///
/// ```swift
/// let provider = DataProvider<Person>(dataModelManager: .shared)
/// provider.delegate = self
/// provider.fetchDataFromCache(withCacheKey: "Person:1") { person, error in ... }
/// provider.setData(personFromServer)                  // shown everywhere, and saved
/// ```
///
/// A provider belongs to the main actor. Its functions never wait for the cache or for an update.
/// It is `Observable`: views that read `data` follow it. The manager holds providers weakly.
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

    /// `data`, without observation.
    var model: T?
    /// The time at which the model was set, or at which an update of it was submitted.
    public private(set) var lastUpdated = ChangeTime.zero
    /// The time at which the model was set or requested. Updates before it are out of date.
    private var lastSet = ChangeTime.zero
    /// The time at which the model was set, or at which the last fetch that replied was begun.
    /// Replies to earlier fetches are out of date.
    var lastRequested = ChangeTime.zero
    /// The time at which a fetch was last answered by what is shown. Replies of the cache to
    /// earlier fetches are out of date.
    var lastAnswered = ChangeTime.zero
    private var revision = ChangeTime.zero
    /// The identifier of the model that the provider waits for.
    private var awaitedIdentifier: String?
    /// Whether the provider waits only because its model was deleted, not because the app has set
    /// `modelIdentifier`.
    private var waitsForDeleted = false
    /// The key of the last fetch that has read the cache.
    private var lastKey: String?
    /// The awaited model, if it arrived during a pause. The consistency manager records the updates
    /// of it.
    private var arrival: Arrival?
    /// Why the last fetch was a miss. Nil after a hit, and where the cache gives no reason: see
    /// `FetchOutcome.miss`.
    ///
    /// The completion of `fetchDataFromCache` can read it:
    ///
    /// ```swift
    /// provider.fetchDataFromCache(withCacheKey: "Person:1") { person, _ in
    ///     if person == nil { load(because: provider.missReason) }
    /// }
    /// ```
    public internal(set) var missReason: MissReason?
    /// The delivery that `modelUpdated` is called for.
    private var delivery: Delivery?
    private let registrar = ObservationRegistrar()
    private let subscribers = Subscribers<DataChange<T>>()

    private struct Arrival {
        let model: T
        let context: (any Sendable)?
        let time: ChangeTime
    }

    /// Creates a provider without a model.
    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
    }

    deinit { consistencyManager.listenerDeallocated(at: ObjectIdentifier(self)) }

    private nonisolated var consistencyManager: ConsistencyManager {
        dataModelManager.consistencyManager
    }

    // MARK: Data

    /// The model; `nil` if there is none, or if it was deleted.
    open var data: T? {
        registrar.access(self, keyPath: \.data)
        return model
    }

    /// The identifier of the model or, if there is no model, of the model that the provider waits
    /// for.
    ///
    /// Set it while there is no model to wait for one. The provider then shows the first model of
    /// this type with this identifier that is posted, and notifies the delegate. Setting it has no
    /// effect while there is a model.
    open var modelIdentifier: String? {
        get { model == nil ? awaitedIdentifier : model?.modelIdentifier }
        set {
            guard model == nil else { return }
            if newValue != awaitedIdentifier { arrival = nil }
            awaitedIdentifier = newValue
            waitsForDeleted = false
            if newValue == nil {
                consistencyManager.removeModelUpdatesListener(self)
            } else {
                consistencyManager.addModelUpdatesListener(self)
            }
        }
    }

    /// Shows `data`, saves it under its identifier, and updates all providers that show the same
    /// model or a model in it. The provider's own delegate is not called for the change. It is told
    /// if the model can't be stored, and `save` waits for that.
    ///
    /// - Parameters:
    ///   - data: The new model. `nil` shows nothing, and deletes nothing. A provider that shows no
    ///     model goes on waiting for one; a provider that shows a model does not wait for it again.
    ///   - updateCache: Whether to save the model.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil
    ///     for the manager's policy, or else what the types say. A model that merges is shown like
    ///     one that is given to `merge`. If a node below it merges, the other providers get the
    ///     model when it is stored.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func setData(
        _ data: T?, updateCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) {
        let policy = dataModelManager.policy(of: T.self, policy)
        if let data, updateCache, dataModelManager.merges(data, policy) {
            return policy == .merge
                ? merge(data, context: context) : saveMerged(data, policy, context)
        }
        let previous = model
        let wasWaiting = model == nil
        lastSet = ChangeTime()
        lastRequested = lastSet
        replaceModel(with: data, time: lastSet, revision: nil)
        if data != nil || !wasWaiting { stopWaiting() }
        publish(.own, context, from: previous)
        guard let data else { return }
        consistencyManager.register(self, since: nil)
        write(policy) {
            dataModelManager.submit(data, context: context) {
                if updateCache { dataModelManager.save(data, context) }
            }
        }
    }

    /// Runs `body`, which saves something, and tells the delegate if that fails.
    private func write(_ policy: TreePolicy, _ body: () -> Void) {
        let call = WriteCall(policy: policy) { [weak self] failure in
            guard let self, let failure else { return }
            delegate?.dataProvider(self, failedToSave: failure)
        }
        call.perform(body)
    }

    /// Merges a partial model into what the cache has, and shows the merged model.
    ///
    /// A field that is nil keeps its value. If the provider shows a model with the same identifier,
    /// it goes on showing that until the merged model is stored; otherwise it shows `data` until
    /// then. All other providers get the merged model only. See `DataModelManager.mergeModels`.
    ///
    /// ```swift
    /// provider.merge(partialPersonFromServer)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The partial model. It must have an identifier.
    ///   - context: A value that is passed to the cache where it can't merge.
    open func merge(_ data: T, context: (any Sendable)? = nil) {
        guard dataModelManager.follows, data.modelIdentifier?.isEmpty == false else {
            return setData(data, policy: .replace, context: context)
        }
        saveMerged(data, .merge, context)
    }

    /// Saves a model that the cache merges, and shows what it makes of it.
    private func saveMerged(_ data: T, _ policy: TreePolicy, _ context: (any Sendable)?) {
        lastRequested = ChangeTime()
        // A root that is replaced is shown at once: the app may base its next change on it.
        // Otherwise updates that are on their way still arrive.
        if policy == .ofTypes || model?.modelIdentifier != data.modelIdentifier {
            lastSet = lastRequested
            let previous = model
            replaceModel(with: data, time: lastSet, revision: nil)
            stopWaiting()
            publish(.own, context, from: previous)
            consistencyManager.register(self, since: nil)
        }
        write(policy) {
            dataModelManager.saveMerged([data], policy, context: context)
        }
    }

    private func replaceModel(with data: T?, time: ChangeTime, revision: ChangeTime?) {
        registrar.withMutation(of: self, keyPath: \.data) { model = data }
        arrival = nil
        lastUpdated = time
        self.revision = revision ?? ChangeTime()
    }

    // MARK: Fetching

    /// Reads a model from the cache and shows it, unless the provider shows something newer by
    /// then.
    ///
    /// If the key is the identifier of the model that is shown, the completion is called at once,
    /// and the cache is not called. The delegate is not called.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model, or another key under which it was saved; `nil`
    ///     for a cache that finds the model by `context`.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main actor, with the model that is shown then; with
    ///     `(nil, nil)` for a miss; or with the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        fetchDataFromCache(
            withCacheKey: cacheKey, listenToModelIdentifier: false, context: context,
            completion: completion)
    }

    /// Reads a model from the cache and shows it; waits for the model if there is none.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model; `nil` for a cache that finds the model by
    ///     `context`.
    ///   - listenToModelIdentifier: Whether to wait for the model, as if `modelIdentifier` had been
    ///     set to the key.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main actor, with the model that is shown then; with
    ///     `(nil, nil)` for a miss; or with the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, listenToModelIdentifier: Bool,
        context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        if let cacheKey, let model, model.modelIdentifier == cacheKey {
            lastAnswered = ChangeTime()
            missReason = nil
            return completion(model, nil)
        }
        endWaitForDeleted(before: cacheKey)
        // The model may be posted while the cache reads, so waiting begins here.
        if listenToModelIdentifier, model == nil { modelIdentifier = cacheKey }
        readCache(cacheKey, context, MissRecord(), completion)
    }

    /// Reads a model from the cache and shows it, like `fetchDataFromCache`.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model, or another key under which it was saved; `nil`
    ///     for a cache that finds the model by `context`.
    ///   - context: A value that is passed to the cache.
    /// - Returns: The model that is shown then; `nil` for a miss.
    /// - Throws: The cache's error, or `DataProviderError.noAnswer`. The provider then shows what
    ///   it showed before.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> T? {
        try await awaitReply {
            fetchDataFromCache(withCacheKey: cacheKey, context: context, completion: $0)
        }
    }

    /// Shows a model that was requested at `fetch`, with all updates that were posted since.
    func show(fetched data: T, at fetch: ChangeTime, _ origin: ChangeOrigin = .cache) {
        lastSet = fetch
        let previous = model
        replaceModel(with: data, time: fetch, revision: nil)
        stopWaiting()
        publish(origin, nil, from: previous)
        consistencyManager.register(self, since: fetch)
    }

    // MARK: Sequences

    /// The model that is shown, now and after each change.
    ///
    /// A slow reader gets the latest model and misses those before. Each call begins a sequence of
    /// its own, which ends with the provider.
    ///
    /// ```swift
    /// for await person in provider.values { title = person?.name }
    /// ```
    public var values: AsyncStream<T?> {
        subscribers.subscribe(first: model, buffering: .bufferingNewest(1)) { $0.data }
    }

    /// All changes from now on, including the provider's own. A slow reader misses none: they are
    /// buffered without limit. Each call begins a sequence of its own, which ends with the
    /// provider.
    public var changes: AsyncStream<DataChange<T>> {
        subscribers.subscribe(buffering: .unbounded) { $0 }
    }

    /// Sends a change to the sequences.
    ///
    /// - Parameters:
    ///   - previous: The model before the change.
    ///   - updates: The changed nodes; nil if the tree was replaced as a whole.
    @discardableResult
    private func publish(
        _ origin: ChangeOrigin, _ context: (any Sendable)?, from previous: T?,
        _ updates: ModelUpdates? = nil
    ) -> DataChange<T> {
        let identifiers =
            updates.map { $0.changedModelIds.union($0.deletedModelIds) }
            ?? Set([previous, model].compactMap { $0?.modelIdentifier })
        let change = DataChange(
            previous: previous, data: model, changedIdentifiers: identifiers, origin: origin,
            context: context)
        subscribers.send(change)
        return change
    }

    // MARK: Pausing

    /// Whether the provider is paused. A paused provider is changed only by its own functions. When
    /// it is resumed, it shows everything that it missed in one change.
    ///
    /// For a provider in a batch, this is the state of the batch.
    open var isPaused: Bool {
        get { consistencyManager.isListenerPaused(self) }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { resume() }
        }
    }

    // MARK: Listening

    /// Returns the model, for a `BatchListener`. The consistency manager itself reads the model
    /// together with its revision, so a subclass can't put another model in its place.
    public func currentModel() -> (any ConsistencyManagerModel)? { model }

    /// Shows `model`, and notifies the delegate. Called for each update of the shown model that is
    /// newer than it, but not for the arrival of an awaited model.
    ///
    /// An override may pass another model of the same type and identifier on. If it does not call
    /// this function, the provider does not show the update.
    open func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        guard model == nil || model is T else { return }
        guard let delivery else {
            let previous = self.model
            replaceModel(with: model as? T, time: ChangeTime(), revision: nil)
            return notify(publish(.update, nil, from: previous, updates), context)
        }
        self.delivery = nil
        update(
            to: model as? T, updates, context: delivery.context, time: delivery.time,
            revision: isDelivered(model, by: delivery) ? delivery.revision : ChangeTime())
    }

    /// Returns whether `model` is the model of the delivery, whose tree the index contains.
    private func isDelivered(_ model: (any ConsistencyManagerModel)?, by delivery: Delivery) -> Bool
    {
        // Only an override can pass another model on.
        guard type(of: self) != DataProvider<T>.self else { return true }
        guard let model, let delivered = delivery.model else { return delivery.model == nil }
        return ListenerBase.areSame(model, delivered)
    }

    /// Does nothing: the consistency manager delivers awaited models with their times in another
    /// way.
    public func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?
    ) {}

    private func update(
        to model: T?, _ updates: ModelUpdates?, context: (any Sendable)?, time: ChangeTime,
        revision: ChangeTime
    ) {
        let previous = self.model
        let deleted = model == nil ? previous?.modelIdentifier : nil
        replaceModel(with: model, time: time, revision: revision)
        // A provider that waited for the deleted model waits for it again. Beside a cache that
        // others write, every provider does: it shows what a read gives, also when one of them
        // stores the model anew.
        if let deleted, deleted == awaitedIdentifier || dataModelManager.follows {
            if deleted != awaitedIdentifier { waitsForDeleted = true }
            awaitedIdentifier = deleted
            consistencyManager.addModelUpdatesListener(self)
        }
        notify(publish(.update, context, from: previous, updates), context)
    }

    private func notify(_ change: DataChange<T>, _ context: Any?) {
        delegate?.dataProvider(self, didChange: change)
        delegate?.dataProviderHasUpdatedData(self, context: context)
        batchListener?.recordChange(of: self, context: context)
    }

    /// Ends the wait for a deleted model before something else is fetched.
    func endWaitForDeleted(before cacheKey: String?) {
        let isOther = cacheKey != awaitedIdentifier && cacheKey != lastKey
        lastKey = cacheKey
        if model == nil, waitsForDeleted, isOther { modelIdentifier = nil }
    }

    private func stopWaiting() {
        guard awaitedIdentifier != nil, awaitedIdentifier != model?.modelIdentifier else { return }
        awaitedIdentifier = nil
        consistencyManager.removeModelUpdatesListener(self)
    }
}

extension DataProvider: Observable {}

extension DataProvider: TreeListener {
    package var base: ListenerBase? {
        if let model { return ListenerBase(model: model, revision: revision) }
        return arrival.map { ListenerBase(model: $0.model, revision: nil) }
    }

    package func apply(_ delivery: Delivery) {
        guard delivery.model == nil || delivery.model is T else { return }
        let new = delivery.model as? T
        if model == nil {
            arrival = nil
            if let new { show(Arrival(model: new, context: delivery.context, time: delivery.time)) }
            return
        }
        // The shown model is newer, or was fetched since and catches up on its own.
        guard delivery.time.after(lastSet),
            delivery.base.revision == nil || delivery.base.revision == revision
        else { return }
        self.delivery = delivery
        modelUpdated(delivery.model, updates: delivery.updates, context: delivery.context)
        self.delivery = nil
        // Only the tree of a pause has no revision. A model that was deleted during the pause may
        // have been written again before the provider waited for it.
        if delivery.base.revision == nil, model == nil, let awaitedIdentifier {
            dataModelManager.refresh([awaitedIdentifier])
        }
        // An override has refused the update or changed it. Later ones must find what is shown.
        if revision != delivery.revision, model != nil {
            consistencyManager.register(self, since: nil)
        }
    }
}

extension DataProvider: WaitingListener {
    package var awaited: ShownNode? {
        guard model == nil, let awaitedIdentifier else { return nil }
        return ShownNode(identifier: awaitedIdentifier, type: T.self)
    }

    package func adoptModel(
        from changes: [String: ModelChange], context: (any Sendable)?, time: ChangeTime
    ) -> Bool {
        guard model == nil, let awaitedIdentifier else {
            consistencyManager.removeModelUpdatesListener(self)
            return false
        }
        switch changes[awaitedIdentifier] {
        case .updated(let models):
            guard let model = models.lazy.compactMap({ $0 as? T }).first, time.after(lastUpdated)
            else { return false }
            let new = Arrival(model: model, context: context, time: time)
            if isPaused { arrival = new } else { show(new) }
            return true
        case .deleted: arrival = nil
        case nil: break
        }
        return false
    }

    private func show(_ arrival: Arrival) {
        lastSet = arrival.time
        lastRequested = arrival.time
        update(
            to: arrival.model, nil, context: arrival.context, time: arrival.time,
            revision: ChangeTime())
    }
}

extension DataProvider: PausableProvider {
    func pause() { consistencyManager.pauseListener(self) }

    var resumingListener: (any ConsistencyManagerListener)? { self }
    var resumesImmediately: Bool { false }

    func resume() {
        consistencyManager.resume([self]) { [weak self] in self?.showMissed() }
    }

    /// Shows a model that arrived during the pause, unless the consistency manager has delivered a
    /// later version of it.
    func showMissed() {
        guard let arrival, model == nil, !isPaused else { return }
        DeliveryRound.run { show(arrival) }
    }
}
