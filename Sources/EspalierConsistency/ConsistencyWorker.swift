import EspalierModels

/// Does all work on trees: it owns the index, and computes the updates of listeners. The manager's
/// queue calls it with one piece of work at a time.
actor ConsistencyWorker {
    /// The number of subtrees that a listener may have before its whole tree is indexed again.
    private static let partsLimit = 16

    private let registry: ListenerRegistry
    private let index = ModelIndex()
    private var registrations: [ObjectIdentifier: Registration] = [:]
    private var owners: [ModelIndex.Owner: Registration] = [:]
    private var latestOwner: ModelIndex.Owner = 0
    private var freeOwners: [ModelIndex.Owner] = []
    private var recent = RecentChanges()

    init(registry: ListenerRegistry) { self.registry = registry }

    /// The number of nodes in the index, of all listeners.
    var nodeCount: Int { index.count }
    var listenerCount: Int { registrations.count }
    /// The size of the index in memory, in bytes.
    var indexBytes: Int { index.bytes }

    // MARK: Listening

    func register(_ listener: ListenerEntry, _ base: ListenerBase) {
        if !listener.isDeallocated { reindex(registration(for: listener), base) }
    }

    /// Registers a tree that was requested at `fetch`, and delivers the updates that were posted
    /// since, one by one. The listener got no updates since the registration was submitted, so a
    /// node that two updates name ends with the later one.
    func register(
        _ listener: ListenerEntry, _ base: ListenerBase, since fetch: ChangeTime, epoch: Int
    ) async {
        register(listener, base)
        guard await registry.beginCatchUp(of: listener) else { return }
        for missed in recent.updates(since: fetch) {
            guard let registration = registrations[ObjectIdentifier(listener)] else { return }
            let targets = targets(of: missed.changes).filter { $0.key == registration.owner }
            if !targets.isEmpty { await deliver(targets, missed, epoch: epoch) }
        }
    }

    func register(_ listener: ListenerEntry, part: any ConsistencyManagerModel) async {
        guard !listener.isDeallocated else { return }
        let registration = registration(for: listener)
        registration.parts.append(index.insert(part, owner: registration.owner))
        // Subtrees that have left the tree are still registered: indexing the tree drops them.
        if registration.parts.count > Self.partsLimit { await reindex(registration) }
    }

    /// Indexes the tree that a listener shows now.
    private func reindex(_ registration: Registration) async {
        guard let base = await registry.bases(of: [registration.listener])[0] else { return }
        reindex(registration, base)
    }

    /// Applies an edit of a listener's tree to the index. Called for each edit in queue order; an
    /// update before it may have applied the edit already.
    func edit(_ listener: ListenerEntry, _ edit: TreeEdit) async {
        guard !listener.isDeallocated else { return }
        let registration = registration(for: listener)
        guard registration.latestRevision < edit.new, !apply(edit, to: registration) else {
            return
        }
        // Many parts cost more than the whole tree, whose index then has all of them.
        if edit.childEdit.elements.count > Self.partsLimit { await reindex(registration) }
        for model in edit.childEdit.elements where registration.latestRevision < edit.new {
            await register(listener, part: model)
        }
    }

    /// Applies an edit to the index.
    ///
    /// - Returns: Whether the index contains the tree before the edit.
    private func apply(_ edit: TreeEdit, to registration: Registration) -> Bool {
        guard registration.root != ModelIndex.none, edit.move == nil, let old = edit.old,
            case .revision(old)? = registration.snapshot
        else { return false }
        index.apply(edit.childEdit, toChildrenOf: registration.root)
        registration.snapshot = .revision(edit.new)
        registration.latestRevision = edit.new
        return true
    }

    func unregister(_ listener: ListenerEntry) {
        if let registration = registrations[ObjectIdentifier(listener)] { remove(registration) }
    }

    func remove(_ listeners: [ListenerEntry]) {
        listeners.forEach(unregister)
        // The tables of an index never shrink otherwise.
        if index.count == 0 { index.removeAll() }
    }

    func removeAll() {
        registrations = [:]
        owners = [:]
        freeOwners = []
        latestOwner = 0
        index.removeAll()
    }

    private func registration(for listener: ListenerEntry) -> Registration {
        if let known = registrations[ObjectIdentifier(listener)] { return known }
        let owner = freeOwners.popLast() ?? latestOwner + 1
        latestOwner = max(latestOwner, owner)
        let registration = Registration(listener: listener, owner: owner)
        registrations[ObjectIdentifier(listener)] = registration
        owners[owner] = registration
        return registration
    }

    private func remove(_ registration: Registration) {
        removeTrees(of: registration)
        registrations[ObjectIdentifier(registration.listener)] = nil
        owners[registration.owner] = nil
        freeOwners.append(registration.owner)
    }

    private func removeTrees(of registration: Registration) {
        if registration.root != ModelIndex.none { index.removeTree(at: registration.root) }
        for part in registration.parts { index.removeTree(at: part) }
        registration.root = ModelIndex.none
        registration.parts = []
        registration.snapshot = nil
    }

    private func reindex(
        _ registration: Registration, _ base: ListenerBase,
        _ visit: (NodeIdentifier, ModelIndex.Slot) -> Void = { _, _ in }
    ) {
        removeTrees(of: registration)
        registration.root = index.insert(base.model, owner: registration.owner, visit)
        registration.snapshot = TreeSnapshot(base)
        registration.latestRevision = base.revision ?? .zero
    }

    // MARK: Fetches

    func begin(_ fetch: ChangeTime) { recent.begin(fetch) }
    func end(_ fetch: ChangeTime) { recent.end(fetch) }

    // MARK: Updating

    func post(_ posted: PostedUpdate) async {
        guard let update = SubmittedChanges(posted) else {
            return await registry.report(.DeleteIDFailure)
        }
        recent.append(update)
        await deliver(targets(of: update.changes), update, epoch: posted.epoch, posted: posted)
    }

    /// Delivers the elements of a collection to the listeners of its key.
    func announce(
        _ key: NodeIdentifier, context: (any Sendable)?, epoch: Int,
        _ elements: @MainActor @Sendable () -> BatchUpdateModel?
    ) async {
        guard registry.hasUpdatesListeners || index.contains(key) else { return }
        guard epoch == registry.epoch, let batch = await elements() else { return }
        let posted = PostedUpdate(
            model: batch, isDeletion: false, context: context, time: ChangeTime(), epoch: epoch,
            onCascade: nil)
        let update = SubmittedChanges(announcing: posted, under: key)
        await deliver(targets(of: update.changes), update, epoch: epoch, posted: posted)
    }

    /// The nodes that were posted after `fetch`, which is in progress.
    func identifiersPosted(since fetch: ChangeTime) -> Set<NodeIdentifier> {
        recent.identifiers(since: fetch)
    }

    /// Returns the trees of the listeners that show one of the nodes; of all listeners for nil.
    func bases(showing identifiers: Set<NodeIdentifier>?) async -> [ListenerBase] {
        var found = Set(identifiers == nil ? Array(owners.keys) : [])
        for identifier in identifiers ?? [] {
            index.forEachOccurrence(of: identifier) { found.insert(index.owner(of: $0)) }
        }
        let listeners = found.sorted().compactMap { owners[$0]?.listener }
        guard !listeners.isEmpty else { return [] }
        return await registry.bases(of: listeners).compactMap { $0 }
    }

    /// Returns the nodes that listeners wait for.
    func awaitedNodes() async -> [ShownNode] {
        guard registry.hasUpdatesListeners else { return [] }
        return await registry.awaitedNodes
    }

    /// Returns the slots of the nodes that the changes name, by owner.
    private func targets(of changes: PostedChanges) -> [ModelIndex.Owner: [ModelIndex.Slot]] {
        var targets: [ModelIndex.Owner: [ModelIndex.Slot]] = [:]
        for identifier in changes.byIdentifier.keys {
            index.forEachOccurrence(of: identifier) {
                targets[index.owner(of: $0), default: []].append($0)
            }
        }
        return targets
    }

    /// Delivers an update to the listeners that it concerns.
    ///
    /// The main actor is called twice: to get the trees of all listeners, and to deliver all new
    /// trees. Within one call the listeners see the same state.
    ///
    /// - Parameter posted: The posted update; `nil` for one that a listener catches up with, and
    ///   that all others have got.
    private func deliver(
        _ targets: [ModelIndex.Owner: [ModelIndex.Slot]], _ update: SubmittedChanges, epoch: Int,
        posted: PostedUpdate? = nil
    ) async {
        let affected = targets.keys.sorted().compactMap { owners[$0] }
        var deliveries: [Delivery] = []
        var outcome = TreeChange()
        if !affected.isEmpty {
            let bases = await registry.bases(of: affected.map(\.listener))
            for (registration, base) in zip(affected, bases) {
                if base == nil, registration.listener.isDeallocated { remove(registration) }
                guard let base,
                    let change = apply(
                        update.changes, to: registration, base, targets[registration.owner] ?? [])
                else { continue }
                outcome.replacements += change.replacements
                outcome.cascaded += change.cascaded
                outcome.hasWrongMapClass = outcome.hasWrongMapClass || change.hasWrongMapClass
                if change.isChange {
                    deliveries.append(delivery(to: registration, base, change, update))
                }
            }
        }
        await reportForeignNodes(of: update)
        if outcome.hasWrongMapClass { await registry.report(.WrongMapClass) }
        if let onCascade = posted?.onCascade { await onCascade(outcome.cascaded) }
        let changes = registry.hasUpdatesListeners ? update.changes.changes : [:]
        // Of what was read from a store, deletions as some types only are not announced.
        let isAnnounced = registry.hasUpdatesListeners && !(update.isFetched && changes.isEmpty)
        let announced = isAnnounced ? posted.map { ($0, changes) } : nil
        guard !deliveries.isEmpty || announced != nil else { return }
        let newListeners = await registry.deliver(
            deliveries, replacements: outcome.replacements, announced: announced,
            context: update.context, epoch: epoch)
        for (listener, base) in newListeners { register(listener, base) }
    }

    /// Tells the author of an update which of its nodes listeners show, or wait for, as other types
    /// than the posted ones.
    private func reportForeignNodes(of update: SubmittedChanges) async {
        var foreign = update.changes.foreignNodes.take()
        guard let onForeignNodes = update.onForeignNodes else { return }
        for node in await awaitedNodes() where update.changes.isForeign(node) {
            foreign.insert(node.identifier)
        }
        if !foreign.isEmpty { onForeignNodes(foreign) }
    }

    /// Applies changes to one listener's tree and to its part of the index.
    private func apply(
        _ changes: PostedChanges, to registration: Registration, _ base: ListenerBase,
        _ targets: [ModelIndex.Slot]
    ) -> TreeChange? {
        var targets = targets
        var hasCaughtUp = false
        for edit in base.edits where registration.parts.isEmpty && apply(edit, to: registration) {
            hasCaughtUp = true
        }
        if hasCaughtUp { targets = self.targets(of: changes)[registration.owner] ?? [] }
        // If the index contains another tree than the one that is shown, the slots found are of no
        // use.
        if !registration.parts.isEmpty || registration.snapshot?.isTree(of: base) != true {
            targets = []
            reindex(registration, base) { identifier, slot in
                if changes[identifier] != nil { targets.append(slot) }
            }
        }
        var change: TreeChange?
        do {
            change = try TreeUpdate.apply(
                changes, to: base.model, at: registration.root, targets: targets, in: index)
            if change?.hasWrongMapClass == true { registration.snapshot = nil }
        } catch {
            registration.snapshot = nil
            change = IdentifierUpdate(changes).apply(to: base.model)
        }
        // The index may be half changed. A new tree is indexed when it is delivered.
        if registration.snapshot == nil, change?.isChange != true { reindex(registration, base) }
        return change
    }

    private func delivery(
        to registration: Registration, _ base: ListenerBase, _ change: TreeChange,
        _ update: SubmittedChanges
    ) -> Delivery {
        let revision = ChangeTime()
        if let model = change.model {
            let next = ListenerBase(model: model, revision: base.revision == nil ? nil : revision)
            if registration.snapshot == nil {
                reindex(registration, next)
            } else {
                registration.snapshot = TreeSnapshot(next)
            }
            registration.latestRevision = base.revision ?? .zero
        } else {
            removeTrees(of: registration)
        }
        return Delivery(
            listener: registration.listener, base: base, model: change.model,
            updates: change.updates, childChanges: change.childChanges, context: update.context,
            time: update.time, revision: revision, isFetched: update.isFetched)
    }

    // MARK: Invariants, for tests

    /// Returns the violated invariants of the index.
    func violations() async -> [String] {
        let registrations = Array(registrations.values)
        var found = index.violations(
            trees: registrations.flatMap { registration in
                (registration.parts + [registration.root]).filter { $0 != ModelIndex.none }
                    .map { (root: $0, owner: registration.owner) }
            })
        let bases = await registry.bases(of: registrations.map(\.listener))
        for (registration, base) in zip(registrations, bases) {
            guard let base, registration.snapshot?.isTree(of: base) == true else { continue }
            let fresh = ModelIndex()
            let root = fresh.insert(base.model, owner: registration.owner)
            if fresh.places(below: root) != index.places(below: registration.root) {
                found.append("the tree of owner \(registration.owner) is not the one that is shown")
            }
        }
        return found
    }
}

/// A listener in the index. Confined to the worker.
private final class Registration {
    let listener: ListenerEntry
    let owner: ModelIndex.Owner
    /// The root of the tree in the index, which is the tree of `snapshot`.
    var root: ModelIndex.Slot = ModelIndex.none
    /// The subtrees that were registered on their own. They serve lookups by identifier until the
    /// whole tree is indexed again.
    var parts: [ModelIndex.Slot] = []
    /// `nil` if the index may contain another tree than the listener shows.
    var snapshot: TreeSnapshot?
    /// The latest of the listener's own revisions that the index contains.
    var latestRevision = ChangeTime.zero

    init(listener: ListenerEntry, owner: ModelIndex.Owner) {
        self.listener = listener
        self.owner = owner
    }
}

/// Identifies the tree that the index contains for a listener.
///
/// An object is held weakly, so the index does not extend its life. A value shares its storage with
/// the listener's value.
private enum TreeSnapshot {
    /// A tree with a revision: equal revisions, equal trees.
    case revision(ChangeTime)
    case object(WeakObject)
    case value(any ConsistencyManagerModel)
    /// The contents of a batch, because every call of `currentModel` creates a new batch.
    case batch([TreeSnapshot?])

    struct WeakObject {
        weak var object: AnyObject?
    }

    init(_ base: ListenerBase) {
        if let revision = base.revision {
            self = .revision(revision)
        } else {
            self.init(of: base.model)
        }
    }

    private init(of model: any ConsistencyManagerModel) {
        if let batch = model as? BatchUpdateModel {
            self = .batch(batch.models.map { $0.map { TreeSnapshot(of: $0) } })
        } else if type(of: model) is AnyClass {
            self = .object(WeakObject(object: model as AnyObject))
        } else {
            self = .value(model)
        }
    }

    func isTree(of base: ListenerBase) -> Bool {
        if case .revision(let revision) = self { return revision == base.revision }
        return isTree(base.model)
    }

    /// Returns whether `model` has the places of this tree. Equal trees do, whatever objects they
    /// consist of.
    private func isTree(_ model: any ConsistencyManagerModel) -> Bool {
        switch self {
        case .revision: return false
        case .value(let known): return ListenerBase.areSame(known, model)
        case .object(let weak):
            guard let object = weak.object, type(of: model) is AnyClass else { return false }
            if model as AnyObject === object { return true }
            return (object as? any ConsistencyManagerModel).map { ListenerBase.areSame($0, model) }
                ?? false
        case .batch(let snapshots):
            guard let batch = model as? BatchUpdateModel, batch.models.count == snapshots.count
            else { return false }
            return zip(snapshots, batch.models).allSatisfy { snapshot, model in
                guard let snapshot, let model else { return snapshot == nil && model == nil }
                return snapshot.isTree(model)
            }
        }
    }
}

/// A serial queue: it runs closures one by one, in the order of submission, off the main actor. Any
/// thread may submit. The manager and the queues of data providers use it.
///
/// An `AsyncStream` provides the order and the only lock. The task of the queue ends with the
/// queue.
package final class WorkQueue: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream<@Sendable () async -> Void>.makeStream()
        work = continuation
        Task.detached { for await work in stream { await work() } }
    }

    deinit { work.finish() }

    package func submit(_ body: @escaping @Sendable () async -> Void) { work.yield(body) }

    /// Waits until everything that was submitted before has run.
    package func flush() async {
        await withCheckedContinuation { continuation in submit { continuation.resume() } }
    }
}
