import EspalierModels

/// What a listener that is paused keeps from changing, and what it would show otherwise.
struct PausedListener {
    private(set) var updatedModel: (any ConsistencyManagerModel)?
    private(set) var updates = ModelUpdates()
    private(set) var context: (any Sendable)?
    private(set) var time = ChangeTime.zero
    private(set) var isChanged = false
    /// Told to go on; the news are on their way, behind what was submitted before.
    var isResuming = false
    /// What `updatedModel` is a later version of.
    private var origin: ShownIdentity

    init(showing model: (any ConsistencyManagerModel)?) {
        updatedModel = model
        origin = ShownIdentity(model)
    }

    /// To be called with what the listener shows before anything else is asked or told: it may have chosen another model,
    /// and what was gathered was about the one before.
    mutating func follow(_ shown: (any ConsistencyManagerModel)?) {
        guard let shown else { return }
        let identity = ShownIdentity(shown)
        if !isChanged {
            updatedModel = shown
            origin = identity
        } else if identity != origin {
            if !followPlaces(shown, identity) { restart(with: shown) }
        }
    }

    /// `shown` is what the listener shows by now, and the delivery about what it showed, or would have shown, before.
    mutating func take(_ delivery: Delivery, shown: (any ConsistencyManagerModel)?) {
        follow(shown)
        guard let model = model(after: delivery) else { return }
        updatedModel = model.value
        updates.formUnion(delivery.updates)
        context = delivery.context
        time = delivery.time
        isChanged = true
    }

    /// Begins anew with what the listener has chosen to show.
    mutating func restart(with shown: any ConsistencyManagerModel) {
        let isResuming = isResuming
        self = PausedListener(showing: shown)
        self.isResuming = isResuming
    }

    // MARK: Batches

    /// Those places of a batch whose listener has chosen another model; false if this is no batch.
    private mutating func followPlaces(_ shown: any ConsistencyManagerModel, _ identity: ShownIdentity) -> Bool {
        guard case .batch(let places) = identity, case .batch(var origins) = origin, places.count == origins.count,
            let shown = shown as? BatchUpdateModel, let updated = updatedModel as? BatchUpdateModel
        else { return false }
        var models = updated.models
        for (place, identity) in places.enumerated() where identity != origins[place] && identity != .nothing {
            models[place] = shown.models[place]
            origins[place] = identity
        }
        origin = .batch(origins)
        updatedModel = BatchUpdateModel(models: models)
        return true
    }

    private struct Model {
        let value: (any ConsistencyManagerModel)?
    }

    /// Nil if the delivery is about another model than what is gathered.
    private func model(after delivery: Delivery) -> Model? {
        guard case .batch(let origins) = origin, let updated = updatedModel as? BatchUpdateModel,
            let base = delivery.base.model as? BatchUpdateModel, let new = delivery.model as? BatchUpdateModel,
            base.models.count == origins.count, new.models.count == origins.count
        else { return ShownIdentity(delivery.base.model) == origin ? Model(value: delivery.model) : nil }
        return Model(
            value: BatchUpdateModel(
                models: origins.indices.map { place in
                    ShownIdentity(base.models[place]) == origins[place] ? new.models[place] : updated.models[place]
                }))
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
