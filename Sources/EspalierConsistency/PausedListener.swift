import EspalierModels

/// A paused listener: records its changes, and the tree that it would show without the pause.
///
/// The recorded changes belong to the tree that the listener showed when recording began. Recording
/// restarts when the listener chooses another tree. This is recognised by the identifier of the
/// root or, for a root without identifier, when the listener is added again with another tree.
struct PausedListener {
    private(set) var updatedModel: (any ConsistencyManagerModel)?
    private(set) var updates = ModelUpdates()
    private(set) var context: (any Sendable)?
    private(set) var time = ChangeTime.zero
    private(set) var isChanged = false
    /// Whether the listener was told to resume. Its changes follow in queue order.
    var isResuming = false
    /// The tree that the listener showed when recording began.
    private var shown: ListenerBase?
    /// The identity of the tree of which `updatedModel` is a later version.
    private var origin: ShownIdentity
    /// The start of the recording. It changes with every restart, so that an update of an earlier
    /// tree is recognised.
    private var recording = ChangeTime()

    init(showing base: ListenerBase?) {
        updatedModel = base?.model
        shown = base
        origin = ShownIdentity(base?.model)
    }

    /// The tree on which updates of the listener are based.
    var base: ListenerBase? {
        guard let updatedModel else { return nil }
        var base = ListenerBase(model: updatedModel, revision: nil)
        base.recording = recording
        return base
    }

    /// Compares the recording with what the listener shows now, and restarts it if the listener has
    /// chosen another model. Call it before any other use of the recording.
    mutating func refresh(showing base: ListenerBase?) {
        guard let base else { return }
        let identity = ShownIdentity(base.model)
        if !isChanged {
            if identity != origin { recording = ChangeTime() }
            updatedModel = base.model
            shown = base
            origin = identity
        } else if identity != origin {
            restartPlaces(of: base) { ShownIdentity($1) != ShownIdentity($0) }
        }
    }

    /// Restarts the recording if `base`, with which the listener was added again, is another tree
    /// than the one with which the recording began. The identifiers of the roots do not matter.
    mutating func restartIfOther(than base: ListenerBase?) {
        guard let base else { return }
        if let shown, shown.isTree(of: base) { return refresh(showing: base) }
        if isChanged {
            restartPlaces(of: base) { !ListenerBase.areSame($0, $1) }
        } else {
            restart(with: base)
        }
    }

    /// Records a delivery, unless it belongs to a tree before the last restart.
    ///
    /// - Parameter base: The tree that the listener shows now.
    mutating func record(_ delivery: Delivery, shown base: ListenerBase?) {
        refresh(showing: base)
        guard let model = model(after: delivery) else { return }
        updatedModel = model
        updates.formUnion(delivery.updates)
        context = delivery.context
        time = delivery.time
        isChanged = true
    }

    /// Restarts the recording with a tree that the listener has chosen.
    mutating func restart(with base: ListenerBase) {
        let isResuming = isResuming
        self = PausedListener(showing: base)
        self.isResuming = isResuming
    }

    // MARK: Batches

    /// Restarts the recording for those places of a batch whose listener has chosen another model;
    /// for the whole tree if it is not a batch.
    private mutating func restartPlaces(
        of base: ListenerBase,
        where isOther: (_ before: any ConsistencyManagerModel, _ now: any ConsistencyManagerModel)
            -> Bool
    ) {
        guard case .batch(var origins) = origin, let now = base.model as? BatchUpdateModel,
            let before = shown?.model as? BatchUpdateModel,
            let updated = updatedModel as? BatchUpdateModel,
            now.modelIdentifier == nil, now.models.count == origins.count,
            before.models.count == origins.count
        else { return restart(with: base) }
        var (models, known) = (updated.models, before.models)
        for (place, model) in now.models.enumerated() {
            guard let model else { continue }
            if let old = known[place], !isOther(old, model) { continue }
            models[place] = model
            known[place] = model
            origins[place] = ShownIdentity(model)
            recording = ChangeTime()
        }
        origin = .batch(origins)
        shown = ListenerBase(model: BatchUpdateModel(models: known), revision: nil)
        updatedModel = BatchUpdateModel(models: models)
    }

    /// Returns the tree after `delivery`, which is `.some(nil)` if it was deleted; `nil` if the
    /// delivery belongs to another tree.
    private func model(after delivery: Delivery) -> (any ConsistencyManagerModel)?? {
        if delivery.base.recording == recording { return .some(delivery.model) }
        guard case .batch(let origins) = origin, let updated = updatedModel as? BatchUpdateModel,
            let base = delivery.base.model as? BatchUpdateModel,
            let new = delivery.model as? BatchUpdateModel,
            base.models.count == origins.count, new.models.count == origins.count
        else {
            return isVersion(delivery.base.model, of: updatedModel, origin)
                ? .some(delivery.model) : nil
        }
        return BatchUpdateModel(
            models: origins.indices.map { place in
                isVersion(base.models[place], of: updated.models[place], origins[place])
                    ? new.models[place] : updated.models[place]
            })
    }

    /// Returns whether the tree that an update was based on is the recorded tree.
    private func isVersion(
        _ base: (any ConsistencyManagerModel)?, of recorded: (any ConsistencyManagerModel)?,
        _ origin: ShownIdentity
    ) -> Bool {
        guard ShownIdentity(base) == origin else { return false }
        guard origin == .model(nil), let base, let recorded else { return true }
        return ListenerBase.areSame(base, recorded)
    }
}

/// The identity of the model that a listener shows, without its content. Listeners change it, and
/// updates do not.
enum ShownIdentity: Equatable {
    case nothing
    /// The identifier of the root, if it has one.
    case model(NodeIdentifier?)
    /// The identities of the models in a batch.
    case batch([ShownIdentity])

    init(_ model: (any ConsistencyManagerModel)?) {
        guard let model else {
            self = .nothing
            return
        }
        if let batch = model as? BatchUpdateModel, batch.modelIdentifier == nil {
            self = .batch(batch.models.map { ShownIdentity($0) })
        } else {
            self = .model(NodeIdentifier(of: model))
        }
    }
}

// MARK: - Resuming

extension PausedListener {
    /// Returns the delivery of the net change for a listener that shows `shown`; `nil` if the
    /// changes cancel each other out.
    func missed(by listener: ListenerEntry, showing shown: any ConsistencyManagerModel) -> Delivery?
    {
        if let updatedModel, updatedModel.isEqualToModel(shown) { return nil }
        return Delivery(
            listener: listener, base: ListenerBase(model: shown, revision: nil),
            model: updatedModel, updates: NetChange.updates(from: shown, to: updatedModel, updates),
            childChanges: childChanges(since: shown), context: context, time: time,
            revision: ChangeTime())
    }

    private func childChanges(
        since shown: any ConsistencyManagerModel
    ) -> [Int: NodeChange] {
        guard let old = shown as? BatchUpdateModel, let new = updatedModel as? BatchUpdateModel,
            old.models.count == new.models.count
        else { return [:] }
        var result: [Int: NodeChange] = [:]
        for (ordinal, (place, old)) in old.children.enumerated() {
            let new = new.models[place]
            if let new, new.isEqualToModel(old) { continue }
            result[ordinal] = NodeChange(
                model: new, updates: NetChange.updates(from: old, to: new, updates))
        }
        return result
    }
}

/// The net result of many updates between two versions of a tree.
///
/// A node is changed if both versions contain it with different content. A node is deleted if the
/// old version contains it, an update deleted it, and the new version does not contain it. Only the
/// identifiers that the updates named (`candidates`) can have changed.
enum NetChange {
    static func updates(
        from old: any ConsistencyManagerModel, to new: (any ConsistencyManagerModel)?,
        _ candidates: ModelUpdates
    ) -> ModelUpdates {
        let named = candidates.changedModelIds.union(candidates.deletedModelIds)
        let before = nodes(in: old, named)
        guard let new else {
            return ModelUpdates(
                deletedModelIds: candidates.deletedModelIds.filter { before[$0] != nil })
        }
        let after = nodes(in: new, named)
        var result = ModelUpdates()
        for (identifier, models) in before {
            if let others = after[identifier] {
                if !isSame(models, others) { result.changedModelIds.insert(identifier) }
            } else if candidates.deletedModelIds.contains(identifier) {
                result.deletedModelIds.insert(identifier)
            }
        }
        return result
    }

    private static func isSame(
        _ a: [any ConsistencyManagerModel], _ b: [any ConsistencyManagerModel]
    ) -> Bool {
        a.allSatisfy { contains(b, $0) } && b.allSatisfy { contains(a, $0) }
    }

    private static func contains(
        _ models: [any ConsistencyManagerModel], _ model: any ConsistencyManagerModel
    ) -> Bool {
        models.contains { type(of: $0) == type(of: model) && $0.isEqualToModel(model) }
    }

    /// Returns the different versions of each node with one of the identifiers.
    private static func nodes(
        in model: any ConsistencyManagerModel, _ identifiers: Set<String>
    ) -> [String: [any ConsistencyManagerModel]] {
        var result: [String: [any ConsistencyManagerModel]] = [:]
        func visit(_ model: any ConsistencyManagerModel) {
            if let identifier = model.modelIdentifier, identifiers.contains(identifier),
                !contains(result[identifier] ?? [], model)
            {
                result[identifier, default: []].append(model)
            }
            model.forEach(visit)
        }
        visit(model)
        return result
    }
}
