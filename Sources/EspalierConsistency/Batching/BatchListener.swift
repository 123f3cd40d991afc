public import EspalierModels

/// Several listeners as one: an update that touches some of them calls each of those, and then the delegate once.
///
/// ```swift
/// let batch = BatchListener(listeners: [header, list], consistencyManager: manager)
/// batch.delegate = self                       // redraws once, whatever changed
/// ```
///
/// The batch listens for them: they are not added on their own. Whenever one of them shows another model, the batch has to be
/// told by `listenerHasUpdatedModel`. Belongs to the main actor.
@preconcurrency @MainActor
public final class BatchListener: ConsistencyManagerListener {
    public let listeners: [any ConsistencyManagerListener]
    public weak var delegate: (any BatchListenerDelegate)?

    public init(listeners: [any ConsistencyManagerListener], consistencyManager: ConsistencyManager) {
        self.listeners = listeners
        addListener(consistencyManager)
    }

    /// Listens to all that the listeners show.
    public func addListener(_ consistencyManager: ConsistencyManager) { consistencyManager.addListener(self) }

    /// To be called when `listener` shows another model.
    public func listenerHasUpdatedModel(
        _ listener: any ConsistencyManagerListener, consistencyManager: ConsistencyManager
    ) {
        if let model = listener.currentModel() { consistencyManager.addListener(self, to: model) }
    }

    /// To be called when `model` has come to what one of the listeners shows.
    public func listenerHasUpdatedModel(
        _ model: any ConsistencyManagerModel, consistencyManager: ConsistencyManager
    ) {
        consistencyManager.addListener(self, to: model)
    }

    public func currentModel() -> (any ConsistencyManagerModel)? {
        let models: [(any ConsistencyManagerModel)?] = listeners.map { $0.currentModel() }
        return BatchUpdateModel(models: models)
    }

    public func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?) {
        guard let model = model as? BatchUpdateModel, model.models.count == listeners.count else { return }
        let changed = zip(listeners.indices, zip(listeners, model.models)).compactMap { place, pair in
            isSame(pair.0.currentModel(), pair.1) ? nil : (place, updates)
        }
        tell(changed, model, updates: updates, context: context)
    }

    private func isSame(_ a: (any ConsistencyManagerModel)?, _ b: (any ConsistencyManagerModel)?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.isEqualToModel(b)
    }

    private func tell(
        _ changed: [(place: Int, updates: ModelUpdates)], _ model: BatchUpdateModel, updates: ModelUpdates,
        context: Any?
    ) {
        guard !changed.isEmpty else { return }
        for (place, updates) in changed {
            listeners[place].modelUpdated(model.models[place], updates: updates, context: context)
        }
        delegate?.batchListener(
            self, hasUpdatedListeners: changed.map { listeners[$0.place] }, updates: updates, context: context)
    }
}

extension BatchListener: TreeListener {
    package func take(_ delivery: Delivery) {
        guard let old = delivery.base.model as? BatchUpdateModel, let new = delivery.model as? BatchUpdateModel,
            old.models.count == listeners.count, new.models.count == listeners.count
        else { return }
        var ordinal = -1
        var changed: [(Int, ModelUpdates)] = []
        for (place, model) in old.models.enumerated() {
            guard let model else { continue }
            ordinal += 1
            // A listener that shows another model by now is not overwritten.
            guard let change = delivery.childUpdates[ordinal],
                let shown = listeners[place].currentModel(), shown.modelIdentifier == model.modelIdentifier
            else { continue }
            changed.append((place, change.updates))
        }
        tell(changed, new, updates: delivery.updates, context: delivery.context)
    }
}

/// Told once for all listeners that an update touched, after they were. On the main actor.
@preconcurrency @MainActor
public protocol BatchListenerDelegate: AnyObject {
    /// - Parameters:
    ///   - listeners: those that changed, in the order of the batch.
    ///   - updates: what changed in all of them.
    func batchListener(
        _ batchListener: BatchListener, hasUpdatedListeners listeners: [any ConsistencyManagerListener],
        updates: ModelUpdates, context: Any?)
}
