import EspalierModels
import Synchronization

/// What of a consistency manager belongs to the main actor: the listeners, who of them is paused,
/// who hears of everything, and the calls to all of them.
@MainActor
final class ListenerRegistry {
    weak var manager: ConsistencyManager?
    weak var delegate: (any ConsistencyManagerDelegate)?
    var cleaningInterval: Double = 300
    var cleaning: Task<Void, Never>?
    private var listeners: [ObjectIdentifier: WeakListener] = [:]
    /// Of listeners that are gone, and whose address another one has got. The index still has what
    /// they showed.
    private var displaced: [ObjectIdentifier: [WeakListener]] = [:]
    private var updatesListeners: [WeakUpdatesListener] = []
    private nonisolated let updatesListenerCount = Atomic<Int>(0)
    /// Grows with each clearing: what was submitted before it is not delivered after it.
    nonisolated let era = Atomic<Int>(0)

    nonisolated init() {}

    struct Announcement: Sendable {
        let model: any ConsistencyManagerModel
        let changes: [String: ModelChange]
        let context: (any Sendable)?
        let time: ChangeTime
    }

    struct Replacement: Sendable {
        let old: any ConsistencyManagerModel
        let new: any ConsistencyManagerModel
    }

    /// Who waited for a model and has taken it.
    struct NewListener: Sendable {
        let listener: WeakListener
        let base: ListenerBase
    }

    /// What a listener says to being asked what it shows.
    enum Answer: Sendable {
        case isGone
        case nothing
        case shows(ListenerBase)
    }

    private struct WeakUpdatesListener {
        weak var listener: (any ConsistencyManagerUpdatesListener)?
    }

    // MARK: Listeners

    /// The one entry of the listener, made if there is none.
    func entry(of listener: any ConsistencyManagerListener) -> WeakListener {
        if let known = known(listener) { return known }
        let entry = WeakListener(listener)
        if let gone = listeners.updateValue(entry, forKey: entry.identity) {
            displaced[entry.identity, default: []].append(gone)
        }
        return entry
    }

    private func known(_ listener: any ConsistencyManagerListener) -> WeakListener? {
        guard let entry = listeners[ObjectIdentifier(listener)] else { return nil }
        // Otherwise another object at the same address.
        return entry.listener === listener ? entry : nil
    }

    /// By its address alone: nobody can hold an object weakly that is going. Nil if it is not
    /// known.
    func remove(_ identity: ObjectIdentifier) -> WeakListener? {
        guard let entry = listeners[identity] else { return nil }
        entry.isRemoved = true
        entry.paused = nil
        return entry
    }

    /// The index has heard that the listener was removed.
    func drop(_ entry: WeakListener) {
        guard entry.isRemoved else { return }
        if listeners[entry.identity] === entry { listeners[entry.identity] = nil }
        displaced[entry.identity]?.removeAll { $0 === entry }
    }

    /// Forgets the listeners that are gone, and says which.
    func dropDead() -> [WeakListener] {
        updatesListeners.removeAll { $0.listener == nil }
        updatesListenerCount.store(updatesListeners.count, ordering: .relaxed)
        let dead = listeners.values.filter { $0.listener == nil } + displaced.values.joined()
        for entry in dead {
            entry.forget()
            if listeners[entry.identity] === entry { listeners[entry.identity] = nil }
        }
        displaced = [:]
        return dead
    }

    /// Forgets the listeners that were at this address and are gone, and says which. There may be
    /// another one by now, which stays.
    func dropDead(at identity: ObjectIdentifier) -> [WeakListener] {
        var dead = displaced.removeValue(forKey: identity) ?? []
        if let entry = listeners[identity], entry.listener == nil {
            listeners[identity] = nil
            dead.append(entry)
        }
        for entry in dead { entry.forget() }
        return dead
    }

    func clear() {
        for entry in listeners.values { entry.paused = nil }
        listeners = [:]
        displaced = [:]
        era.add(1, ordering: .relaxed)
    }

    // MARK: Asking and telling

    /// What each listener shows, all asked at the same moment. Of a paused one: what it would show.
    func answers(of entries: [WeakListener]) -> [Answer] {
        entries.map { entry in
            guard entry.listener != nil else {
                entry.paused = nil
                return .isGone
            }
            guard !entry.isRemoved, entry.catchUps == 0 else { return .nothing }
            return base(of: entry).map(Answer.shows) ?? .nothing
        }
    }

    /// What updates of the listener begin with.
    func base(of entry: WeakListener) -> ListenerBase? {
        let base = entry.base
        guard entry.paused != nil else { return base }
        entry.paused?.follow(base)
        return entry.paused?.base
    }

    /// The listener says that it shows another model, or the same again; what it shows was fetched
    /// if `isFetched`.
    func follow(_ entry: WeakListener, isFetched: Bool) {
        guard entry.paused != nil, let base = entry.base else { return }
        // What was gathered was about what it showed before, if only an older version.
        if isFetched { entry.paused?.restart(with: base) } else { entry.paused?.follow(told: base) }
    }

    /// False if the listener shows by now what was fetched later, which it catches up with later.
    func beginCatchUp(of entry: WeakListener) -> Bool {
        entry.catchUps -= 1
        return entry.catchUps == 0
    }

    /// Returns those who waited for a model and have it now.
    func deliver(
        _ deliveries: [Delivery], replacements: [Replacement], _ announcement: Announcement?,
        context: (any Sendable)?,
        era: Int
    ) -> [NewListener] {
        guard isCurrent(era), let manager else { return [] }
        var newListeners: [NewListener] = []
        if let delegate {
            for replacement in replacements {
                delegate.consistencyManager(
                    manager, willReplaceModel: replacement.old, withModel: replacement.new,
                    context: context)
            }
        }
        DeliveryRound.run {
            for delivery in deliveries where isCurrent(era) { hand(over: delivery) }
            guard let announcement else { return }
            for listener in updatesListeners.compactMap(\.listener) {
                // The one before may have removed it.
                guard isCurrent(era), updatesListeners.contains(where: { $0.listener === listener })
                else { continue }
                if let waiting = listener as? any WaitingListener {
                    if let new = tell(waiting, announcement) { newListeners.append(new) }
                } else {
                    listener.consistencyManager(
                        manager, updatedModel: announcement.model, changes: announcement.changes,
                        context: context)
                }
            }
        }
        return newListeners
    }

    private func tell(_ waiting: any WaitingListener, _ announcement: Announcement) -> NewListener?
    {
        guard
            waiting.take(
                announcement.changes, context: announcement.context, time: announcement.time)
        else {
            return nil
        }
        let entry = entry(of: waiting)
        // What came before, if it came and went again while it is paused, was about another one.
        follow(entry, isFetched: true)
        guard let base = base(of: entry) else { return nil }
        entry.isRemoved = false
        return NewListener(listener: entry, base: base)
    }

    func deliverGathered(
        _ deliveries: [Delivery], era: Int, _ alongside: (@MainActor @Sendable () -> Void)?
    ) {
        DeliveryRound.run {
            for delivery in deliveries where isCurrent(era) { hand(over: delivery) }
            alongside?()
        }
    }

    private func isCurrent(_ era: Int) -> Bool { era == self.era.load(ordering: .relaxed) }

    private func hand(over delivery: Delivery) {
        let entry = delivery.listener
        guard !entry.isRemoved, entry.catchUps == 0 else { return }
        let shown = entry.base
        if entry.paused != nil {
            entry.paused?.take(delivery, shown: shown)
            return
        }
        // What is shown now is another model: the next update is the first that is about it.
        guard let shown, isSameModel(shown.model, delivery.base.model) else { return }
        entry.tell(delivery)
    }

    private func isSameModel(_ a: any ConsistencyManagerModel, _ b: any ConsistencyManagerModel)
        -> Bool
    {
        a.modelIdentifier.map { NodeIdentifier($0) } == b.modelIdentifier.map { NodeIdentifier($0) }
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

    func isPaused(_ listener: any ConsistencyManagerListener) -> Bool {
        known(listener)?.paused?.isResuming == false
    }

    func pause(_ listener: any ConsistencyManagerListener) {
        let entry = entry(of: listener)
        if entry.paused != nil {
            // Paused anew before the news came: they go on being gathered.
            entry.paused?.isResuming = false
        } else {
            entry.paused = PausedListener(showing: entry.base)
        }
    }

    /// Nil if there is nothing to resume; the news come when everything submitted before has been
    /// gathered.
    func beginResuming(_ listener: any ConsistencyManagerListener) -> WeakListener? {
        guard let entry = known(listener), entry.paused?.isResuming == false else { return nil }
        entry.paused?.isResuming = true
        return entry
    }

    /// What a listener that resumes has gathered; nil if it was paused again.
    func gathered(by entry: WeakListener) -> GatheredChange? {
        guard entry.paused?.isResuming == true, entry.listener != nil else { return nil }
        let shown = entry.base
        entry.paused?.follow(shown)
        defer { entry.paused = nil }
        guard let shown, let gathered = entry.paused, gathered.isChanged else { return nil }
        return GatheredChange(
            listener: entry, shown: shown.model, model: gathered.updatedModel,
            updates: gathered.updates,
            context: gathered.context, time: gathered.time)
    }

    var pausedCount: Int { listeners.values.count { $0.paused != nil && $0.listener != nil } }
    var listenerCount: Int { listeners.count + displaced.values.joined().count }
}
