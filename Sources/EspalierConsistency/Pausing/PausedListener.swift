import EspalierModels

/// What a listener that is paused keeps from changing, and what it would show otherwise.
///
/// What is gathered is about what the listener showed when gathering began. A listener that chooses
/// something else begins anew: it is found out by the root's identifier, and, of whatever has none,
/// when the listener says that it shows another tree.
struct PausedListener {
    private(set) var updatedModel: (any ConsistencyManagerModel)?
    private(set) var updates = ModelUpdates()
    private(set) var context: (any Sendable)?
    private(set) var time = ChangeTime.zero
    private(set) var isChanged = false
    /// Told to go on; the news are on their way, behind what was submitted before.
    var isResuming = false
    /// What the listener showed when gathering began.
    private var shown: ListenerBase?
    /// What `updatedModel` is a later version of.
    private var origin: ShownIdentity
    /// Another one whenever something is begun anew: what was asked before was about something
    /// else.
    private var beginning = ChangeTime()

    init(showing base: ListenerBase?) {
        updatedModel = base?.model
        shown = base
        origin = ShownIdentity(base?.model)
    }

    /// What updates of the listener begin with.
    var base: ListenerBase? {
        updatedModel.map { ListenerBase(model: $0, revision: nil, gathering: beginning) }
    }

    /// To be called with what the listener shows before anything else is asked or told: it may have
    /// chosen another model, and what was gathered was about the one before.
    mutating func follow(_ base: ListenerBase?) {
        guard let base else { return }
        let identity = ShownIdentity(base.model)
        if !isChanged {
            if identity != origin { beginning = ChangeTime() }
            updatedModel = base.model
            shown = base
            origin = identity
        } else if identity != origin {
            restartPlaces(of: base) { ShownIdentity($1) != ShownIdentity($0) }
        }
    }

    /// The listener says what it shows. If that is the tree with which gathering began, what was
    /// gathered goes on being what it misses; another tree is its choice, whatever its root is
    /// called.
    mutating func follow(told base: ListenerBase?) {
        guard let base else { return }
        if let shown, shown.isTree(of: base) { return follow(base) }
        if isChanged {
            restartPlaces(of: base) { !ListenerBase.areSame($0, $1) }
        } else {
            restart(with: base)
        }
    }

    /// `base` is what the listener shows by now, and the delivery about what it showed, or would
    /// have shown, before.
    mutating func take(_ delivery: Delivery, shown base: ListenerBase?) {
        follow(base)
        guard let model = model(after: delivery) else { return }
        updatedModel = model.value
        updates.formUnion(delivery.updates)
        context = delivery.context
        time = delivery.time
        isChanged = true
    }

    /// Begins anew with what the listener has chosen to show.
    mutating func restart(with base: ListenerBase) {
        let isResuming = isResuming
        self = PausedListener(showing: base)
        self.isResuming = isResuming
    }

    // MARK: Batches

    /// Begins anew with those places of a batch whose listener has chosen another model: with all
    /// of it if this is no batch.
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
            beginning = ChangeTime()
        }
        origin = .batch(origins)
        shown = ListenerBase(model: BatchUpdateModel(models: known), revision: nil)
        updatedModel = BatchUpdateModel(models: models)
    }

    private struct Model {
        let value: (any ConsistencyManagerModel)?
    }

    /// Nil if the delivery is about another model than what is gathered.
    private func model(after delivery: Delivery) -> Model? {
        if delivery.base.gathering == beginning { return Model(value: delivery.model) }
        guard case .batch(let origins) = origin, let updated = updatedModel as? BatchUpdateModel,
            let base = delivery.base.model as? BatchUpdateModel,
            let new = delivery.model as? BatchUpdateModel,
            base.models.count == origins.count, new.models.count == origins.count
        else {
            return isAbout(delivery.base.model, updatedModel, origin)
                ? Model(value: delivery.model) : nil
        }
        return Model(
            value: BatchUpdateModel(
                models: origins.indices.map { place in
                    isAbout(base.models[place], updated.models[place], origins[place])
                        ? new.models[place] : updated.models[place]
                }))
    }

    /// Whether what was asked for, and has been changed, is what is kept now.
    private func isAbout(
        _ asked: (any ConsistencyManagerModel)?, _ kept: (any ConsistencyManagerModel)?,
        _ origin: ShownIdentity
    ) -> Bool {
        guard ShownIdentity(asked) == origin else { return false }
        guard origin == .model(nil), let asked, let kept else { return true }
        return ListenerBase.areSame(asked, kept)
    }
}

/// What a paused listener has missed, before what cancels out is taken out.
struct GatheredChange: Sendable {
    let listener: WeakListener
    let shown: any ConsistencyManagerModel
    let model: (any ConsistencyManagerModel)?
    let updates: ModelUpdates
    let context: (any Sendable)?
    let time: ChangeTime
}
