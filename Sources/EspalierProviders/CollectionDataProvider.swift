public import EspalierConsistency
public import EspalierModels
public import EspalierRecords
public import Observation

/// Provides a list of models to a screen: it fetches the list from the cache, lets the screen edit
/// it, and keeps each element consistent.
///
/// ```swift
/// let messages = CollectionDataProvider<Message>(dataModelManager: .shared)
/// messages.fetchDataFromCache(withCacheKey: "inbox") { _, _ in ... }
/// // Every provider of "inbox" shows the message, and the cache contains it.
/// messages.append([message])
/// ```
///
/// Providers with the same key share one collection: an edit by one provider is in all of them at
/// once. An element that is updated anywhere is updated here, and an element that is deleted
/// anywhere leaves the collection. The same element may occur more than once.
///
/// A provider belongs to the main actor. Its functions never wait for the cache or for an update.
/// It is `Observable`, and a `RandomAccessCollection`. An index outside the collection is a
/// programming error and traps, as in arrays.
@preconcurrency @MainActor
open class CollectionDataProvider<T: SimpleModel>: ConsistencyManagerListener, BatchListenable {
    /// The delegate, which is notified of changes that others make. Held weakly.
    open weak var delegate: (any CollectionDataProviderDelegate)?
    /// The manager that the provider shares with others.
    public let dataModelManager: DataModelManager
    /// The batch that this provider belongs to. The batch sets it. Held weakly.
    open weak var batchListener: BatchDataProviderListener?

    var collection: SharedCollection<T>
    /// The elements that are shown instead of those of the collection, during a pause.
    private var paused: PausedCollection<T>?
    /// The time at which this provider last set, edited or requested what it shows. Replies to
    /// earlier fetches are out of date.
    var lastRequested = ChangeTime.zero
    /// The time at which a fetch was last answered by what is shown. Replies of the cache to
    /// earlier fetches are out of date.
    var lastAnswered = ChangeTime.zero
    /// The changes that the delegate has not been notified of, combined.
    private var pending: PendingChange?
    private let registrar = ObservationRegistrar()
    private let subscribers = CollectionSubscribers<T>()

    /// Why the last fetch was a miss. Nil after a hit, and where the cache gives no reason: see
    /// `FetchOutcome.miss`. The completion of `fetchDataFromCache` can read it.
    public internal(set) var missReason: MissReason?

    /// Creates a provider with an empty collection that has no key.
    public init(dataModelManager: DataModelManager) {
        self.dataModelManager = dataModelManager
        collection = SharedCollection(key: nil, dataModelManager)
        collection.join(self)
    }

    // MARK: Data

    /// The elements, in their order; empty until they are set or fetched.
    open var data: [T] {
        registrar.access(self, keyPath: \.data)
        return shown
    }

    /// `data`, without observation.
    var shown: [T] { paused?.elements ?? collection.elements }

    /// The number of elements.
    open var count: Int { data.count }

    /// Returns the element at `index`, which must be in `0 ..< count`.
    open subscript(index: Int) -> T { data[index] }

    /// The key of the collection; `nil` for a collection that is not saved.
    public var cacheKey: String? { collection.key }

    /// The time at which the collection was last set or edited, or at which the last update of an
    /// element was submitted.
    public var lastUpdated: ChangeTime { collection.lastUpdated }

    // MARK: Setting

    /// Shows `data` as the collection under `cacheKey`, saves it, and updates all providers that
    /// show its elements. All providers of the key show it at once. The provider's own delegate is
    /// not called for the change, and is told if the collection can't be stored.
    ///
    /// Partial models that are merged, by this function and by all below, are shown as they are
    /// until the cache has merged them, and by this collection only. Then all screens show the
    /// merged models.
    ///
    /// ```swift
    /// feed.setData(partialPins, cacheKey: "feed", policy: .merge)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The elements, in their order.
    ///   - cacheKey: The key; `nil` for a collection that belongs to this provider alone and is not
    ///     saved.
    ///   - shouldCache: Whether to save the collection. One that is not saved does not show what
    ///     others do to the collection in the cache, until its next edit that is saved.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil
    ///     for the manager's policy, or else what the types say.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Complexity: O(*n*); a comparison of all elements, if other providers have the key.
    open func setData(
        _ data: [T], cacheKey: String?, shouldCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) {
        notifyDelegate()
        if cacheKey != self.cacheKey { join(collection(for: cacheKey)) }
        lastRequested = ChangeTime()
        write {
            collection.set(
                data, by: self, save: saved(shouldCache, policy), context: context)
            if paused != nil { paused = PausedCollection(data) }
        }
        publish(.reset, .own, context)
        collection.notifyMembers()
    }

    /// Returns the collection that the providers of `key` share; a new one without a key.
    func collection(for key: String?) -> SharedCollection<T> {
        guard let key else { return SharedCollection(key: nil, dataModelManager) }
        return dataModelManager.sharedCollections.collection(key, in: dataModelManager)
    }

    /// Shows another collection.
    func join(_ other: SharedCollection<T>) {
        notifyDelegate()
        if other !== collection { collection.leave(self) }
        mutate {
            collection = other
            if paused != nil { paused = PausedCollection(other.elements) }
        }
        other.join(self)
    }

    private func mutate(_ body: () -> Void) {
        registrar.withMutation(of: self, keyPath: \.data, body)
    }

    /// Makes a change of the provider's own, and tells the delegate if it can't be stored.
    private func write(_ body: () -> Void) {
        let call = WriteCall { [weak self] failure in
            guard let self, let failure else { return }
            delegate?.collectionDataProvider(self, failedToSave: failure)
        }
        call.perform { mutate(body) }
    }

    /// Returns the policy of a write; nil if nothing is saved.
    private func saved(_ shouldCache: Bool, _ policy: WritePolicy?) -> TreePolicy? {
        shouldCache ? dataModelManager.policy(of: T.self, policy) : nil
    }

    // MARK: Editing

    /// Inserts elements before the element at `index`, in all providers of the collection and in
    /// the cache. The provider's own delegate is not called for the edit, and is told if the edit
    /// can't be stored.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order. An empty array changes nothing.
    ///   - index: An index in `0 ... count`. Others trap.
    ///   - shouldCache: Whether to save the edit.
    ///   - policy: What becomes of fields that are nil; see `setData`.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Complexity: O(*n*) in the length of the collection, as for arrays; the cache is sent the
    ///   edit alone if it is a `CollectionCacheDelegate`.
    open func insert(
        _ newData: [T], at index: Int, shouldCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) {
        edit(.insert(newData, at: index), saved(shouldCache, policy), context)
    }

    /// Adds elements after the last element. Like `insert` in all else.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order. An empty array changes nothing.
    ///   - shouldCache: Whether to save the edit.
    ///   - policy: What becomes of fields that are nil; see `setData`.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func append(
        _ newData: [T], shouldCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) {
        edit(.append(newData), saved(shouldCache, policy), context)
    }

    /// Puts `element` in place of the one at `index`. Like `insert` in all else.
    ///
    /// - Parameters:
    ///   - element: The new element, which may be another model.
    ///   - index: An index in `0 ..< count`. Others trap.
    ///   - shouldCache: Whether to save the edit.
    ///   - policy: What becomes of fields that are nil; see `setData`.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func update(
        _ element: T, at index: Int, shouldCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) {
        edit(.update(element, at: index), saved(shouldCache, policy), context)
    }

    /// Removes the element at `index` from the collection. The model is not deleted. Like `insert`
    /// in all else.
    ///
    /// - Parameters:
    ///   - index: An index in `0 ..< count`. Others trap.
    ///   - shouldCache: Whether to save the edit.
    ///   - context: A value that is passed to the delegates and to the cache.
    open func remove(at index: Int, shouldCache: Bool = true, context: (any Sendable)? = nil) {
        edit(.remove(at: index), saved(shouldCache, nil), context)
    }

    /// Moves the element at `source`, in all providers of the collection and in the cache. The
    /// provider's own delegate is not called; others are told of a deletion and an insertion.
    ///
    /// The model is not posted again: an update that is on its way reaches the element in its new
    /// place.
    ///
    /// ```swift
    /// tasks.move(from: 3, to: 0)          // the fourth task is now the first
    /// ```
    ///
    /// - Parameters:
    ///   - source: The index of the element, in `0 ..< count`. Others trap.
    ///   - destination: The index of the element after the move, in `0 ..< count`. Others trap.
    ///   - shouldCache: Whether to save the move.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Complexity: O(*d*) in the distance, also for a `CollectionCacheDelegate`. The next update
    ///   of an element costs O(*n*) off the main actor.
    open func move(
        from source: Int, to destination: Int, shouldCache: Bool = true,
        context: (any Sendable)? = nil
    ) {
        notifyDelegate()
        precondition(
            shown.indices.contains(source) && shown.indices.contains(destination),
            "Index out of range: an element moves from and to an index in 0 ..< count.")
        guard source != destination else { return }
        lastRequested = ChangeTime()
        let shownMove = ElementMove(from: source, to: destination)
        write {
            var move: ElementMove? = shownMove
            if let paused {
                move = paused.move(for: shownMove, count: collection.elements.count)
                self.paused?.move(shownMove, as: move)
            }
            if let move, move.source != move.destination {
                collection.move(
                    move, by: self, save: saved(shouldCache, nil), context: context)
            }
        }
        publish(
            .changes(shownMove.steps), .own, context,
            [shown[destination].modelIdentifier].compactMap(\.self))
        collection.notifyMembers()
    }

    /// Removes the elements for which `isRemoved` returns `true`, in all providers of the
    /// collection and in the cache. Their models are not deleted. The provider's own delegate is
    /// not called; others are called once.
    ///
    /// ```swift
    /// inbox.remove(where: { $0.isRead })
    /// ```
    ///
    /// - Parameters:
    ///   - isRemoved: Called once for each element, in order. It must not change the provider.
    ///   - shouldCache: Whether to save the removal.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Returns: The number of removed elements.
    /// - Throws: The error of `isRemoved`; the collection is then unchanged.
    /// - Complexity: O(*n*) for each run of neighbouring elements that is removed.
    @discardableResult
    open func remove(
        where isRemoved: (T) throws -> Bool, shouldCache: Bool = true,
        context: (any Sendable)? = nil
    ) rethrows -> Int {
        notifyDelegate()
        let removed = RangeSet(
            try shown.indices.filter { try isRemoved(shown[$0]) }, within: shown)
        let ranges = Array(removed.ranges)
        guard !ranges.isEmpty else { return 0 }
        lastRequested = ChangeTime()
        let gone = ranges.flatMap { shown[$0] }
        write {
            // Siblings may have moved the elements of a paused provider apart.
            let places = paused.map { $0.ranges(for: removed) } ?? ranges
            self.paused?.remove(removed, from: places)
            guard !places.isEmpty else { return }
            collection.remove(
                places, by: self, save: saved(shouldCache, nil), context: context)
        }
        let steps = ranges.joined().reversed().map {
            CollectionChangeInformation.delete(index: $0)
        }
        publish(.changes(steps), .own, context, gone.compactMap(\.modelIdentifier))
        collection.notifyMembers()
        return steps.count
    }

    /// Shows `newData` under the same key, and tells others by which steps: a view moves the rows
    /// that changed, and keeps the others. Like `setData` in all else.
    ///
    /// Elements are the same if they have the same identifier. As many of them as possible stay in
    /// place.
    ///
    /// ```swift
    /// let change = feed.replaceData(with: refreshed)
    /// if case .changes(let steps) = change { animate(steps) }
    /// ```
    ///
    /// - Parameters:
    ///   - newData: The elements, in their order.
    ///   - shouldCache: Whether to save the collection.
    ///   - policy: What becomes of fields that are nil; see `setData`.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Returns: The steps from the elements that were shown; `.reset` if there were none, or if
    ///   the provider is paused.
    /// - Complexity: O(*n* log *n*), and a comparison of the elements that stay. The cache is sent
    ///   all elements.
    @discardableResult
    open func replaceData(
        with newData: [T], shouldCache: Bool = true, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil
    ) -> CollectionChange {
        notifyDelegate()
        lastRequested = ChangeTime()
        var change = CollectionChange.reset
        write {
            let steps = collection.replace(
                with: newData, by: self, save: saved(shouldCache, policy), context: context)
            if paused == nil { change = steps } else { paused = PausedCollection(newData) }
        }
        publish(change, .own, context)
        collection.notifyMembers()
        return change
    }

    private func edit(
        _ edit: CollectionEdit<T>, _ save: TreePolicy?, _ context: (any Sendable)?
    ) {
        notifyDelegate()
        let shownEdit = edit.resolved(count: shown.count)
        guard let range = shownEdit.range else { return }
        precondition(
            range.lowerBound >= 0 && range.upperBound <= shown.count,
            "Index out of range: insert at 0 ... count; update or remove an element that is there.")
        guard !(range.isEmpty && edit.elements.isEmpty) else { return }
        lastRequested = ChangeTime()
        let changed = shown[range] + edit.elements
        write {
            if let paused {
                let place = paused.range(for: range, count: collection.elements.count)
                let collectionEdit = editCollection(edit, of: range, at: place, save, context)
                self.paused?.edit(shownEdit, as: collectionEdit)
            } else {
                collection.edit(edit, by: self, save: save, context: context)
            }
        }
        publish(
            .changes(shownEdit.steps), .own, context, changed.compactMap(\.modelIdentifier))
        collection.notifyMembers()
    }

    /// Applies an edit of the shown range to the corresponding place in the collection. If the
    /// shown element has left the collection, only its model is updated.
    ///
    /// - Returns: The edit of the collection.
    private func editCollection(
        _ edit: CollectionEdit<T>, of shown: Range<Int>, at place: Range<Int>,
        _ save: TreePolicy?, _ context: (any Sendable)?
    ) -> CollectionEdit<T> {
        if place.isEmpty, !shown.isEmpty {
            let named = edit.elements.filter { $0.modelIdentifier?.isEmpty == false }
            if let save, save.merges(named) {
                dataModelManager.saveMerged(named, save, context: context)
            } else {
                collection.post(edit.elements, context: context) {
                    guard let save else { return }
                    WriteCall(policy: save).perform {
                        for model in named { dataModelManager.save(model, context) }
                    }
                }
            }
            return .remove(place)
        }
        let moved = CollectionEdit(range: place, elements: edit.elements)
        collection.edit(
            edit.range == nil ? edit : moved, by: self, save: save, context: context)
        return moved
    }

    // MARK: Fetching

    /// Shows the collection under a key: as another provider has it, or else as the cache has it.
    ///
    /// If the provider shows this collection already, the completion is called at once, and the
    /// cache is not called. After a miss, a provider that shows nothing has the key all the same:
    /// elements that are appended are saved under it. The delegate is not called.
    ///
    /// - Parameters:
    ///   - cacheKey: The key; `nil` for a cache that finds the collection by `context`.
    ///   - context: A value that is passed to the cache.
    ///   - completion: Called once, on the main actor, with the elements that are shown then; with
    ///     `(nil, nil)` for a miss; or with the cache's error.
    open func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor ([T]?, (any Error)?) -> Void
    ) {
        if let cacheKey, cacheKey == self.cacheKey, collection.isComplete {
            lastAnswered = ChangeTime()
            missReason = nil
            return completion(shown, nil)
        }
        readCache(cacheKey, context, MissRecord(), completion)
    }

    /// Shows the collection under a key, like `fetchDataFromCache`.
    ///
    /// - Parameters:
    ///   - cacheKey: The key; `nil` for a cache that finds the collection by `context`.
    ///   - context: A value that is passed to the cache.
    /// - Returns: The elements that are shown then; `nil` for a miss.
    /// - Throws: The cache's error, or `DataProviderError.noAnswer`. The provider then shows what
    ///   it showed before.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> [T]? {
        try await awaitReply {
            fetchDataFromCache(withCacheKey: cacheKey, context: context, completion: $0)
        }
    }

    // MARK: Changes by others

    func collectionChanged(
        _ change: MemberChange<T>, _ identifiers: Set<String>, _ origin: ChangeOrigin,
        context: (any Sendable)?
    ) {
        // `!` in place: the condition has tested it.
        if paused != nil { return paused!.record(change, identifiers, context: context) }
        enqueue(change.steps, identifiers, origin, context)
    }

    /// Publishes a change to the sequences, and stores it for `notifyDelegate`.
    private func enqueue(
        _ change: CollectionChange, _ identifiers: Set<String>, _ origin: ChangeOrigin,
        _ context: (any Sendable)?
    ) {
        // The shown elements are those after all pending changes.
        let new = PendingChange(change: change, identifiers: identifiers, context: context)
        pending = pending?.followed(by: new) ?? new
        publish(change, origin, context, identifiers)
    }

    /// Notifies observers and the delegate of the pending changes.
    ///
    /// The delegate may edit the collection in turn. Notifications are therefore queued: every
    /// delegate is notified of the changes in their order, and of all changes by others before an
    /// edit of its own provider.
    func notifyDelegate() {
        guard pending != nil else { return }
        DeliveryRound.run {
            while let next = pending {
                pending = nil
                mutate {}
                delegate?.collectionDataProvider(self, didChange: next.identifiers)
                delegate?.collectionDataProviderHasUpdatedData(
                    self, collectionChanges: next.change, context: next.context)
                batchListener?.recordChange(of: self, context: next.context)
            }
        }
    }

    // MARK: Sequences

    /// The elements that are shown, now and after each change.
    ///
    /// A slow reader gets the latest elements and misses those before. Each call begins a sequence
    /// of its own, which ends with the provider.
    public var values: AsyncStream<[T]> {
        subscribers.subscribe(shown, first: shown, buffering: .bufferingNewest(1)) { $0.data }
    }

    /// All changes from now on, including the provider's own. A slow reader misses none: they are
    /// buffered without limit. Each call begins a sequence of its own, which ends with the
    /// provider.
    ///
    /// ```swift
    /// for await change in messages.changes where change.origin != .own { animate(change.change) }
    /// ```
    public var changes: AsyncStream<CollectionDataChange<T>> {
        subscribers.subscribe(shown, buffering: .unbounded) { $0 }
    }

    func publish(
        _ change: CollectionChange, _ origin: ChangeOrigin, _ context: (any Sendable)?,
        _ identifiers: @autoclosure () -> some Sequence<String> = Set<String>()
    ) {
        subscribers.send(shown, change, Set(identifiers()), origin, context)
    }

    // MARK: Pausing

    /// Whether the provider is paused. A paused provider is changed only by its own functions. When
    /// it is resumed, it shows the collection as the others have left it, at once and with one call
    /// of the delegate.
    ///
    /// For a provider in a batch, this is the state of the batch. If the batch has a
    /// `DataProvider`, the provider resumes together with that, a moment later.
    ///
    /// - Complexity: O(*n*) to pause or to resume, with a comparison of all elements if others have
    ///   edited the collection.
    open var isPaused: Bool {
        get { paused != nil }
        set {
            if let batchListener { return batchListener.isPaused = newValue }
            if newValue { pause() } else { showMissed() }
        }
    }

    // MARK: Listening

    /// Returns the elements as one `BatchUpdateModel`. The consistency manager does not call it: it
    /// listens to the collection that the providers share.
    public func currentModel() -> (any ConsistencyManagerModel)? {
        BatchUpdateModel(
            models: shown.map { $0 as any ConsistencyManagerModel }, modelIdentifier: cacheKey)
    }

    /// Does nothing: the consistency manager updates the collection that the providers share.
    public func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {}
}

extension CollectionDataProvider: Observable {}

extension CollectionDataProvider: @MainActor RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { count }
}

extension CollectionDataProvider: PausableProvider {
    func pause() {
        notifyDelegate()
        if paused == nil { paused = PausedCollection(shown) }
    }

    var resumingListener: (any ConsistencyManagerListener)? { nil }

    /// Edits by siblings are shown at once, as the siblings show them.
    var resumesImmediately: Bool { paused?.isEdited ?? false }

    func showMissed() {
        guard let paused else { return }
        self.paused = nil
        guard paused.isTouched, let change = paused.change(to: collection.elements) else { return }
        enqueue(change, change == .reset ? [] : paused.identifiers, .sibling, paused.context)
        notifyDelegate()
    }
}
