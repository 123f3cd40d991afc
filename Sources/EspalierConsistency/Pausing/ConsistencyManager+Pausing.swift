import EspalierModels
import Synchronization

extension ConsistencyManager {
    /// What the listener would show goes on being kept; it is not told until it is resumed. Nothing if it is paused already.
    @preconcurrency @MainActor
    public func pauseListener(_ listener: any ConsistencyManagerListener) { board.pause(listener) }

    /// The listener gets one call with all that changed since, with the context of the last change; none if nothing did, or if
    /// it cancelled out.
    @preconcurrency @MainActor
    public func resumeListener(_ listener: any ConsistencyManagerListener) { resume([listener]) }

    @preconcurrency @MainActor
    public func isListenerPaused(_ listener: any ConsistencyManagerListener) -> Bool { board.isPaused(listener) }

    /// Resumes several in one go, in which `alongside` is called last, whether they have missed something or not.
    @MainActor
    package func resume(
        _ listeners: [any ConsistencyManagerListener], alongside: (@MainActor @Sendable () -> Void)? = nil
    ) {
        let resuming = listeners.compactMap { board.beginResuming($0) }
        guard !resuming.isEmpty || alongside != nil else { return }
        let era = board.era.load(ordering: .relaxed)
        submit { manager in
            let board = manager.board
            let gathered = await MainActor.run { resuming.compactMap { board.gathered(by: $0) } }
            let deliveries = gathered.compactMap { $0.delivery }
            guard !deliveries.isEmpty || alongside != nil else { return }
            await board.deliverGathered(deliveries, era: era, alongside)
        }
    }
}

extension GatheredChange {
    /// Nil when nothing is left.
    var delivery: Delivery? {
        if let model, model.isEqualToModel(shown) { return nil }
        return Delivery(
            listener: listener, base: ListenerBase(model: shown, revision: nil), model: model,
            updates: NetChange.updates(from: shown, to: model, updates), childUpdates: childUpdates,
            context: context, time: time, revision: ChangeTime())
    }

    private var childUpdates: [Int: Delivery.ChildUpdate] {
        guard let old = shown as? BatchUpdateModel, let new = model as? BatchUpdateModel,
            old.models.count == new.models.count
        else { return [:] }
        var result: [Int: Delivery.ChildUpdate] = [:]
        var ordinal = -1
        for (old, new) in zip(old.models, new.models) {
            guard let old else { continue }
            ordinal += 1
            if let new, new.isEqualToModel(old) { continue }
            result[ordinal] = Delivery.ChildUpdate(
                updates: NetChange.updates(from: old, to: new, updates), isDeleted: new == nil)
        }
        return result
    }
}
