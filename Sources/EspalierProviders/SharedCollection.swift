import EspalierConsistency
import EspalierModels
import EspalierRecords
import Synchronization

/// A collection that all providers with its key share: the memory holds one list, whichever
/// provider edits it.
///
/// The providers hold the collection strongly, and so do fetches and saves in progress. The
/// collection listens for updates of its elements. A provider without key has a collection of its
/// own.
@MainActor
final class SharedCollection<T: SimpleModel>: TreeListener {
    let key: String?
    private let manager: DataModelManager
    private(set) var elements: [T] = []
    /// Whether the elements were set or fetched. Until then it is not known whether the cache
    /// contains any.
    private(set) var isKnown = false
    private(set) var lastUpdated = ChangeTime.zero
    /// The time at which all elements were set or requested.
    private var lastSet = ChangeTime.zero
    /// The time at which the elements were requested from the cache, if they were.
    private var lastFetched: ChangeTime?
    private var revision = ChangeTime.zero
    private var log = EditLog()
    private var members: [WeakMember] = []
    /// The time at which the cache was last sent all elements.
    private var lastSent = ChangeTime.zero
    /// The elements that were sent again since then, each with the time.
    private var resent: [String: ChangeTime] = [:]
    /// Whether the cache lacks an edit: one that failed, or that was not to be saved.
    ///
    /// The list then no longer follows what others do to the list in the cache, because that would
    /// take the edit off the screen. The next edit that is saved sends all elements, and so
    /// overwrites what others have done meanwhile.
    private var isCacheBehind = false
    /// Whether the list may have partial models that the cache has merged: when all elements are
    /// sent, they must not replace the merged ones.
    private var hasPartialModels = false
    /// The last write of all elements, and its time. Its outcome is also that of the edits that it
    /// replaces.
    private var lastWhole: (call: WriteCall, time: ChangeTime)?
    /// The number of edits whose outcome is not known yet.
    private var openEdits = 0
    /// The elements of these edits, with the policy of the last edit of each. The cache may lack
    /// them; it has all other elements as they are shown, or newer.
    private var unconfirmed: [String: TreePolicy] = [:]
    /// Those of `unconfirmed` that were read from the cache meanwhile, perhaps without the edit.
    /// They are read again when no edit is open.
    private var unread: Set<String> = []
    /// Whether to read the elements again when no edit is open; nil for no. `true` if a collection
    /// that the cache no longer has then becomes empty.
    private var refreshAfterEdits: Bool?

    private struct WeakMember {
        weak var provider: CollectionDataProvider<T>?
    }

    init(key: String?, _ manager: DataModelManager) {
        self.key = key
        self.manager = manager
    }

    deinit { consistencyManager.listenerDeallocated(at: ObjectIdentifier(self)) }

    private nonisolated var consistencyManager: ConsistencyManager { manager.consistencyManager }

    // MARK: Members

    func join(_ provider: CollectionDataProvider<T>) {
        leave(provider)
        members.append(WeakMember(provider: provider))
    }

    func leave(_ provider: CollectionDataProvider<T>) {
        members.removeAll { $0.provider == nil || $0.provider === provider }
    }

    /// Records a change with all providers except its author. Delegates are called later, by
    /// `notifyMembers`, when all providers have recorded the change.
    ///
    /// - Parameter identifiers: The nodes that changed; empty if any may have.
    private func record(
        _ change: MemberChange<T>, _ identifiers: @autoclosure () -> Set<String> = [],
        _ origin: ChangeOrigin, context: (any Sendable)?,
        except author: CollectionDataProvider<T>? = nil
    ) {
        let others = members.compactMap(\.provider).filter { $0 !== author }
        guard !others.isEmpty else { return }
        let identifiers = identifiers()
        for provider in others {
            provider.collectionChanged(change, identifiers, origin, context: context)
        }
    }

    /// Notifies the delegates of the recorded changes.
    func notifyMembers() {
        DeliveryRound.run { for member in members { member.provider?.notifyDelegate() } }
    }

    // MARK: Setting

    /// Replaces all elements. The author is not notified, and the others by `notifyMembers`, as for
    /// all changes below.
    ///
    /// - Parameters:
    ///   - author: Nil for the network.
    ///   - save: The policy of the write, here and below; nil to save nothing.
    ///   - steps: The steps that lead to the new elements, if they are known.
    func set(
        _ new: [T], by author: CollectionDataProvider<T>?, save: TreePolicy?,
        context: (any Sendable)?, steps: [CollectionChangeInformation]? = nil
    ) {
        noteChange()
        // The comparison serves the others only.
        let hasOthers = members.contains { $0.provider != nil && $0.provider !== author }
        let isSame = !hasOthers || isKnown && areEqual(elements, new)
        replaceAll(with: new, time: ChangeTime())
        consistencyManager.register(self, since: nil)
        // Partial models are for this collection only, until the cache has merged them.
        let merges = key != nil && save?.merges(new) == true
        hasPartialModels = save == .merge && key != nil
        // Posted under the key, too, for listeners that follow whole collections.
        let batch = BatchUpdateModel(
            models: new.map { $0 as any ConsistencyManagerModel }, modelIdentifier: key)
        let isPosted = !merges && !(new.isEmpty && key == nil)
        manager.submit(isPosted ? batch : nil, context: context) {
            if let save { saveAll(context, save, merges: merges) } else { isCacheBehind = true }
        }
        if merges { announce(context) }
        guard !isSame else { return }
        record(
            steps.map { .replaced($0) } ?? .reset, [], author == nil ? .network : .sibling,
            context: context, except: author)
    }

    /// Replaces all elements like `set`, and tells the others by which steps.
    ///
    /// - Returns: The steps; a reset if the elements before are not known.
    @discardableResult
    func replace(
        with new: [T], by author: CollectionDataProvider<T>?, save: TreePolicy?,
        context: (any Sendable)?
    ) -> CollectionChange {
        guard isKnown else {
            set(new, by: author, save: save, context: context)
            return .reset
        }
        let steps = ListDifference(from: elements, to: new).steps
        set(new, by: author, save: save, context: context, steps: steps)
        return .changes(steps)
    }

    /// Replaces all elements with those that the cache had at `fetch`.
    func set(fetched new: [T], at fetch: ChangeTime, by author: CollectionDataProvider<T>) {
        replaceAll(with: new, time: fetch)
        hasPartialModels = false
        lastFetched = fetch
        consistencyManager.register(self, since: fetch)
        if !new.isEmpty { record(.reset, [], .cache, context: nil, except: author) }
    }

    private func replaceAll(with new: [T], time: ChangeTime) {
        elements = new
        isKnown = true
        lastUpdated = time
        lastSet = time
        revision = ChangeTime()
        log.removeAll()
    }

    // MARK: Edits

    /// Applies an edit.
    ///
    /// - Parameter isLast: Whether no other edit of the same call follows.
    func edit(
        _ edit: CollectionEdit<T>, by author: CollectionDataProvider<T>, save: TreePolicy?,
        context: (any Sendable)?, isLast: Bool = true
    ) {
        let resolved = edit.resolved(count: elements.count)
        guard let range = resolved.range else { return }
        let neighbours = neighbours(of: range.lowerBound)
        let removed = elements[range]
        elements.replaceSubrange(range, with: edit.elements)
        logEdit { old, new in
            TreeEdit(resolved.map { $0 as any ConsistencyManagerModel }, from: old, to: new)
        }
        let merges = key != nil && save?.merges(edit.elements) == true
        if save == .merge, key != nil, !edit.elements.isEmpty { hasPartialModels = true }
        post(merges ? [] : edit.elements, context: context) {
            guard let save else { return isCacheBehind = true }
            self.save(edit, neighbours, save, merges: merges, context)
        }
        if isLast { announce(context) }
        record(
            .edit(resolved), Set((removed + edit.elements).compactMap(\.modelIdentifier)),
            .sibling, context: context, except: author)
    }

    /// Notes that an answer to a request of the key that began before is out of date.
    private func noteChange() {
        if let key { manager.order.withLock { $0.note(collection: key, of: T.self) } }
    }

    /// Gives the edited list a revision of its own, and the edit to the log and to the index.
    private func logEdit(_ edit: (_ old: ChangeTime, _ new: ChangeTime) -> TreeEdit) {
        noteChange()
        isKnown = true
        lastUpdated = ChangeTime()
        let old = revision
        let revision = ChangeTime()
        self.revision = revision
        let treeEdit = edit(old, revision)
        log.append(treeEdit)
        consistencyManager.edit(self, treeEdit) { [weak self] in
            self?.log.removeThrough(revision)
        }
    }

    /// Removes the elements in `ranges`, which are in order and apart. A cache that accepts edits
    /// is sent one for each range, or all elements if there are many ranges.
    func remove(
        _ ranges: [Range<Int>], by author: CollectionDataProvider<T>, save: TreePolicy?,
        context: (any Sendable)?
    ) {
        let sendsEdits = manager.cacheQueue.acceptsEdits && ranges.count <= Self.mostRemovals
        for (position, range) in ranges.enumerated().reversed() {
            let isLast = position == 0
            edit(
                .remove(range), by: author, save: sendsEdits || isLast ? save : nil,
                context: context, isLast: isLast)
        }
    }

    /// The most ranges that are removed from a cache one by one.
    private static var mostRemovals: Int { 32 }

    /// Moves an element. Its model is not posted, so a pending update of it is not undone.
    func move(
        _ move: ElementMove, by author: CollectionDataProvider<T>, save: TreePolicy?,
        context: (any Sendable)?
    ) {
        let first = min(move.source, move.destination)
        let range = first..<max(move.source, move.destination) + 1
        let neighbours = neighbours(of: first)
        move.apply(to: &elements)
        logEdit { TreeEdit(move, from: $0, to: $1) }
        manager.submit(nil, context: context) {
            guard save != nil else { return isCacheBehind = true }
            // The cache is sent the elements in between as well. If an update of one of them is
            // pending, it is newer: the cache is then sent all elements again.
            noteSent()
            let (elements, policy) = (Array(elements[range]), policyOfAll)
            self.save(
                CollectionEdit(range: range, elements: elements), neighbours, policy,
                merges: policy.merges(elements), context, isMove: true)
        }
        announce(context)
        record(
            .move(move), Set([elements[move.destination].modelIdentifier].compactMap(\.self)),
            .sibling, context: context, except: author)
    }

    /// Posts the elements under the key for listeners that follow whole collections, without
    /// posting the elements themselves again.
    private func announce(_ context: (any Sendable)?) {
        guard let key else { return }
        consistencyManager.announce(key, context: context) { [weak self] in
            self.map { collection in
                BatchUpdateModel(
                    models: collection.elements.map { $0 as any ConsistencyManagerModel },
                    modelIdentifier: key)
            }
        }
    }

    /// Updates all providers that show one of the models, and saves in the same step.
    func post(_ models: [T], context: (any Sendable)?, _ save: () -> Void) {
        let batch = BatchUpdateModel(models: models.map { $0 as any ConsistencyManagerModel })
        manager.submit(models.isEmpty ? nil : batch, context: context, save)
    }

    private func neighbours(of index: Int) -> CollectionNeighbours {
        func identifier(_ index: Int) -> String? {
            elements.indices.contains(index) ? elements[index].modelIdentifier : nil
        }
        return CollectionNeighbours(
            count: elements.count, previous: identifier(index - 1), current: identifier(index),
            next: identifier(index + 1))
    }

    // MARK: The cache

    /// Notes that the cache is sent elements that it may have newer.
    private func noteSent() {
        lastSent = ChangeTime()
        resent = [:]
    }

    /// The policy of a write of elements that the cache has already had.
    private var policyOfAll: TreePolicy {
        hasPartialModels ? .merge : manager.policy(of: T.self, nil)
    }

    /// Sends all elements.
    ///
    /// - Parameters:
    ///   - policy: The policy; nil for elements that the cache has already had.
    ///   - merges: Whether a node of the elements merges; nil if the caller does not know.
    ///   - keepsModels: Whether elements stay as the cache has them.
    private func saveAll(
        _ context: (any Sendable)?, _ policy: TreePolicy? = nil, merges: Bool? = nil,
        keepsModels: Bool = false
    ) {
        guard let key else { return }
        noteSent()
        isCacheBehind = false
        let policy = policy ?? policyOfAll
        let call = WriteCall(policy: policy, keepsModels: keepsModels)
        lastWhole = (call, lastSent)
        if merges ?? policy.merges(elements) {
            let identifiers = Set(elements.compactMap(\.modelIdentifier))
            call.whenEnded { [manager] _ in manager.refresh(identifiers) }
        }
        call.perform { manager.cacheCollection(elements, forKey: key, context: context) }
    }

    /// Sends all elements because the cache has another list than this one. The elements of edits
    /// that it lacks are sent as models. The others stay as the cache has them: they may have
    /// changed there, and the screens not know yet. All is submitted in one step, so that no update
    /// comes between.
    private func saveAllAsStored(_ context: (any Sendable)?) {
        manager.order.withLock { saveAllAsStored(context, noting: &$0) }
    }

    private func saveAllAsStored(_ context: (any Sendable)?, noting roots: inout RecentRoots) {
        guard manager.follows, !isCacheBehind else { return saveAll(context) }
        let open = elements.filter { $0.modelIdentifier.map { unconfirmed[$0] != nil } ?? false }
        // Other screens may have read them without the edit.
        unread.formUnion(open.compactMap(\.modelIdentifier))
        for policy in TreePolicy.allCases {
            let sent = open.filter { unconfirmed[$0.modelIdentifier ?? ""] == policy }
            guard !sent.isEmpty else { continue }
            if policy.merges(sent) {
                manager.mergeInCache(sent, policy, noting: &roots)
            } else {
                manager.saveTogether(sent, policy, context)
            }
        }
        saveAll(context, keepsModels: true)
    }

    /// Sends all elements because the cache lacks an earlier edit.
    private func saveAll(
        insteadOf edit: CollectionEdit<T>, _ policy: TreePolicy, _ context: (any Sendable)?
    ) {
        let named = edit.elements.filter { $0.modelIdentifier?.isEmpty == false }
        if policy != .merge, policy != policyOfAll, !named.isEmpty {
            // The elements of the edit replace those of the cache; the others are merged.
            manager.saveTogether(named, policy, context)
        }
        saveAll(context)
    }

    /// Sends the edit to a cache that accepts edits and lacks none, and all elements to any other.
    private func save(
        _ edit: CollectionEdit<T>, _ neighbours: CollectionNeighbours, _ policy: TreePolicy,
        merges: Bool, _ context: (any Sendable)?, isMove: Bool = false
    ) {
        guard let key else { return }
        guard manager.cacheQueue.acceptsEdits, !isCacheBehind else {
            return saveAll(insteadOf: edit, policy, context)
        }
        let time = ChangeTime()
        openEdits += 1
        for case let name? in edit.elements.map(\.modelIdentifier) where !isMove {
            unconfirmed[name] = policy
        }
        // The outcome of the edit is that of what is sent instead, if anything is.
        let call = WriteCall.beginCall()
        manager.cacheQueue.edit(
            edit.map { $0 as any SimpleModel }, forKey: key, expecting: neighbours,
            policy: policy, context: context
        ) { outcome in
            // After what follows, which may send all elements.
            defer { self.consistencyManager.afterDelivery { self.endEdit() } }
            let wasReplaced = self.lastWhole.map { $0.time.after(time) } ?? false
            switch outcome {
            case .applied:
                if merges {
                    self.manager.refresh(Set(edit.elements.compactMap(\.modelIdentifier)))
                }
                call?.end(nil)?()
            case .failed(let error):
                // If all elements were sent since, the cache lacks nothing.
                if !wasReplaced { self.isCacheBehind = true }
                call?.end(SaveFailure(names: [key], error: error))?()
            case .outOfDate:
                // Deletions that the cache has already applied remove their elements here first.
                self.consistencyManager.afterDelivery {
                    self.sendAll(context, after: time, call)
                }
            }
        }
    }

    /// Sends all elements after an edit was out of date, unless they were sent since `time`.
    private func sendAll(_ context: (any Sendable)?, after time: ChangeTime, _ call: WriteCall?) {
        if let lastWhole, lastWhole.time.after(time) {
            return lastWhole.call.whenEnded { call?.end($0)?() }
        }
        if let call {
            call.record { saveAllAsStored(context) }
        } else {
            saveAllAsStored(context)
        }
        call?.end(nil)?()
    }

    private func endEdit() {
        openEdits -= 1
        guard openEdits == 0 else { return }
        unconfirmed = [:]
        if !unread.isEmpty { manager.refresh(unread) }
        unread = []
        if let clearing = refreshAfterEdits.take() { refresh(clearing: clearing) }
    }

    /// Saves the consequences of an update for this collection. The author of the update has saved
    /// the update itself.
    ///
    /// - Parameter updated: The elements that the update has replaced.
    private func save(after delivery: Delivery, updated: [T], isRemoval: Bool) {
        // What the cache had need not be stored, and may be out of date there.
        guard let key, !delivery.isFetched else { return }
        if manager.cacheQueue.acceptsEdits {
            // All elements, or this one, were sent after the cache had the update and before this
            // collection had it: they have replaced newer models by older ones in the cache.
            let isBehind = lastSent.after(delivery.time)
            let behind = updated.filter { element in
                isBehind
                    || element.modelIdentifier.flatMap { resent[$0] }?.after(delivery.time) ?? false
            }
            guard isBehind || !behind.isEmpty else { return }
            guard manager.follows, !isCacheBehind else {
                return manager.submit(nil, context: delivery.context) { saveAll(delivery.context) }
            }
            let named = behind.filter { $0.modelIdentifier?.isEmpty == false }
            // The elements are newer than those of the cache. Where the types decide, one may still
            // show less of a node that merges than the cache has.
            let policy = manager.policy(of: T.self, nil)
            manager.submit(nil, context: delivery.context) {
                if !named.isEmpty {
                    // This may replace a newer update that the cache has and this collection has
                    // not. That one is saved again when it is delivered.
                    let now = ChangeTime()
                    for case let name? in named.map(\.modelIdentifier) { resent[name] = now }
                    manager.saveTogether(
                        named, policy == .merge ? .replace : policy, delivery.context)
                }
                if isRemoval, isBehind { saveAll(delivery.context, keepsModels: true) }
            }
        } else if isRemoval {
            let fetch = lastUpdated == lastFetched ? lastFetched : nil
            manager.cacheQueue.save(
                elements, forKey: key, afterDeletionAt: delivery.time, since: fetch,
                context: delivery.context)
        }
    }

    // MARK: Updates of elements

    var base: ListenerBase? {
        isKnown
            ? ListenerBase(
                model: CollectionModel(elements: elements), revision: revision, edits: log.edits)
            : nil
    }

    func currentModel() -> (any ConsistencyManagerModel)? { base?.model }

    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
    {}

    func apply(_ delivery: Delivery) {
        guard delivery.time.after(lastSet), let base = delivery.base.revision else { return }
        let found = changes(delivery.childChanges, base)
        let changes = delivery.isFetched ? found.filter { !isUnconfirmed($0) } : found
        guard !changes.isEmpty else { return }
        for case (let place, let element?) in changes { elements[place] = element }
        let removed = changes.reversed().filter { $0.element == nil }.map(\.place)
        elements.removeSubranges(RangeSet(removed, within: elements))
        let isAsDelivered = base == revision && log.isEmpty && changes.count == found.count
        revision = isAsDelivered ? delivery.revision : ChangeTime()
        for change in changes where change.element == nil {
            log.recordRemoval(at: change.place, revision)
        }
        let steps = changes.map { change in
            change.element == nil
                ? CollectionChangeInformation.delete(index: change.place)
                : .update(index: change.place)
        }
        save(
            after: delivery, updated: changes.compactMap(\.element), isRemoval: !removed.isEmpty)
        record(
            .updates(steps), Self.identifiers(of: delivery.childChanges.values), .update,
            context: delivery.context)
        lastUpdated = max(lastUpdated, delivery.time)
        notifyMembers()
    }

    /// Whether a change that was read from the cache concerns an element of an edit which the cache
    /// may lack. Such a change would undo the edit, also when all elements are sent. The element is
    /// read again after the edit.
    private func isUnconfirmed(_ change: (place: Int, element: T?)) -> Bool {
        guard change.element != nil, let name = elements[change.place].modelIdentifier,
            unconfirmed[name] != nil
        else { return false }
        unread.insert(name)
        return true
    }

    private static func identifiers(of changes: some Sequence<NodeChange>) -> Set<String> {
        changes.reduce(into: []) {
            $0.formUnion($1.updates.changedModelIds)
            $0.formUnion($1.updates.deletedModelIds)
        }
    }

    /// Returns the changes of an update, at the places where the elements are now, last place
    /// first.
    private func changes(
        _ changed: [Int: NodeChange], _ base: ChangeTime
    ) -> [(place: Int, element: T?)] {
        let places = log.places(inListOf: base)
        return changed.compactMap { ordinal, change in
            places.now(ordinal).map { ($0, change.model as? T) }
        }.sorted { $0.place > $1.place }
    }
}

extension SharedCollection: RefreshableCollection {
    func refresh(clearing: Bool) {
        // Elements that were never read are read when a provider asks for them. Edits that the
        // cache lacks would be lost.
        guard let key, isKnown, !isCacheBehind else { return }
        // The cache may lack an edit that is on its way.
        guard openEdits == 0 else {
            refreshAfterEdits = clearing || refreshAfterEdits == true
            return
        }
        let fetch = manager.beginFetch()
        // A screen does not lose what it shows because that has become too old.
        let record = MissRecord(acceptsExpired: true)
        let reply: @MainActor @Sendable ([T]?, (any Error)?) -> Void = { elements, error in
            defer { self.manager.endFetch(fetch) }
            // The collection has changed meanwhile. The next reply has the change.
            guard self.openEdits == 0, fetch.after(self.lastSet), fetch.after(self.lastUpdated)
            else { return self.refresh(clearing: clearing) }
            let isGone = error == nil && (record.reason == nil || record.reason == .notFound)
            guard let new = elements ?? (clearing && isGone ? [] : nil) else { return }
            guard !areEqual(self.elements, new) else { return }
            self.replaceAll(with: new, time: fetch)
            self.hasPartialModels = false
            self.lastFetched = fetch
            self.consistencyManager.register(self, since: fetch)
            self.announce(nil)
            self.record(.reset, [], .cache, context: nil)
            self.notifyMembers()
        }
        record.perform { manager.collectionFromCache(key, context: nil, completion: reply) }
    }
}
