public import EspalierModels

/// Combines several listeners: an update that changes some of them calls each of those, and then
/// the delegate of the batch once.
///
/// ```swift
/// let batch = BatchListener(listeners: [header, list], consistencyManager: manager)
/// batch.delegate = self                       // redraws once, whatever changed
/// ```
///
/// The batch listens for its listeners, which must not be added to the manager themselves. Whenever
/// one of them shows another model, call `listenerHasUpdatedModel`. The batch holds its listeners
/// strongly. It belongs to the main actor.
@preconcurrency @MainActor
public final class BatchListener: ConsistencyManagerListener {
    /// The listeners of the batch, in the order in which they were passed.
    public let listeners: [any ConsistencyManagerListener]
    /// The delegate that is called once for each update. Held weakly.
    public weak var delegate: (any BatchListenerDelegate)?
    /// The time of the last update that this batch was notified of.
    private var latestTime: ChangeTime?

    /// Creates a batch and adds it to `consistencyManager`.
    ///
    /// - Parameters:
    ///   - listeners: The listeners, which are held strongly.
    ///   - consistencyManager: The manager, which holds the batch weakly.
    public init(listeners: [any ConsistencyManagerListener], consistencyManager: ConsistencyManager)
    {
        self.listeners = listeners
        addListener(consistencyManager)
    }

    /// Starts to listen for updates of the models that all listeners show now.
    public func addListener(_ consistencyManager: ConsistencyManager) {
        consistencyManager.addListener(self)
    }

    /// Starts to listen for updates of the model that `listener` shows now. Call it whenever a
    /// listener shows another model.
    ///
    /// - Parameters:
    ///   - listener: One of the ``listeners``. Nothing happens while it shows no model.
    ///   - consistencyManager: The manager whose updates the listener is to receive.
    public func listenerHasUpdatedModel(
        _ listener: any ConsistencyManagerListener, consistencyManager: ConsistencyManager
    ) {
        if let model = listener.currentModel() { consistencyManager.addListener(self, to: model) }
    }

    /// Starts to listen for updates of `model`. Call it when a subtree was added to the tree of a
    /// listener.
    ///
    /// - Parameters:
    ///   - model: The root of the subtree.
    ///   - consistencyManager: The manager whose updates the listener is to receive.
    public func listenerHasUpdatedModel(
        _ model: any ConsistencyManagerModel, consistencyManager: ConsistencyManager
    ) {
        consistencyManager.addListener(self, to: model)
    }

    /// Returns the models of all listeners as one `BatchUpdateModel`.
    public func currentModel() -> (any ConsistencyManagerModel)? {
        let models: [(any ConsistencyManagerModel)?] = listeners.map { $0.currentModel() }
        return BatchUpdateModel(models: models)
    }

    /// Notifies the listeners whose models differ from those in `model`, and then the delegate.
    public func modelUpdated(
        _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
    ) {
        if let model = model as? BatchUpdateModel {
            show(model, updates: updates, context: context, time: nil)
        }
    }

    private func show(
        _ model: BatchUpdateModel, updates: ModelUpdates, context: Any?, time: ChangeTime?
    ) {
        guard model.models.count == listeners.count else { return }
        var changed: [(place: Int, change: NodeChange)] = []
        for (place, new) in model.models.enumerated() {
            guard let old = listeners[place].currentModel(), new?.isEqualToModel(old) != true else {
                continue
            }
            let net = NetChange.updates(from: old, to: new, updates)
            changed.append((place, NodeChange(model: new, updates: net)))
        }
        notify(changed, updates: updates, context: context, time: time)
    }

    /// Notifies the listeners that changed, and then the delegate. A nested batch also listens on
    /// its own, but is notified of each update only once.
    private func notify(
        _ changed: [(place: Int, change: NodeChange)], updates: ModelUpdates, context: Any?,
        time: ChangeTime?
    ) {
        guard !changed.isEmpty else { return }
        for (place, change) in changed {
            if let batch = listeners[place] as? BatchListener,
                let model = change.model as? BatchUpdateModel
            {
                if time == nil || batch.latestTime != time {
                    batch.latestTime = time
                    batch.show(model, updates: change.updates, context: context, time: time)
                }
            } else {
                listeners[place].modelUpdated(
                    change.model, updates: change.updates, context: context)
            }
        }
        delegate?.batchListener(
            self, hasUpdatedListeners: changed.map { listeners[$0.place] }, updates: updates,
            context: context)
    }
}

extension BatchListener: TreeListener {
    package func apply(_ delivery: Delivery) {
        guard let old = delivery.base.model as? BatchUpdateModel,
            let new = delivery.model as? BatchUpdateModel,
            old.models.count == listeners.count, new.models.count == listeners.count,
            latestTime != delivery.time
        else { return }
        latestTime = delivery.time
        var changed: [(place: Int, change: NodeChange)] = []
        for (ordinal, (place, model)) in old.children.enumerated() {
            // A listener that shows another model by now is not overwritten.
            guard let change = delivery.childChanges[ordinal],
                ShownIdentity(listeners[place].currentModel()) == ShownIdentity(model)
            else { continue }
            changed.append((place, change))
        }
        notify(
            changed, updates: delivery.updates,
            context: UncheckedContext.value(of: delivery.context), time: delivery.time)
    }
}

/// Is notified once of each update that changes listeners of a batch, after those listeners.
@preconcurrency @MainActor
public protocol BatchListenerDelegate: AnyObject {
    /// Reports that an update has changed some listeners of the batch. Called on the main actor.
    ///
    /// - Parameters:
    ///   - batchListener: The batch.
    ///   - listeners: The listeners that changed, in the order of the batch.
    ///   - updates: The changes in all of their trees.
    ///   - context: The context of the update.
    func batchListener(
        _ batchListener: BatchListener,
        hasUpdatedListeners listeners: [any ConsistencyManagerListener],
        updates: ModelUpdates, context: Any?)
}

// MARK: - Models in one update

/// Combines several models: to post them in one update, or to listen to all of them.
///
/// ```swift
/// // Each listener is called once.
/// manager.updateModel(BatchUpdateModel(models: [person, message]))
/// ```
///
/// Deleting one of the models leaves `nil` in its place, so the places of the others stay.
public final class BatchUpdateModel: ConsistencyManagerModel {
    /// The models by place; `nil` for an empty place.
    public let models: [(any ConsistencyManagerModel)?]
    /// The identifier of the batch; usually `nil`. Two batches with the same identifier are the
    /// same model, so posting one replaces the other.
    public let modelIdentifier: String?

    /// Creates a batch of `models`.
    ///
    /// - Parameters:
    ///   - models: The models.
    ///   - modelIdentifier: The identifier of the batch, if it is to be a model of its own.
    public init(models: [any ConsistencyManagerModel], modelIdentifier: String? = nil) {
        self.models = models
        self.modelIdentifier = modelIdentifier
    }

    /// Creates a batch of `models` with empty places.
    ///
    /// - Parameters:
    ///   - models: The models by place; `nil` for an empty place.
    ///   - modelIdentifier: The identifier of the batch, if it is to be a model of its own.
    public init(models: [(any ConsistencyManagerModel)?], modelIdentifier: String? = nil) {
        self.models = models
        self.modelIdentifier = modelIdentifier
    }

    /// The models with their places, without the empty places, in the order of `forEach`.
    var children: [(place: Int, model: any ConsistencyManagerModel)] {
        models.enumerated().compactMap { place, model in model.map { (place, $0) } }
    }

    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        let mapped: [(any ConsistencyManagerModel)?] = models.map { $0.flatMap(transform) }
        return BatchUpdateModel(models: mapped, modelIdentifier: modelIdentifier)
    }

    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        for case let model? in models { visit(model) }
    }

    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        guard let other = other as? BatchUpdateModel, other.models.count == models.count else {
            return false
        }
        if other === self { return true }
        return zip(models, other.models).allSatisfy { model, other in
            switch (model, other) {
            case (let model?, let other?): model.isEqualToModel(other)
            case (nil, nil): true
            default: false
            }
        }
    }
}
