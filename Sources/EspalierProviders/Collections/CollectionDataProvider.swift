public import EspalierConsistency
public import EspalierModels
public import Observation

/// Provides a list of models to a screen: fetched, edited, and kept consistent element by element.
///
/// ```swift
/// let messages = CollectionDataProvider<Message>(dataModelManager: .shared)
/// messages.fetchDataFromCache(withCacheKey: "inbox") { _, _ in ... }
/// messages.append([message])                  // every provider of "inbox" shows it, and the cache has it
/// ```
///
/// Providers with the same key are one collection: an edit by one is at once in all of them. An element that is deleted anywhere
/// leaves; one that is updated anywhere is updated here. The same element may stand in it more than once.
///
/// Belongs to the main actor, which no call of it blocks. `Observable`, and a `RandomAccessCollection`. Indexes outside the
/// collection are mistakes of the caller, as with arrays.
@preconcurrency @MainActor
open class CollectionDataProvider<T: SimpleModel>: ConsistencyManagerListener, BatchListenable {
    /// Told when the collection has changed through somebody else. Weak.
    public weak var delegate: (any CollectionDataProviderDelegate)?
    public let dataModelManager: DataModelManager
    /// The batch that this provider is part of. Set by the batch.
    public weak var batchListener: BatchDataProviderListener?

    var collection: SharedCollection<T>
    /// What is shown instead of the collection, while paused.
    var paused: PausedCollection<T>?
    private let registrar = ObservationRegistrar()
    let subscribers = Subscribers<CollectionDataChange<T>>()

    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
        collection = SharedCollection(key: nil, dataModelManager)
    }

    // MARK: Data

    /// The elements, in order; none while nothing was set or fetched.
    open var data: [T] {
        registrar.access(self, keyPath: \.data)
        return shown
    }

    /// As `data`, without being observed.
    var shown: [T] { paused?.elements ?? collection.elements }

    public var count: Int { data.count }

    public subscript(index: Int) -> T { data[index] }

    /// The key of the collection; nil for one that is not saved.
    public var cacheKey: String? { collection.key }

    /// When the collection was set, edited or updated.
    public var lastUpdated: ChangeTime { collection.lastUpdated }

    // MARK: Setting

    /// Shows `data` as the collection under `cacheKey`, saves it, and posts its elements to everyone who shows them. All
    /// providers of the key show it at once.
    ///
    /// - Parameters:
    ///   - cacheKey: nil for a collection of this provider's own, which is not saved.
    ///   - shouldCache: false to leave the cache as it is.
    ///   - context: handed to delegates and to the cache.
    open func setData(_ data: [T], cacheKey: String?, shouldCache: Bool = true, context: (any Sendable)? = nil) {
        let previous = shown
        if cacheKey == nil || cacheKey != self.cacheKey { join(target(cacheKey)) }
        change {
            collection.set(data, by: self, save: shouldCache, context: context)
            if paused != nil { paused = PausedCollection(data) }
        }
        publish(.reset, .own, context, previous)
    }

    private func target(_ key: String?) -> SharedCollection<T> {
        guard let key else { return SharedCollection(key: nil, dataModelManager) }
        return dataModelManager.sharedCollections.collection(key, in: dataModelManager)
    }

    func join(_ other: SharedCollection<T>) {
        guard other !== collection else { return }
        collection.leave(self)
        change {
            collection = other
            if paused != nil { paused = PausedCollection(other.elements) }
        }
        other.join(self)
    }

    func change(_ body: () -> Void) { registrar.withMutation(of: self, keyPath: \.data, body) }

    // MARK: What others do

    func wasReset(_ origin: ChangeOrigin, context: (any Sendable)?, _ previous: [T]?) {
        if paused != nil { return paused!.reset(context: context) }  // It is there: see the condition.
        tell(.reset, origin, context, previous)
    }

    func wasEdited(
        _ splice: CollectionSplice, _ kind: EditKind, context: (any Sendable)?, _ previous: [T]?
    ) {
        if paused != nil { return paused!.edited(splice, context: context) }  // As above.
        tell(.changes(kind.changes(splice)), .sibling, context, previous)
    }

    func wasChanged(_ steps: [CollectionChangeInformation], context: (any Sendable)?, _ previous: [T]?) {
        if paused != nil { return paused!.changed(steps, context: context) }  // As above.
        tell(.changes(steps), .update, context, previous)
    }

    private func tell(
        _ change: CollectionChange, _ origin: ChangeOrigin, _ context: (any Sendable)?, _ previous: [T]?
    ) {
        // The elements have changed already.
        self.change {}
        delegate?.collectionDataProviderHasUpdatedData(self, collectionChanges: change, context: context)
        batchListener?.note(self, context: context)
        publish(change, origin, context, previous)
    }

    func publish(
        _ change: CollectionChange, _ origin: ChangeOrigin, _ context: (any Sendable)?, _ previous: [T]?
    ) {
        guard !subscribers.isEmpty else { return }
        subscribers.send(
            CollectionDataChange(
                previous: previous ?? [], data: shown, change: change, origin: origin, context: context))
    }

    // MARK: Pausing

    /// While true, what is shown only changes by this provider's own functions. Set to false, the collection as the others have
    /// left it is shown at once, with one call of the delegate. The state of the batch, for a provider that is part of one.
    open var isPaused: Bool {
        get { batchListener?.isPaused ?? (paused != nil) }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { didResume() }
        }
    }

    // MARK: Listening

    open func currentModel() -> (any ConsistencyManagerModel)? {
        BatchUpdateModel(models: shown.map { $0 as any ConsistencyManagerModel }, modelIdentifier: cacheKey)
    }

    open func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?) {}
}

extension CollectionDataProvider: Observable {}

extension CollectionDataProvider: PausableProvider {
    func pause() { if paused == nil { paused = PausedCollection(shown) } }

    var resumingListener: (any ConsistencyManagerListener)? { nil }

    func didResume() {
        guard let paused else { return }
        self.paused = nil
        guard paused.isTouched, let change = paused.change(to: collection.elements) else { return }
        DeliveryRound.run { tell(change, .sibling, paused.context, paused.elements) }
    }
}
