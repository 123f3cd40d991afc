public import EspalierModels

/// Several listeners as one: an update that touches some of them calls each of those, and then the
/// delegate once.
///
/// ```swift
/// let batch = BatchListener(listeners: [header, list], consistencyManager: manager)
/// batch.delegate = self                       // redraws once, whatever changed
/// ```
///
/// The batch listens for them: they are not added on their own. Whenever one of them shows another
/// model, the batch has to be told by `listenerHasUpdatedModel`. Belongs to the main actor.
@preconcurrency @MainActor
public final class BatchListener: ConsistencyManagerListener {
    public let listeners: [any ConsistencyManagerListener]
    public weak var delegate: (any BatchListenerDelegate)?
    /// Of the last update that this batch was told of.
    private var latestTime: ChangeTime?

    public init(listeners: [any ConsistencyManagerListener], consistencyManager: ConsistencyManager)
    {
        self.listeners = listeners
        addListener(consistencyManager)
    }

    /// Listens to all that the listeners show.
    public func addListener(_ consistencyManager: ConsistencyManager) {
        consistencyManager.addListener(self)
    }

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
        var changed: [Change] = []
        for (place, new) in model.models.enumerated() {
            guard let old = listeners[place].currentModel(), new?.isEqualToModel(old) != true else {
                continue
            }
            changed.append(
                Change(
                    place: place, model: new,
                    updates: NetChange.updates(from: old, to: new, updates)))
        }
        tell(changed, updates: updates, context: context, time: time)
    }

    private struct Change {
        let place: Int
        let model: (any ConsistencyManagerModel)?
        let updates: ModelUpdates
    }

    /// A batch in this one listens on its own, too, and is told once of each update all the same.
    private func tell(_ changed: [Change], updates: ModelUpdates, context: Any?, time: ChangeTime?)
    {
        guard !changed.isEmpty else { return }
        for change in changed {
            if let batch = listeners[change.place] as? BatchListener,
                let model = change.model as? BatchUpdateModel
            {
                if time == nil || batch.latestTime != time {
                    batch.latestTime = time
                    batch.show(model, updates: change.updates, context: context, time: time)
                }
            } else {
                listeners[change.place].modelUpdated(
                    change.model, updates: change.updates, context: context)
            }
        }
        delegate?.batchListener(
            self, hasUpdatedListeners: changed.map { listeners[$0.place] }, updates: updates,
            context: context)
    }
}

extension BatchListener: TreeListener {
    package func take(_ delivery: Delivery) {
        guard let old = delivery.base.model as? BatchUpdateModel,
            let new = delivery.model as? BatchUpdateModel,
            old.models.count == listeners.count, new.models.count == listeners.count,
            latestTime != delivery.time
        else { return }
        latestTime = delivery.time
        var changed: [Change] = []
        for (ordinal, (place, model)) in old.children.enumerated() {
            // A listener that shows another model by now is not overwritten.
            guard let change = delivery.childUpdates[ordinal],
                ShownIdentity(listeners[place].currentModel()) == ShownIdentity(model)
            else { continue }
            changed.append(Change(place: place, model: new.models[place], updates: change.updates))
        }
        tell(changed, updates: delivery.updates, context: delivery.context, time: delivery.time)
    }
}

/// Told once for all listeners that an update touched, after they were. On the main actor.
@preconcurrency @MainActor
public protocol BatchListenerDelegate: AnyObject {
    /// - Parameters:
    ///   - listeners: those that changed, in the order of the batch.
    ///   - updates: what changed in all of them.
    func batchListener(
        _ batchListener: BatchListener,
        hasUpdatedListeners listeners: [any ConsistencyManagerListener],
        updates: ModelUpdates, context: Any?)
}
