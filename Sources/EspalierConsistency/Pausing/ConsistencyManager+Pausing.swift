import EspalierModels
import Synchronization

extension ConsistencyManager {
    /// Resumes several in one go, in which `alongside` is called last, whether they have missed
    /// something or not.
    @MainActor
    package func resume(
        _ listeners: [any ConsistencyManagerListener],
        alongside: (@MainActor @Sendable () -> Void)? = nil
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
        for (ordinal, (place, old)) in old.children.enumerated() {
            let new = new.models[place]
            if let new, new.isEqualToModel(old) { continue }
            result[ordinal] = Delivery.ChildUpdate(
                updates: NetChange.updates(from: old, to: new, updates), isDeleted: new == nil)
        }
        return result
    }
}
