import EspalierConsistency
import EspalierModels

/// One collection, as all providers with its key show it: there is one list in memory, whoever
/// edits it.
///
/// Providers hold it, and it lives as long as one of them, or a fetch or a save under way. It is
/// what listens for updates of models. A provider without key has one of its own.
@MainActor
final class SharedCollection<T: SimpleModel>: TreeListener {
    let key: String?
    let manager: DataModelManager
    private(set) var elements: [T] = []
    /// Whether it was set or fetched. Until then it is empty because nobody knows better.
    private(set) var isKnown = false
    private(set) var lastUpdated = ChangeTime.zero
    /// When all of it was set or asked for.
    private var lastSet = ChangeTime.zero
    /// When it was asked of the cache, if it was.
    private var lastFetched: ChangeTime?
    private var revision = ChangeTime.zero
    private var log = SpliceLog()
    private var members: [WeakMember] = []
    /// When the cache was last sent all of it.
    private var lastSent = ChangeTime.zero
    /// Whether the cache has not got an edit, or lost it: then the next one that is saved takes all
    /// of the collection along.
    private var isCacheBehind = false

    private struct WeakMember {
        weak var provider: CollectionDataProvider<T>?
    }

    init(key: String?, _ manager: DataModelManager) {
        self.key = key
        self.manager = manager
    }

    deinit { manager.consistencyManager.forget(ObjectIdentifier(self)) }

    private var consistencyManager: ConsistencyManager { manager.consistencyManager }

    // MARK: Members

    func join(_ provider: CollectionDataProvider<T>) {
        leave(provider)
        members.append(WeakMember(provider: provider))
    }

    func leave(_ provider: CollectionDataProvider<T>) {
        members.removeAll { $0.provider == nil || $0.provider === provider }
    }

    /// The elements, for those who follow changes with what was before; nil when nobody does, which
    /// saves a copy.
    private var followed: [T]? {
        members.contains { $0.provider?.subscribers.isEmpty == false } ? elements : nil
    }

    /// All but the author of a change, to take note of it. Nobody else's code runs before everyone
    /// has: see `tellMembers`.
    private func forEachMember(
        except author: CollectionDataProvider<T>? = nil, _ body: (CollectionDataProvider<T>) -> Void
    ) {
        for member in members {
            if let provider = member.provider, provider !== author { body(provider) }
        }
    }

    private func hasMembers(except author: CollectionDataProvider<T>) -> Bool {
        members.contains { $0.provider != nil && $0.provider !== author }
    }

    /// Calls the delegates with what has been noted.
    func tellMembers() {
        DeliveryRound.run { forEachMember { $0.hear() } }
    }

    // MARK: All of it

    /// New elements in place of all, by `author`, who is not told. The others are by `tellMembers`,
    /// as of all that follows.
    func set(_ new: [T], by author: CollectionDataProvider<T>, save: Bool, context: (any Sendable)?)
    {
        // Only others have to be told, or not.
        let isSame = !hasMembers(except: author) || isKnown && areEqual(elements, new)
        let previous = followed
        take(new, time: ChangeTime())
        consistencyManager.register(self, since: nil)
        post(new, context: context) {
            if save { saveAll(context) } else { isCacheBehind = true }
        }
        guard !isSame else { return }
        forEachMember(except: author) { $0.wasReset(.sibling, context: context, previous) }
    }

    /// What the cache had at `fetch`.
    func set(fetched new: [T], at fetch: ChangeTime, by author: CollectionDataProvider<T>) {
        let previous = followed
        take(new, time: fetch)
        lastFetched = fetch
        consistencyManager.register(self, since: fetch)
        guard !new.isEmpty else { return }
        forEachMember(except: author) { $0.wasReset(.cache, context: nil, previous) }
    }

    private func take(_ new: [T], time: ChangeTime) {
        elements = new
        isKnown = true
        lastUpdated = time
        lastSet = time
        revision = ChangeTime()
        log.removeAll()
    }

    // MARK: Edits

    /// An edit by `author`, who is not told.
    func edit(
        _ range: Range<Int>, _ new: [T], _ kind: EditKind, by author: CollectionDataProvider<T>,
        save: Bool,
        context: (any Sendable)?
    ) {
        let splice = CollectionSplice(range: range, count: new.count)
        let neighbours = neighbours(of: range.lowerBound)
        let previous = followed
        elements.replaceSubrange(range, with: new)
        isKnown = true
        lastUpdated = ChangeTime()
        let old = revision
        let revision = ChangeTime()
        self.revision = revision
        let edit = TreeSplice(range, new, from: old, to: revision)
        log.append(splice, edit)
        consistencyManager.splice(self, edit) { [weak self] in
            self?.log.removeThrough(revision)
        }
        post(new, context: context) {
            if save {
                self.save(kind.edit(new, at: range.lowerBound), neighbours, context)
            } else {
                isCacheBehind = true
            }
        }
        forEachMember(except: author) { $0.wasEdited(splice, kind, context: context, previous) }
    }

    /// Tells everyone who shows one of the models of it, and saves in the same step.
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

    private func saveAll(_ context: (any Sendable)?) {
        guard let key else { return }
        lastSent = ChangeTime()
        isCacheBehind = false
        manager.cacheCollection(elements, forKey: key, context: context)
    }

    /// The edit, to a cache that takes edits and has kept up; all of it to others.
    private func save(
        _ edit: CollectionEdit, _ neighbours: CollectionNeighbours, _ context: (any Sendable)?
    ) {
        guard let key else { return }
        guard manager.lane.takesEdits, !isCacheBehind else { return saveAll(context) }
        let time = ChangeTime()
        manager.lane.edit(edit, forKey: key, expecting: neighbours, context: context) { outcome in
            // What all of it was sent after does not matter any more.
            guard time.after(self.lastSent) else { return }
            switch outcome {
            case .applied: break
            case .failed: self.isCacheBehind = true
            case .outOfDate: self.sendAll(since: time, context)
            }
        }
    }

    /// All of it, once deletions that the cache has been told of have taken their elements out of
    /// it.
    private func sendAll(since time: ChangeTime, _ context: (any Sendable)?) {
        manager.consistencyManager.afterDelivery {
            if time.after(self.lastSent) { self.saveAll(context) }
        }
    }

    /// What an update leaves to be saved: the update itself was by whoever made it.
    private func save(after delivery: Delivery, takingOut: Bool) {
        guard let key else { return }
        if manager.lane.takesEdits {
            // All of it was sent after the cache had the update and before this collection did: it
            // has put older models in place of newer ones.
            if lastSent.after(delivery.time) { saveAll(delivery.context) }
        } else if takingOut {
            let fetch = lastUpdated == lastFetched ? lastFetched : nil
            manager.lane.save(
                elements, forKey: key, afterDeletionAt: delivery.time, since: fetch,
                context: delivery.context)
        }
    }

    // MARK: Updates of models

    var base: ListenerBase? {
        isKnown
            ? ListenerBase(
                model: CollectionModel(elements: elements), revision: revision, splices: log.edits)
            : nil
    }

    func currentModel() -> (any ConsistencyManagerModel)? { base?.model }

    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
    {}

    func take(_ delivery: Delivery) {
        guard delivery.time.after(lastSet), let new = delivery.model as? CollectionModel<T>,
            let base = delivery.base.revision
        else { return }
        let changes = changes(delivery.childUpdates, new.elements, base)
        guard !changes.isEmpty else { return }
        let previous = followed
        var gone: Set<Int> = []
        for change in changes {
            if let element = change.element {
                elements[change.place] = element
            } else {
                gone.insert(change.place)
            }
        }
        if !gone.isEmpty {
            elements = elements.indices.filter { !gone.contains($0) }.map { elements[$0] }
        }
        let isAsDelivered = base == revision && log.isEmpty
        revision = isAsDelivered ? delivery.revision : ChangeTime()
        for change in changes where change.element == nil {
            log.noteDeletion(at: change.place, revision)
        }
        note(changes, delivery, previous)
        lastUpdated = max(lastUpdated, delivery.time)
        tellMembers()
    }

    /// What the update says, at the places where it is now, last place first.
    private func changes(
        _ updates: [Int: Delivery.ChildUpdate], _ new: [T], _ base: ChangeTime
    ) -> [(place: Int, element: T?)] {
        var deleted = 0
        var changes: [(place: Int, element: T?)] = []
        let places = log.places(inListOf: base)
        for (ordinal, update) in updates.sorted(by: { $0.key < $1.key }) {
            let element = update.isDeleted ? nil : new[ordinal - deleted]
            if update.isDeleted { deleted += 1 }
            if let place = places.now(ordinal) { changes.append((place, element)) }
        }
        return changes.sorted { $0.place > $1.place }
    }

    private func note(
        _ changes: [(place: Int, element: T?)], _ delivery: Delivery, _ previous: [T]?
    ) {
        let steps = changes.map { change in
            change.element == nil
                ? CollectionChangeInformation.delete(index: change.place)
                : .update(index: change.place)
        }
        save(after: delivery, takingOut: steps.numberOfDeletedElements() > 0)
        forEachMember { $0.wasChanged(steps, context: delivery.context, previous) }
    }
}

/// What kind of edit a range that gives way to others is.
enum EditKind: Sendable {
    case insert, append, update, remove

    func edit<T: SimpleModel>(_ new: [T], at index: Int) -> CollectionEdit {
        switch self {
        case .insert: .insert(new, at: index)
        case .append: .append(new)
        case .update: .update(new[0], at: index)
        case .remove: .remove(at: index)
        }
    }

    func changes(_ splice: CollectionSplice) -> [CollectionChangeInformation] {
        switch self {
        case .insert, .append: splice.inserted.map { .insert(index: $0) }
        case .update: [.update(index: splice.range.lowerBound)]
        case .remove: splice.range.reversed().map { .delete(index: $0) }
        }
    }
}
