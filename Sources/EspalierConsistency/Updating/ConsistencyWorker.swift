import EspalierModels

/// Where all work on trees is done: the index, and the updates of listeners. Called by one queue, one piece of work at a time.
actor ConsistencyWorker {
    private let board: ListenerBoard
    private let index = ModelIndex()
    private var registrations: [ObjectIdentifier: Registration] = [:]
    private var owners: [ModelIndex.Owner: Registration] = [:]
    private var latestOwner: ModelIndex.Owner = 0
    private var freeOwners: [ModelIndex.Owner] = []
    private var recent = RecentChanges()

    init(board: ListenerBoard) { self.board = board }

    /// Nodes in the index, of all listeners.
    var nodeCount: Int { index.count }
    var listenerCount: Int { registrations.count }

    // MARK: Listening

    func register(_ listener: WeakListener, _ base: ListenerBase) {
        guard listener.isAlive else { return }
        reindex(registration(for: listener), base) { _, _ in }
    }

    /// For what is shown was asked for at `fetch`: what was posted since is delivered now.
    func register(_ listener: WeakListener, _ base: ListenerBase, since fetch: ChangeTime, era: Int) async {
        register(listener, base)
        guard let registration = registrations[listener.identity], let missed = recent.changes(since: fetch) else {
            return
        }
        var targets: [ModelIndex.Slot] = []
        for identifier in missed.changes.byIdentifier.keys {
            index.forEachOccurrence(of: identifier) {
                if index.owner(of: $0) == registration.owner { targets.append($0) }
            }
        }
        guard !targets.isEmpty else { return }
        let round = Round(
            changes: missed.changes, context: missed.context, time: missed.time, era: era, posting: nil)
        await deliver([registration.owner: targets], round)
    }

    func register(_ listener: WeakListener, part: any ConsistencyManagerModel) {
        guard listener.isAlive else { return }
        let registration = registration(for: listener)
        registration.parts.append(index.insert(part, owner: registration.owner))
    }

    /// The root's children in `range` gave way to `models`: the tree `old` became the tree `new`.
    func splice(
        _ listener: WeakListener, _ range: Range<Int>, with models: [any ConsistencyManagerModel], from old: ChangeTime,
        to new: ChangeTime
    ) {
        guard listener.isAlive else { return }
        let registration = registration(for: listener)
        if registration.root != ModelIndex.none, case .revision(old)? = registration.snapshot {
            index.replaceChildren(of: registration.root, in: range, by: models)
            registration.snapshot = .revision(new)
        } else {
            for model in models { register(listener, part: model) }
        }
    }

    func unregister(_ identity: ObjectIdentifier) {
        if let registration = registrations[identity] { remove(registration) }
    }

    func removeAll() {
        registrations = [:]
        owners = [:]
        freeOwners = []
        latestOwner = 0
        index.removeAll()
    }

    func removeDead() {
        for registration in registrations.values where !registration.listener.isAlive { remove(registration) }
    }

    private func registration(for listener: WeakListener) -> Registration {
        if let known = registrations[listener.identity] {
            if known.listener.isAlive { return known }
            // Another object at the same address.
            remove(known)
        }
        let owner = freeOwners.popLast() ?? latestOwner + 1
        latestOwner = max(latestOwner, owner)
        let registration = Registration(listener: listener, owner: owner)
        registrations[listener.identity] = registration
        owners[owner] = registration
        return registration
    }

    private func remove(_ registration: Registration) {
        removeTrees(of: registration)
        registrations[registration.listener.identity] = nil
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
        _ registration: Registration, _ base: ListenerBase, _ visit: (NodeIdentifier, ModelIndex.Slot) -> Void
    ) {
        removeTrees(of: registration)
        registration.root = index.insert(base.model, owner: registration.owner) { _, identifier, slot in
            if let identifier { visit(identifier, slot) }
        }
        registration.snapshot = Snapshot(base)
    }

    // MARK: Fetches

    func begin(_ fetch: ChangeTime) { recent.begin(fetch) }
    func end(_ fetch: ChangeTime) { recent.end(fetch) }

    // MARK: Updating

    /// Changes on their way to listeners.
    private struct Round {
        let changes: PostedChanges
        let context: (any Sendable)?
        let time: ChangeTime
        let era: Int
        /// Nil where changes are caught up with, which everyone else has heard of.
        let posting: Posting?
    }

    func post(_ posting: Posting) async {
        guard let changes = changes(of: posting) else { return await board.report(.DeleteIDFailure) }
        recent.note(changes, posting)
        var targets: [ModelIndex.Owner: [ModelIndex.Slot]] = [:]
        for identifier in changes.byIdentifier.keys {
            index.forEachOccurrence(of: identifier) { targets[index.owner(of: $0), default: []].append($0) }
        }
        await deliver(
            targets,
            Round(
                changes: changes, context: posting.context, time: posting.time, era: posting.era, posting: posting))
    }

    private func changes(of posting: Posting) -> PostedChanges? {
        guard posting.isDeletion else { return PostedChanges(posting: posting.model) }
        return posting.model.modelIdentifier.map { PostedChanges(deleting: NodeIdentifier($0)) }
    }

    /// Asks the listeners for what they show, makes it anew and hands it to them: each in one go on the main actor, so that all
    /// of them change at once.
    private func deliver(_ targets: [ModelIndex.Owner: [ModelIndex.Slot]], _ round: Round) async {
        let affected = targets.keys.sorted().compactMap { owners[$0] }
        var deliveries: [Delivery] = []
        var outcome = TreeChange()
        if !affected.isEmpty {
            let bases = await board.bases(of: affected.map(\.listener))
            for (registration, base) in zip(affected, bases) {
                guard let base else {
                    if !registration.listener.isAlive { remove(registration) }
                    continue
                }
                guard let change = update(registration, base, targets[registration.owner] ?? [], round.changes)
                else { continue }
                outcome.replacements += change.replacements
                outcome.cascaded += change.cascaded
                outcome.hasWrongMapClass = outcome.hasWrongMapClass || change.hasWrongMapClass
                if change.isChange { deliveries.append(delivery(to: registration, base, change, round)) }
            }
        }
        if outcome.hasWrongMapClass { await board.report(.WrongMapClass) }
        if let onCascade = round.posting?.onCascade { await onCascade(outcome.cascaded) }
        let news = round.posting.flatMap { posting in
            board.hasUpdatesListeners
                ? ListenerBoard.News(
                    model: posting.model, changes: round.changes.changes, time: posting.time) : nil
        }
        guard !deliveries.isEmpty || news != nil else { return }
        let newListeners = await board.deliver(
            deliveries, replacements: outcome.replacements.map { .init(old: $0.old, new: $0.new) }, news,
            context: round.context, era: round.era)
        for new in newListeners { register(new.listener, new.base) }
    }

    private func update(
        _ registration: Registration, _ base: ListenerBase, _ targets: [ModelIndex.Slot], _ changes: PostedChanges
    ) -> TreeChange? {
        var targets = targets
        if registration.parts.isEmpty, let snapshot = registration.snapshot, snapshot.isTree(of: base) {
            // The slots found are those of this tree.
        } else {
            targets = []
            reindex(registration, base) { identifier, slot in
                if changes[identifier] != nil { targets.append(slot) }
            }
        }
        do {
            let change = try TreeUpdate.apply(
                changes, to: base.model, at: registration.root, targets: targets, in: index)
            if change?.hasWrongMapClass == true { registration.snapshot = nil }
            return change
        } catch {
            registration.snapshot = nil
            return IdentifierUpdate(changes).apply(to: base.model)
        }
    }

    private func delivery(
        to registration: Registration, _ base: ListenerBase, _ change: TreeChange, _ round: Round
    ) -> Delivery {
        let revision = ChangeTime()
        if let model = change.model {
            if registration.snapshot != nil {
                registration.snapshot = Snapshot(
                    ListenerBase(model: model, revision: base.revision == nil ? nil : revision))
            }
        } else {
            removeTrees(of: registration)
        }
        return Delivery(
            listener: registration.listener, base: base, model: change.model, updates: change.updates,
            childUpdates: change.childUpdates, context: round.context, time: round.time, revision: revision)
    }
}
