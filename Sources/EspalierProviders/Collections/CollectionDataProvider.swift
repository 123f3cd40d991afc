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
/// Providers with the same key are one collection: an edit by one is at once in all of them. An
/// element that is deleted anywhere leaves; one that is updated anywhere is updated here. The same
/// element may stand in it more than once.
///
/// Belongs to the main actor, which no call of it blocks. `Observable`, and a
/// `RandomAccessCollection`. Indexes outside the collection are mistakes of the caller, as with
/// arrays.
@preconcurrency @MainActor
open class CollectionDataProvider<T: SimpleModel>: ConsistencyManagerListener, BatchListenable {
    /// Told when the collection has changed through somebody else. Weak.
    open weak var delegate: (any CollectionDataProviderDelegate)?
    public let dataModelManager: DataModelManager
    /// The batch that this provider is part of. Set by the batch.
    open weak var batchListener: BatchDataProviderListener?

    var collection: SharedCollection<T>
    /// What is shown instead of the collection, while paused.
    private(set) var paused: PausedCollection<T>?
    /// When this provider set, edited or asked for what it shows: what it asked for before is about
    /// the past.
    var lastChosen = ChangeTime.zero
    /// What the delegate has not been told yet.
    private var untold: [News] = []
    private let registrar = ObservationRegistrar()
    let subscribers = Subscribers<CollectionDataChange<T>>()

    private struct News {
        let change: CollectionChange
        let context: (any Sendable)?

        /// Both in one call: what is shown is after both.
        static func merged(_ earlier: News?, _ later: News) -> News? {
            guard let earlier else { return later }
            guard case .changes(let steps) = earlier.change, case .changes(let more) = later.change
            else {
                return News(change: .reset, context: later.context)
            }
            return News(change: .changes(steps + more), context: later.context)
        }
    }

    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
        collection = SharedCollection(key: nil, dataModelManager)
        collection.join(self)
    }

    // MARK: Data

    /// The elements, in order; none while nothing was set or fetched.
    open var data: [T] {
        registrar.access(self, keyPath: \.data)
        return shown
    }

    /// As `data`, without being observed.
    var shown: [T] { paused?.elements ?? collection.elements }

    open var count: Int { data.count }

    open subscript(index: Int) -> T { data[index] }

    /// The key of the collection; nil for one that is not saved.
    public var cacheKey: String? { collection.key }

    /// When the collection was set, edited or updated.
    public var lastUpdated: ChangeTime { collection.lastUpdated }

    // MARK: Setting

    /// Shows `data` as the collection under `cacheKey`, saves it, and posts its elements to
    /// everyone who shows them. All providers of the key show it at once.
    ///
    /// - Parameters:
    ///   - cacheKey: nil for a collection of this provider's own, which is not saved.
    ///   - shouldCache: false to leave the cache as it is.
    ///   - context: handed to delegates and to the cache.
    open func setData(
        _ data: [T], cacheKey: String?, shouldCache: Bool = true, context: (any Sendable)? = nil
    ) {
        hear()
        let previous = followed
        if cacheKey != self.cacheKey { join(collection(for: cacheKey)) }
        lastChosen = ChangeTime()
        change {
            collection.set(data, by: self, save: shouldCache, context: context)
            if paused != nil { paused = PausedCollection(data) }
        }
        publish(.reset, .own, context, previous)
        collection.tellMembers()
    }

    /// The collection that providers of the key share; one of its own without a key.
    func collection(for key: String?) -> SharedCollection<T> {
        guard let key else { return SharedCollection(key: nil, dataModelManager) }
        return dataModelManager.sharedCollections.collection(key, in: dataModelManager)
    }

    /// Shows `other` from now on, as it is now.
    func join(_ other: SharedCollection<T>) {
        hear()
        if other !== collection { collection.leave(self) }
        change {
            collection = other
            if paused != nil { paused = PausedCollection(other.elements) }
        }
        other.join(self)
    }

    private func change(_ body: () -> Void) {
        registrar.withMutation(of: self, keyPath: \.data, body)
    }

    // MARK: Editing

    /// Inserts before the element at `index`; at `count`, behind the last one.
    open func insert(
        _ newData: [T], at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil
    ) {
        edit(index..<index, newData, .insert, shouldCache, context)
    }

    /// Inserts behind the last element.
    open func append(_ newData: [T], shouldCache: Bool = true, context: (any Sendable)? = nil) {
        hear()
        edit(shown.count..<shown.count, newData, .append, shouldCache, context)
    }

    /// Puts `element` in place of the one at `index`; it may be another model.
    open func update(
        _ element: T, at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil
    ) {
        edit(index..<index + 1, [element], .update, shouldCache, context)
    }

    /// Takes the element at `index` out of the collection. The model is not deleted.
    open func remove(at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil) {
        edit(index..<index + 1, [], .remove, shouldCache, context)
    }

    private func edit(
        _ range: Range<Int>, _ new: [T], _ kind: EditKind, _ save: Bool, _ context: (any Sendable)?
    ) {
        hear()
        precondition(
            range.lowerBound >= 0 && range.upperBound <= shown.count,
            "Index out of range: insert at 0 ... count; update or remove an element that is there.")
        guard !(range.isEmpty && new.isEmpty) else { return }
        lastChosen = ChangeTime()
        let previous = followed
        change {
            if let paused {
                let splice = edit(where: paused.range(for: range, count: collection.elements.count))
                self.paused?.edit(range, new, as: splice)
            } else {
                collection.edit(range, new, kind, by: self, save: save, context: context)
            }
        }
        publish(
            .changes(kind.changes(CollectionSplice(range: range, count: new.count))), .own, context,
            previous)
        collection.tellMembers()

        /// Edits the collection at the place that is shown. Where what is shown is not there any
        /// more, the model alone is new.
        func edit(where there: Range<Int>) -> CollectionSplice {
            if there.isEmpty, !range.isEmpty {
                collection.post(new, context: context) {
                    if save { for model in new { dataModelManager.save(model, context) } }
                }
                return CollectionSplice(range: there, count: 0)
            }
            let kind =
                kind == .append && there.lowerBound < collection.elements.count ? .insert : kind
            collection.edit(there, new, kind, by: self, save: save, context: context)
            return CollectionSplice(range: there, count: new.count)
        }
    }

    // MARK: Fetching

    /// Shows the collection under a key: as a living provider has it, or as the cache does.
    ///
    /// Where it is shown already, nobody is asked, and the completion is called at once. After a
    /// miss the provider has the key all the same, if it shows nothing yet: what is appended is
    /// saved under it. The delegate is not called.
    ///
    /// - Parameters: - cacheKey: nil for a cache that goes by the context. - completion: called
    ///   once, on the main actor, with what is shown then; with neither elements nor error for a
    ///   miss.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor ([T]?, (any Error)?) -> Void
    ) {
        load(cacheKey, context, completion)
    }

    // MARK: What others do

    func wasReset(_ origin: ChangeOrigin, context: (any Sendable)?, _ previous: [T]?) {
        // It is there: see the condition.
        if paused != nil { return paused!.reset(context: context) }
        note(.reset, origin, context, previous)
    }

    func wasEdited(
        _ splice: CollectionSplice, _ kind: EditKind, context: (any Sendable)?, _ previous: [T]?
    ) {
        if paused != nil { return paused!.edited(splice, context: context) }  // As above.
        note(.changes(kind.changes(splice)), .sibling, context, previous)
    }

    func wasChanged(
        _ steps: [CollectionChangeInformation], context: (any Sendable)?, _ previous: [T]?
    ) {
        if paused != nil { return paused!.changed(steps, context: context) }  // As above.
        note(.changes(steps), .update, context, previous)
    }

    /// The elements have changed; who observes them is told by `hear`.
    private func note(
        _ change: CollectionChange, _ origin: ChangeOrigin, _ context: (any Sendable)?,
        _ previous: [T]?
    ) {
        untold.append(News(change: change, context: context))
        publish(change, origin, context, previous)
    }

    /// Tells the delegate what it does not know yet. It may edit the collection in turn: so the
    /// news stand in line, that everyone hears of changes in their order, and of all others before
    /// an edit of this provider's own.
    func hear() {
        guard !untold.isEmpty else { return }
        DeliveryRound.run {
            while let news = untold.reduce(nil, News.merged) {
                untold = []
                change {}
                delegate?.collectionDataProviderHasUpdatedData(
                    self, collectionChanges: news.change, context: news.context)
                batchListener?.note(self, context: news.context)
            }
        }
    }

    /// The elements, for those who follow changes with what was before; nil when nobody does, which
    /// saves a copy.
    private var followed: [T]? { subscribers.isEmpty ? nil : shown }

    func publish(
        _ change: CollectionChange, _ origin: ChangeOrigin, _ context: (any Sendable)?,
        _ previous: [T]?
    ) {
        guard !subscribers.isEmpty else { return }
        subscribers.send(
            CollectionDataChange(
                previous: previous ?? [], data: shown, change: change, origin: origin,
                context: context))
    }

    // MARK: Pausing

    /// While true, what is shown only changes by this provider's own functions. Set to false, the
    /// collection as the others have left it is shown at once, with one call of the delegate. The
    /// state of the batch, for a provider that is part of one.
    open var isPaused: Bool {
        get { paused != nil }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { showMissed() }
        }
    }

    // MARK: Listening

    open func currentModel() -> (any ConsistencyManagerModel)? {
        BatchUpdateModel(
            models: shown.map { $0 as any ConsistencyManagerModel }, modelIdentifier: cacheKey)
    }

    open func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {}
}

extension CollectionDataProvider: Observable {}

extension CollectionDataProvider: PausableProvider {
    func pause() {
        hear()
        if paused == nil { paused = PausedCollection(shown) }
    }

    var resumingListener: (any ConsistencyManagerListener)? { nil }

    /// What siblings edited is shown at once, as they show it.
    var resumesAtOnce: Bool { paused?.isEdited ?? false }

    func showMissed() {
        guard let paused else { return }
        self.paused = nil
        guard paused.isTouched, let change = paused.change(to: collection.elements) else { return }
        note(change, .sibling, paused.context, paused.elements)
        hear()
    }
}
