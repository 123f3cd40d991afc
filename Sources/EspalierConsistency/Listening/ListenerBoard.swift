import EspalierModels
import Synchronization

/// What of a consistency manager belongs to the main actor: who is paused, who hears of everything, and the calls to all of
/// them.
@MainActor
final class ListenerBoard {
    weak var manager: ConsistencyManager?
    weak var delegate: (any ConsistencyManagerDelegate)?
    var cleaningInterval: Double = 300
    var cleaning: Task<Void, Never>?
    private var paused: [ObjectIdentifier: PausedListener] = [:]
    private var updatesListeners: [WeakUpdatesListener] = []
    private nonisolated let updatesListenerCount = Atomic<Int>(0)
    /// Grows with each clearing: what was submitted before it is not delivered after it.
    nonisolated let era = Atomic<Int>(0)

    nonisolated init() {}

    struct News: Sendable {
        let model: any ConsistencyManagerModel
        let changes: [String: ModelChange]
        let time: ChangeTime
    }

    struct Replacement: Sendable {
        let old: any ConsistencyManagerModel
        let new: any ConsistencyManagerModel
    }

    struct NewListener: Sendable {
        let listener: WeakListener
        let base: ListenerBase
    }

    private struct WeakUpdatesListener {
        weak var listener: (any ConsistencyManagerUpdatesListener)?
    }

    // MARK: Asking and telling

    /// What each listener shows, all asked at the same moment. Of a paused one: what it would show.
    func bases(of listeners: [WeakListener]) -> [ListenerBase?] {
        listeners.map { weak in
            guard let listener = weak.listener else { return nil }
            if let record = record(of: listener) {
                return record.updatedModel.map { ListenerBase(model: $0, revision: nil) }
            }
            if let tree = weak.treeListener { return tree.base }
            return listener.currentModel().map { ListenerBase(model: $0, revision: nil) }
        }
    }

    /// Returns those who waited for a model and have it now.
    func deliver(
        _ deliveries: [Delivery], replacements: [Replacement], _ news: News?, context: (any Sendable)?, era: Int
    ) -> [NewListener] {
        guard era == self.era.load(ordering: .relaxed), let manager else { return [] }
        var newListeners: [NewListener] = []
        if let delegate {
            for replacement in replacements {
                delegate.consistencyManager(
                    manager, willReplaceModel: replacement.old, withModel: replacement.new, context: context)
            }
        }
        DeliveryRound.run {
            for delivery in deliveries { hand(over: delivery) }
            guard let news else { return }
            for updatesListener in updatesListeners {
                if let waiting = updatesListener.listener as? any WaitingListener {
                    guard waiting.take(news.changes, context: context, time: news.time), let base = waiting.base
                    else { continue }
                    rebase(waiting, to: base.model)
                    newListeners.append(NewListener(listener: WeakListener(waiting), base: base))
                } else {
                    updatesListener.listener?.consistencyManager(
                        manager, updatedModel: news.model, changes: news.changes, context: context)
                }
            }
        }
        return newListeners
    }

    private func hand(over delivery: Delivery) {
        guard let listener = delivery.listener.listener else { return }
        if record(of: listener) != nil {
            paused[delivery.listener.identity]?.take(delivery)
            return
        }
        let current = delivery.listener.treeListener?.base?.model ?? listener.currentModel()
        // What is shown now is another model: the next update is the first that is about it.
        guard let current, current.modelIdentifier == delivery.base.model.modelIdentifier else { return }
        Self.tell(delivery)
    }

    private static func tell(_ delivery: Delivery) {
        if let tree = delivery.listener.treeListener {
            tree.take(delivery)
        } else {
            delivery.listener.listener?.modelUpdated(
                delivery.model, updates: delivery.updates, context: delivery.context)
        }
    }

    func report(_ error: CriticalError) {
        guard let manager else { return }
        delegate?.consistencyManager(manager, failedWithCriticalError: error.rawValue)
    }

    // MARK: Listeners of everything

    nonisolated var hasUpdatesListeners: Bool { updatesListenerCount.load(ordering: .relaxed) > 0 }

    func add(_ listener: any ConsistencyManagerUpdatesListener) {
        updatesListeners.removeAll { $0.listener == nil }
        if !updatesListeners.contains(where: { $0.listener === listener }) {
            updatesListeners.append(WeakUpdatesListener(listener: listener))
        }
        updatesListenerCount.store(updatesListeners.count, ordering: .relaxed)
    }

    func remove(_ listener: any ConsistencyManagerUpdatesListener) {
        updatesListeners.removeAll { $0.listener == nil || $0.listener === listener }
        updatesListenerCount.store(updatesListeners.count, ordering: .relaxed)
    }

    // MARK: Pausing

    func isPaused(_ listener: any ConsistencyManagerListener) -> Bool { record(of: listener)?.isResuming == false }

    func pause(_ listener: any ConsistencyManagerListener) {
        let identity = ObjectIdentifier(listener)
        if record(of: listener) != nil {
            // Paused anew before the news came: they go on being gathered.
            paused[identity]?.isResuming = false
        } else {
            paused[identity] = PausedListener(listener)
        }
    }

    /// Whether there is something to resume; the news come when everything submitted before has been gathered.
    func beginResuming(_ listener: any ConsistencyManagerListener) -> Bool {
        guard record(of: listener)?.isResuming == false else { return false }
        paused[ObjectIdentifier(listener)]?.isResuming = true
        return true
    }

    /// The listener has chosen another model: what was gathered was about the one before. A model that `isFetched` may be
    /// another version of the same.
    func rebase(
        _ listener: any ConsistencyManagerListener, to model: any ConsistencyManagerModel, isFetched: Bool = false
    ) {
        guard let record = record(of: listener),
            isFetched || record.updatedModel?.modelIdentifier != model.modelIdentifier
        else { return }
        paused[ObjectIdentifier(listener)] = PausedListener(
            listener, model: model, isResuming: record.isResuming)
    }

    func forget(_ identity: ObjectIdentifier) { paused[identity] = nil }

    /// What a listener that resumes has gathered; nil if it was paused again.
    func gathered(by listener: WeakListener) -> GatheredChange? {
        guard let object = listener.listener, let record = record(of: object), record.isResuming else { return nil }
        paused[listener.identity] = nil
        guard record.isChanged, let shown = listener.treeListener?.base?.model ?? object.currentModel() else {
            return nil
        }
        guard record.updatedModel == nil || record.updatedModel?.modelIdentifier == shown.modelIdentifier else {
            return nil
        }
        return GatheredChange(
            listener: listener, shown: shown, model: record.updatedModel, updates: record.updates,
            context: record.context, time: record.time)
    }

    func deliverGathered(_ deliveries: [Delivery], era: Int) {
        guard era == self.era.load(ordering: .relaxed) else { return }
        DeliveryRound.run {
            for delivery in deliveries { hand(over: delivery) }
        }
    }

    private func record(of listener: any ConsistencyManagerListener) -> PausedListener? {
        let identity = ObjectIdentifier(listener)
        guard let record = paused[identity] else { return nil }
        guard record.listener === listener else {
            // Another object at the same address.
            paused[identity] = nil
            return nil
        }
        return record
    }

    // MARK: Cleaning

    func removeDead() {
        paused = paused.filter { $0.value.listener != nil }
        updatesListeners.removeAll { $0.listener == nil }
        updatesListenerCount.store(updatesListeners.count, ordering: .relaxed)
    }

    func clear() {
        paused = [:]
        era.add(1, ordering: .relaxed)
    }

    var pausedCount: Int { paused.count }
}
