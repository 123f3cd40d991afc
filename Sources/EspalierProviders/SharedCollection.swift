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
    /// Whether the elements are all of the list, and not edits of one that was not read.
    var isComplete: Bool { isKnown && cacheState.unreadReason == nil }
    private(set) var lastUpdated = ChangeTime.zero
    /// The time at which all elements were set or requested.
    private var lastSet = ChangeTime.zero
    /// The time at which the elements were requested from the cache, if they were.
    private var lastFetched: ChangeTime?
    private var revision = ChangeTime.zero
    private var log = EditLog()
    private var members: [WeakMember] = []
    /// Whether the list may have partial models that the cache has merged: when all elements are
    /// sent, they must not replace the merged ones.
    private var hasPartialModels = false
    private var cacheState = CollectionCacheState<T>()

    private struct WeakMember {
        weak var provider: CollectionDataProvider<T>?
    }

    init(key: String?, _ manager: DataModelManager) {
        self.key = key
        self.manager = manager
    }

    deinit { consistencyManager.listenerDeallocated(at: ObjectIdentifier(self)) }

    private nonisolated var consistencyManager: ConsistencyManager { manager.consistencyManager }

    /// Whether the cache can take the list without the models of its elements.
    private var keepsModels: Bool { manager.cacheQueue.keepsModels }

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
            if let save { saveAll(context, save, merges: merges) } else { noteUnsaved(new) }
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
        // A list that was not read may have elements all the same: those of edits.
        let isSame = elements.isEmpty && new.isEmpty
        replaceAll(with: new, time: fetch)
        hasPartialModels = false
        lastFetched = fetch
        consistencyManager.register(self, since: fetch)
        if !isSame { record(.reset, [], .cache, context: nil, except: author) }
    }

    /// Notes that the cache had no elements to show, and why if it has elements all the same.
    func noteMiss(_ reason: MissReason?) { if !isComplete { cacheState.noteMiss(reason) } }

    private func replaceAll(with new: [T], time: ChangeTime) {
        elements = new
        isKnown = true
        cacheState.noteAllElements()
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
        let neighbours = CollectionNeighbours(of: range.lowerBound, in: elements)
        let removed = elements[range]
        elements.replaceSubrange(range, with: edit.elements)
        logEdit { old, new in
            TreeEdit(resolved.map { $0 as any ConsistencyManagerModel }, from: old, to: new)
        }
        let merges = key != nil && save?.merges(edit.elements) == true
        if save == .merge, key != nil, !edit.elements.isEmpty { hasPartialModels = true }
        post(merges ? [] : edit.elements, context: context) {
            guard let save else { return noteUnsaved(edit.elements) }
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
        let mostEdits = 32
        let sendsEdits = manager.cacheQueue.acceptsEdits && ranges.count <= mostEdits
        for (position, range) in ranges.enumerated().reversed() {
            let isLast = position == 0
            edit(
                .remove(range), by: author, save: sendsEdits || isLast ? save : nil,
                context: context, isLast: isLast)
        }
    }

    /// Moves an element. Its model is not posted, so a pending update of it is not undone.
    func move(
        _ move: ElementMove, by author: CollectionDataProvider<T>, save: TreePolicy?,
        context: (any Sendable)?
    ) {
        let first = min(move.source, move.destination)
        let range = first..<max(move.source, move.destination) + 1
        let neighbours = CollectionNeighbours(of: keepsModels ? move.source : first, in: elements)
        move.apply(to: &elements)
        logEdit { TreeEdit(move, from: $0, to: $1) }
        manager.submit(nil, context: context) {
            guard save != nil else { return noteUnsaved([]) }
            if keepsModels { return self.save(move, neighbours, context) }
            // The cache is sent the elements in between as well. If an update of one of them is
            // pending, it is newer: the cache is then sent all elements again.
            cacheState.noteSent()
            self.save(
                CollectionEdit(range: range, elements: Array(elements[range])), neighbours,
                policyOfAll, merges: false, context, isMove: true)
        }
        announce(context)
        record(
            .move(move), Set([elements[move.destination].modelIdentifier].compactMap(\.self)),
            .sibling, context: context, except: author)
    }

    /// Notes that the cache lacks an edit that was not to be saved.
    private func noteUnsaved(_ elements: [T]) {
        cacheState.noteUnsaved(elements, manager.policy(of: T.self, nil))
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

    // MARK: The cache

    /// The policy of a write of elements that the cache has already had.
    private var policyOfAll: TreePolicy {
        hasPartialModels ? .merge : manager.policy(of: T.self, nil)
    }

    /// Sends all elements with their models.
    ///
    /// - Parameters:
    ///   - policy: The policy; nil for elements that the cache has already had.
    ///   - merges: Whether a node of the elements merges; nil if the caller does not know.
    private func saveAll(
        _ context: (any Sendable)?, _ policy: TreePolicy? = nil, merges: Bool? = nil
    ) {
        guard let key else { return }
        let policy = policy ?? policyOfAll
        let call = WriteCall(policy: policy)
        if merges ?? policy.merges(elements) { refresh(elements, after: call) }
        sendWhole(call, key, context, models: elements, policy)
    }

    /// Reads models again when the cache has merged them: a screen may show less than it has.
    private func refresh(_ models: [T], after call: WriteCall) {
        let identifiers = Set(models.compactMap(\.modelIdentifier))
        call.whenEnded { [manager] _ in manager.refresh(identifiers) }
    }

    /// Sends the list, with the models that the cache lacks. The other elements stay as the cache
    /// has them: they may have changed there, and the screens not know yet.
    private func saveList(_ context: (any Sendable)?) {
        guard let key else { return }
        for (policy, models) in cacheState.takeLacking(of: elements) {
            saveAgain(models, policy, context)
        }
        let call = WriteCall(policy: policyOfAll, keepsModels: true)
        sendWhole(call, key, context, models: [], policyOfAll)
    }

    /// Sends the list by `call`, and notes if the cache could not store it.
    ///
    /// - Parameter models: The elements whose models the cache then lacks.
    private func sendWhole(
        _ call: WriteCall, _ key: String, _ context: (any Sendable)?, models: [T],
        _ policy: TreePolicy
    ) {
        cacheState.noteWhole(call)
        // What is read meanwhile may be the list before.
        cacheState.beginEdit(of: [])
        call.whenEnded { [weak self] failure in
            if failure != nil { self?.cacheState.noteFailure(of: call, models, policy) }
            if failure == nil { self?.noteStored() }
            self?.endEdit()
        }
        call.perform { manager.cacheCollection(elements, forKey: key, context: context) }
    }

    /// Sends models again. They may be older than an update that the cache has, and that this
    /// collection has not: these models are sent once more when the update is delivered.
    private func saveAgain(_ models: [T], _ policy: TreePolicy, _ context: (any Sendable)?) {
        let named = models.filter { $0.modelIdentifier?.isEmpty == false }
        guard !named.isEmpty else { return }
        cacheState.noteResent(named)
        let call = WriteCall(policy: policy) { [weak self] failure in
            if failure != nil { self?.cacheState.noteUnsaved(named, policy) }
        }
        if policy.merges(named) { refresh(named, after: call) }
        call.perform { manager.saveTogether(named, policy, context) }
    }

    /// Sends all elements in place of an edit, because the cache lacks an earlier one or accepts
    /// none.
    private func saveAll(
        insteadOf edit: CollectionEdit<T>, _ policy: TreePolicy, _ context: (any Sendable)?
    ) {
        guard !keepsModels else {
            cacheState.noteLacking(edit.elements, policy)
            return saveList(context)
        }
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
        guard let key, !keepsUnread(key, edit.elements, policy, context) else { return }
        guard manager.cacheQueue.acceptsEdits, !cacheState.isBehind else {
            return saveAll(insteadOf: edit, policy, context)
        }
        send(isMove ? [] : edit.elements, policy, merges: merges, context) { [manager] reply in
            manager.cacheQueue.edit(
                edit.map { $0 as any SimpleModel }, forKey: key, expecting: neighbours,
                policy: policy, merges: merges, context: context, completion: reply)
        }
    }

    /// Sends a move to a cache that lacks no edit, and the list to one that lacks any.
    private func save(
        _ move: ElementMove, _ neighbours: CollectionNeighbours, _ context: (any Sendable)?
    ) {
        guard let key, !keepsUnread(key, [], policyOfAll, context) else { return }
        guard !cacheState.isBehind else { return saveList(context) }
        send([], policyOfAll, merges: false, context) { [manager] reply in
            manager.cacheQueue.move(move, forKey: key, expecting: neighbours, completion: reply)
        }
    }

    /// If the cache has elements that this list could not read, saves only the models of an edit,
    /// fails the call of the edit, and returns true.
    private func keepsUnread(
        _ key: String, _ models: [T], _ policy: TreePolicy, _ context: (any Sendable)?
    ) -> Bool {
        guard let unreadReason = cacheState.unreadReason else { return false }
        manager.cacheQueue.refuse(unreadReason, [key])
        cacheState.noteUnsaved([], policy)
        saveAgain(models, policy, context)
        return true
    }

    /// Sends an edit or a move by `request`, and acts on the outcome.
    ///
    /// - Parameters:
    ///   - models: The new elements.
    ///   - merges: Whether a node of them merges. Such models are stored only if the edit is
    ///     applied, all others in any case.
    private func send(
        _ models: [T], _ policy: TreePolicy, merges: Bool, _ context: (any Sendable)?,
        by request: (@escaping @MainActor @Sendable (CollectionEditOutcome) -> Void) -> Void
    ) {
        let time = ChangeTime()
        cacheState.beginEdit(of: models)
        // The outcome of the edit is that of what is sent instead, if anything is.
        let call = WriteCall.beginCall()
        request { outcome in
            // After what follows, which may send all elements.
            defer { self.consistencyManager.afterDelivery { self.endEdit() } }
            switch outcome {
            case .applied:
                self.noteStored()
                if merges { self.manager.refresh(Set(models.compactMap(\.modelIdentifier))) }
                call?.end(nil)?()
            case .failed(let error):
                self.cacheState.noteFailure(of: models, policy, since: time)
                call?.end(SaveFailure(names: [self.key ?? ""], error: error))?()
            case .outOfDate:
                if merges { self.cacheState.noteLacking(models, policy) }
                // Deletions that the cache has already applied remove their elements here first.
                self.consistencyManager.afterDelivery {
                    self.sendAll(context, after: time, call)
                }
            }
        }
    }

    /// Sends all elements after an edit was out of date, unless they were sent since `time`.
    private func sendAll(_ context: (any Sendable)?, after time: ChangeTime, _ call: WriteCall?) {
        if cacheState.isWholeSent(since: time), cacheState.lacking.isEmpty {
            cacheState.lastWhole?.whenEnded { call?.end($0)?() }
            return
        }
        // In one step, so that no update comes between.
        let send = {
            self.manager.submit(nil, context: context) {
                if self.keepsModels { self.saveList(context) } else { self.saveAll(context) }
            }
        }
        if let call { call.record(send) } else { send() }
        call?.end(nil)?()
    }

    /// Lets lists of other types under the same key read what this one has stored.
    private func noteStored() {
        guard let key else { return }
        manager.sharedCollections.refreshOthers(key, than: T.self)
    }

    private func endEdit() {
        guard let unread = cacheState.endEdit() else { return }
        if !unread.nodes.isEmpty { manager.refresh(unread.nodes) }
        if let clearing = unread.list { refresh(clearing: clearing) }
    }

    /// Saves the consequences of an update for this collection. The author of the update has saved
    /// the update itself.
    ///
    /// - Parameter updated: The elements that the update has replaced.
    private func save(after delivery: Delivery, updated: [T], isRemoval: Bool) {
        guard !keepsModels else { return saveAgain(after: delivery, updated, isRemoval: isRemoval) }
        // What the cache had need not be stored, and may be out of date there.
        guard let key, !delivery.isFetched else { return }
        if manager.cacheQueue.acceptsEdits {
            // All elements were sent after the cache had the update and before this collection had
            // it: they have replaced newer models by older ones in the cache.
            guard cacheState.lastSent.after(delivery.time) else { return }
            manager.submit(nil, context: delivery.context) { saveAll(delivery.context) }
        } else if isRemoval {
            let fetch = lastUpdated == lastFetched ? lastFetched : nil
            manager.cacheQueue.save(
                elements, forKey: key, afterDeletionAt: delivery.time, since: fetch,
                context: delivery.context)
        }
    }

    /// Sends what was sent after the cache had an update and before this collection had it: the
    /// models that were sent again, and a list with elements that the cache had deleted.
    private func saveAgain(after delivery: Delivery, _ updated: [T], isRemoval: Bool) {
        let isListBehind =
            isRemoval && !cacheState.isBehind && cacheState.lastSent.after(delivery.time)
        let behind = delivery.isFetched ? [] : cacheState.resent(updated, after: delivery.time)
        guard key != nil, isListBehind || !behind.isEmpty else { return }
        // The elements are newer than those of the cache. Where the types decide, one may still
        // show less of a node that merges than the cache has.
        let policy = manager.policy(of: T.self, nil)
        manager.submit(nil, context: delivery.context) {
            saveAgain(behind, policy == .merge ? .replace : policy, delivery.context)
            if isListBehind { saveList(delivery.context) }
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
        let found: [(place: Int, element: T?)] = log.changes(delivery.childChanges, inListOf: base)
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
            .updates(steps), delivery.changedIdentifiers, .update, context: delivery.context)
        lastUpdated = max(lastUpdated, delivery.time)
        notifyMembers()
    }

    /// Whether a change that was read from the cache concerns an element of an edit which the cache
    /// may lack. Such a change would take the edit off the screen. The element is read again after
    /// the edit.
    private func isUnconfirmed(_ change: (place: Int, element: T?)) -> Bool {
        guard change.element != nil, let name = elements[change.place].modelIdentifier else {
            return false
        }
        return cacheState.isUnconfirmed(name)
    }
}

extension SharedCollection: RefreshableCollection {
    func hasElement(in identifiers: Set<String>) -> Bool {
        elements.contains { $0.modelIdentifier.map(identifiers.contains) ?? false }
    }

    func refresh(clearing: Bool) {
        // Elements that no provider has asked for are read when one does.
        guard let key, isKnown || cacheState.wasMissed, !cacheState.hasUnsaved else { return }
        // The cache may lack an edit that is on its way.
        guard cacheState.openEdits == 0 else {
            return cacheState.refreshAfterEdits(clearing: clearing)
        }
        let fetch = manager.beginFetch()
        // A screen does not lose what it shows because that has become too old.
        let record = MissRecord(acceptsExpired: isComplete)
        let reply: @MainActor @Sendable ([T]?, (any Error)?) -> Void = { elements, error in
            defer { self.manager.endFetch(fetch) }
            // An edit may have failed meanwhile.
            guard !self.cacheState.hasUnsaved else { return }
            // The collection has changed meanwhile. The next reply has the change.
            guard self.cacheState.openEdits == 0, fetch.after(self.lastSet),
                fetch.after(self.lastUpdated)
            else { return self.refresh(clearing: clearing) }
            let isGone = error == nil && (record.reason == nil || record.reason == .notFound)
            guard let new = elements ?? (self.isComplete && clearing && isGone ? [] : nil) else {
                if error == nil { self.noteMiss(record.reasonOfStored) }
                return
            }
            guard !self.isComplete || !areEqual(self.elements, new) else { return }
            if !self.isComplete { for member in self.members { member.provider?.missReason = nil } }
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
