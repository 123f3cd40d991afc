import EspalierModels

/// A listener that keeps its model, and what it would show meanwhile.
struct PausedListener {
    private(set) weak var listener: (any ConsistencyManagerListener)?
    private(set) var updatedModel: (any ConsistencyManagerModel)?
    private(set) var updates = ModelUpdates()
    private(set) var context: (any Sendable)?
    private(set) var time = ChangeTime.zero
    private(set) var isChanged = false
    /// Told to go on; the news are on their way, behind what was submitted before.
    var isResuming = false

    @MainActor
    init(_ listener: any ConsistencyManagerListener) {
        self.listener = listener
        updatedModel = listener.currentModel()
    }

    init(_ listener: any ConsistencyManagerListener, model: any ConsistencyManagerModel, isResuming: Bool) {
        self.listener = listener
        updatedModel = model
        self.isResuming = isResuming
    }

    mutating func take(_ delivery: Delivery) {
        // The model was another one when the update was made.
        guard updatedModel?.modelIdentifier == delivery.base.model.modelIdentifier else { return }
        updatedModel = delivery.model
        updates.formUnion(delivery.updates)
        context = delivery.context
        time = delivery.time
        isChanged = true
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
