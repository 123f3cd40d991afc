import EspalierModels

/// Where all work on trees is done: the index, and the updates of listeners. Called by one queue,
/// one piece of work at a time.
actor ConsistencyWorker {
    /// Parts that a listener may have before its whole tree is indexed anew.
    private static let partsLimit = 16

    private let board: ListenerRegistry
    private let index = ModelIndex()
    private var registrations: [ObjectIdentifier: Registration] = [:]
    private var owners: [ModelIndex.Owner: Registration] = [:]
    private var latestOwner: ModelIndex.Owner = 0
    private var freeOwners: [ModelIndex.Owner] = []
    private var recent = RecentChanges()

    init(board: ListenerRegistry) { self.board = board }

    /// Nodes in the index, of all listeners.
    var nodeCount: Int { index.count }
    var listenerCount: Int { registrations.count }
    /// What the index takes in memory, with the room it has to grow.
    var indexBytes: Int { index.bytes }

    // MARK: Listening

    func register(_ listener: WeakListener, _ base: ListenerBase) {
        if !listener.isForgotten { reindex(registration(for: listener), base) }
    }

    /// For what is shown was asked for at `fetch`: what was posted since is delivered now, one
    /// update after the other. From when this was submitted nothing else was: where two updates
    /// name one node, the later one comes last.
    func register(_ listener: WeakListener, _ base: ListenerBase, since fetch: ChangeTime, era: Int)
        async
    {
        register(listener, base)
        guard await board.beginCatchUp(of: listener) else { return }
        for missed in recent.changes(since: fetch) {
            guard let registration = registrations[ObjectIdentifier(listener)] else { return }
            let targets = targets(of: missed.changes).filter { $0.key == registration.owner }
            guard !targets.isEmpty else { continue }
            await deliver(
                targets,
                ChangesUnderWay(
                    changes: missed.changes, context: missed.context, time: missed.time, era: era,
                    posting: nil))
        }
    }

    func register(_ listener: WeakListener, part: any ConsistencyManagerModel) async {
        guard !listener.isForgotten else { return }
        let registration = registration(for: listener)
        registration.parts.append(index.insert(part, owner: registration.owner))
        // Whoever adds part after part would have them all kept, those that are gone again, too.
        guard registration.parts.count > Self.partsLimit else { return }
        if case .shows(let base)? = await board.answers(of: [listener]).first {
            reindex(registration, base)
        }
    }

    /// To be called for each edit in its place in the order; an update before it may have made it
    /// already.
    func splice(_ listener: WeakListener, _ splice: TreeSplice) async {
        guard !listener.isForgotten else { return }
        let registration = registration(for: listener)
        guard registration.latestRevision < splice.new, !apply(splice, to: registration) else {
            return
        }
        for model in splice.models { await register(listener, part: model) }
    }

    /// Whether the edit is one of the tree that is indexed.
    private func apply(_ splice: TreeSplice, to registration: Registration) -> Bool {
        guard registration.root != ModelIndex.none,
            case .revision(splice.old)? = registration.snapshot
        else {
            return false
        }
        index.replaceChildren(of: registration.root, in: splice.range, by: splice.models)
        registration.snapshot = .revision(splice.new)
        registration.latestRevision = splice.new
        return true
    }

    /// The edits between the tree that is indexed and the one that is shown; whether there were
    /// any.
    private func applyAll(of splices: [TreeSplice], to registration: Registration) -> Bool {
        guard registration.parts.isEmpty else { return false }
        var areSome = false
        for splice in splices where apply(splice, to: registration) { areSome = true }
        return areSome
    }

    func unregister(_ listener: WeakListener) {
        if let registration = registrations[ObjectIdentifier(listener)] { remove(registration) }
    }

    func remove(_ listeners: [WeakListener]) {
        listeners.forEach(unregister)
        // Its tables never get smaller otherwise.
        if index.count == 0 { index.removeAll() }
    }

    func removeAll() {
        registrations = [:]
        owners = [:]
        freeOwners = []
        latestOwner = 0
        index.removeAll()
    }

    private func registration(for listener: WeakListener) -> Registration {
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
        registration.snapshot = Snapshot(base)
        registration.latestRevision = base.revision ?? .zero
    }

    // MARK: Fetches

    func begin(_ fetch: ChangeTime) { recent.begin(fetch) }
    func end(_ fetch: ChangeTime) { recent.end(fetch) }

    // MARK: Updating

    /// Changes on their way to listeners.
    private struct ChangesUnderWay {
        let changes: PostedChanges
        let context: (any Sendable)?
        let time: ChangeTime
        let era: Int
        /// Nil where changes are caught up with, which everyone else has heard of.
        let posting: Posting?
    }

    func post(_ posting: Posting) async {
        guard let changes = changes(of: posting) else {
            return await board.report(.DeleteIDFailure)
        }
        recent.note(changes, posting)
        await deliver(
            targets(of: changes),
            ChangesUnderWay(
                changes: changes, context: posting.context, time: posting.time, era: posting.era,
                posting: posting))
    }

    /// The slots that stand for what the changes name, by whose they are.
    private func targets(of changes: PostedChanges) -> [ModelIndex.Owner: [ModelIndex.Slot]] {
        var targets: [ModelIndex.Owner: [ModelIndex.Slot]] = [:]
        for identifier in changes.byIdentifier.keys {
            index.forEachOccurrence(of: identifier) {
                targets[index.owner(of: $0), default: []].append($0)
            }
        }
        return targets
    }

    private func changes(of posting: Posting) -> PostedChanges? {
        guard posting.isDeletion else { return PostedChanges(posting: posting.model) }
        return posting.model.modelIdentifier.map { PostedChanges(deleting: NodeIdentifier($0)) }
    }

    /// Asks the listeners for what they show, makes it anew and hands it to them: each in one go on
    /// the main actor, so that all of them change at once.
    private func deliver(
        _ targets: [ModelIndex.Owner: [ModelIndex.Slot]], _ underWay: ChangesUnderWay
    ) async {
        let affected = targets.keys.sorted().compactMap { owners[$0] }
        var deliveries: [Delivery] = []
        var outcome = TreeChange()
        if !affected.isEmpty {
            let answers = await board.answers(of: affected.map(\.listener))
            for (registration, answer) in zip(affected, answers) {
                if case .isGone = answer { remove(registration) }
                guard case .shows(let base) = answer else { continue }
                guard
                    let change = update(
                        registration, base, targets[registration.owner] ?? [], underWay.changes)
                else { continue }
                outcome.replacements += change.replacements
                outcome.cascaded += change.cascaded
                outcome.hasWrongMapClass = outcome.hasWrongMapClass || change.hasWrongMapClass
                if change.isChange {
                    deliveries.append(delivery(to: registration, base, change, underWay))
                }
            }
        }
        if outcome.hasWrongMapClass { await board.report(.WrongMapClass) }
        if let onCascade = underWay.posting?.onCascade { await onCascade(outcome.cascaded) }
        let announcement = underWay.posting.flatMap { posting in
            board.hasUpdatesListeners
                ? ListenerRegistry.Announcement(
                    model: posting.model, changes: underWay.changes.changes,
                    context: posting.context,
                    time: posting.time) : nil
        }
        guard !deliveries.isEmpty || announcement != nil else { return }
        let newListeners = await board.deliver(
            deliveries, replacements: outcome.replacements.map { .init(old: $0.old, new: $0.new) },
            announcement,
            context: underWay.context, era: underWay.era)
        for new in newListeners { register(new.listener, new.base) }
    }

    private func update(
        _ registration: Registration, _ base: ListenerBase, _ targets: [ModelIndex.Slot],
        _ changes: PostedChanges
    ) -> TreeChange? {
        var targets = targets
        if applyAll(of: base.splices, to: registration) {
            targets = self.targets(of: changes)[registration.owner] ?? []
        }
        // Otherwise the slots found are not those of this tree.
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
        // The index may be half changed. Where there is a new tree, that is indexed when it is
        // delivered.
        if registration.snapshot == nil, change?.isChange != true { reindex(registration, base) }
        return change
    }

    private func delivery(
        to registration: Registration, _ base: ListenerBase, _ change: TreeChange,
        _ underWay: ChangesUnderWay
    ) -> Delivery {
        let revision = ChangeTime()
        if let model = change.model {
            let next = ListenerBase(model: model, revision: base.revision == nil ? nil : revision)
            if registration.snapshot == nil {
                reindex(registration, next)
            } else {
                registration.snapshot = Snapshot(next)
            }
            registration.latestRevision = base.revision ?? .zero
        } else {
            removeTrees(of: registration)
        }
        return Delivery(
            listener: registration.listener, base: base, model: change.model,
            updates: change.updates,
            childUpdates: change.childUpdates, context: underWay.context, time: underWay.time,
            revision: revision)
    }

    // MARK: Invariants

    /// What is wrong with the index: nothing, unless this module is.
    func violations() async -> [String] {
        let registrations = Array(registrations.values)
        var found = index.violations(
            trees: registrations.flatMap { registration in
                (registration.parts + [registration.root]).filter { $0 != ModelIndex.none }
                    .map { (root: $0, owner: registration.owner) }
            })
        let answers = await board.answers(of: registrations.map(\.listener))
        for (registration, answer) in zip(registrations, answers) {
            guard case .shows(let base) = answer, registration.snapshot?.isTree(of: base) == true
            else { continue }
            let fresh = ModelIndex()
            let root = fresh.insert(base.model, owner: registration.owner)
            if fresh.places(below: root) != index.places(below: registration.root) {
                found.append("the tree of owner \(registration.owner) is not the one that is shown")
            }
        }
        return found
    }
}
