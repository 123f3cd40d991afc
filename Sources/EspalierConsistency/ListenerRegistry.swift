import EspalierModels
import Synchronization

/// The main actor's part of a consistency manager: the listeners, which of them are paused, the
/// updates listeners, and the calls to all of them.
@MainActor
final class ListenerRegistry {
    weak var manager: ConsistencyManager?
    weak var delegate: (any ConsistencyManagerDelegate)?
    var cleaningInterval: Double = 300
    var cleaning: Task<Void, Never>?
    private var listeners: [ObjectIdentifier: ListenerEntry] = [:]
    /// The entries of deallocated listeners whose address a new listener has got. The index still
    /// contains their trees.
    private var displaced: [ObjectIdentifier: [ListenerEntry]] = [:]
    private var updatesListeners: [WeakUpdatesListener] = [] {
        didSet {
            updatesListenerCount.store(updatesListeners.count, ordering: .relaxed)
            knownUpdatesListeners = nil
        }
    }
    /// The identities of `updatesListeners`; nil if these have changed since.
    private var knownUpdatesListeners: Set<ObjectIdentifier>?

    // Read on any thread.
    private nonisolated let updatesListenerCount = Atomic<Int>(0)
    private nonisolated let currentEpoch = Atomic<Int>(0)

    nonisolated init() {}

    private struct WeakUpdatesListener {
        weak var listener: (any ConsistencyManagerUpdatesListener)?
    }

    /// The number of times that all listeners were removed. An update that was submitted in an
    /// earlier epoch is not delivered.
    nonisolated var epoch: Int { currentEpoch.load(ordering: .relaxed) }

    // MARK: Listeners

    /// Returns the entry of `listener`, which is created if necessary.
    func entry(of listener: any ConsistencyManagerListener) -> ListenerEntry {
        if let known = known(listener) { return known }
        let entry = ListenerEntry(listener)
        if let gone = listeners.updateValue(entry, forKey: entry.identity) {
            displaced[entry.identity, default: []].append(gone)
        }
        return entry
    }

    private func known(_ listener: any ConsistencyManagerListener) -> ListenerEntry? {
        guard let entry = listeners[ObjectIdentifier(listener)] else { return nil }
        // Otherwise the entry belongs to a deallocated object at the same address.
        return entry.listener === listener ? entry : nil
    }

    /// Marks a listener as removed. The parameter is an address, because a weak reference cannot be
    /// formed to an object that is being deallocated.
    ///
    /// - Returns: The entry; `nil` if the listener is unknown.
    func remove(_ identity: ObjectIdentifier) -> ListenerEntry? {
        guard let entry = listeners[identity] else { return nil }
        entry.isRemoved = true
        entry.paused = nil
        return entry
    }

    /// Drops the entry of a removed listener, once its tree has left the index.
    func drop(_ entry: ListenerEntry) {
        guard entry.isRemoved else { return }
        if listeners[entry.identity] === entry { listeners[entry.identity] = nil }
        displaced[entry.identity]?.removeAll { $0 === entry }
    }

    /// Removes the deallocated listeners, at one address or all, and returns their entries. A new
    /// listener at the same address stays.
    func removeDeallocated(at identity: ObjectIdentifier? = nil) -> [ListenerEntry] {
        if identity == nil { updatesListeners.removeAll { $0.listener == nil } }
        var gone: [ListenerEntry] = []
        for identity in identity.map({ [$0] }) ?? Set(listeners.keys).union(displaced.keys) {
            gone += displaced.removeValue(forKey: identity) ?? []
            if let entry = listeners[identity], entry.listener == nil {
                listeners[identity] = nil
                gone.append(entry)
            }
        }
        for entry in gone { entry.markDeallocated() }
        return gone
    }

    /// Removes all listeners, and begins a new epoch.
    func clear() {
        for entry in listeners.values { entry.paused = nil }
        listeners = [:]
        displaced = [:]
        currentEpoch.add(1, ordering: .relaxed)
    }

    // MARK: Trees

    /// Returns what each listener shows, all at the same moment; `nil` for a listener that shows
    /// nothing, or is deallocated. For a paused listener, this is the tree that it would show.
    func bases(of entries: [ListenerEntry]) -> [ListenerBase?] {
        entries.map { entry in
            guard entry.listener != nil else {
                entry.paused = nil
                entry.markDeallocated()
                return nil
            }
            return entry.isRemoved || entry.pendingCatchUps > 0 ? nil : base(of: entry)
        }
    }

    /// Returns the tree on which updates of the listener are based.
    func base(of entry: ListenerEntry) -> ListenerBase? {
        let base = entry.base
        guard entry.paused != nil else { return base }
        entry.paused?.refresh(showing: base)
        return entry.paused?.base
    }

    /// Checks, for a paused listener that was added again, whether it shows another tree. The
    /// recorded changes are then discarded.
    ///
    /// - Parameter isFetched: Whether the tree was fetched. The recorded changes then belong to an
    ///   earlier tree, if only an older version of the same model.
    func refreshPaused(_ entry: ListenerEntry, isFetched: Bool) {
        guard entry.paused != nil, let base = entry.base else { return }
        if isFetched {
            entry.paused?.restart(with: base)
        } else {
            entry.paused?.restartIfOther(than: base)
        }
    }

    /// Begins a catch-up of the listener.
    ///
    /// - Returns: Whether to deliver the missed changes. If `false`, the listener shows a tree that
    ///   was fetched later, with a catch-up of its own.
    func beginCatchUp(of entry: ListenerEntry) -> Bool {
        entry.pendingCatchUps -= 1
        return entry.pendingCatchUps == 0
    }

    // MARK: Delivering

    /// Delivers an update to the delegate, the listeners and the updates listeners.
    ///
    /// - Parameter announced: The update and its changes, for the updates listeners.
    /// - Returns: The listeners that waited for a model and now show it.
    func deliver(
        _ deliveries: [Delivery], replacements: [TreeChange.Replacement],
        announced: (update: PostedUpdate, changes: [String: ModelChange])?,
        context: (any Sendable)?, epoch: Int
    ) -> [(listener: ListenerEntry, base: ListenerBase)] {
        guard epoch == self.epoch, let manager else { return [] }
        var newListeners: [(listener: ListenerEntry, base: ListenerBase)] = []
        if let delegate {
            for replacement in replacements {
                delegate.consistencyManager(
                    manager, willReplaceModel: replacement.old, withModel: replacement.new,
                    context: UncheckedContext.value(of: context))
            }
        }
        DeliveryRound.run {
            for delivery in deliveries where epoch == self.epoch { deliver(delivery) }
            guard let (update, changes) = announced else { return }
            for listener in updatesListeners.compactMap(\.listener) {
                // A listener before this one may have removed it, or all listeners.
                guard epoch == self.epoch, isUpdatesListener(listener) else { continue }
                guard let waiting = listener as? any WaitingListener else {
                    listener.consistencyManager(
                        manager, updatedModel: update.model, changes: changes,
                        context: UncheckedContext.value(of: context))
                    continue
                }
                guard waiting.adoptModel(from: changes, context: context, time: update.time) else {
                    continue
                }
                let entry = entry(of: waiting)
                // A model that arrived and was deleted again during the pause was another tree.
                refreshPaused(entry, isFetched: true)
                guard let base = base(of: entry) else { continue }
                entry.isRemoved = false
                newListeners.append((entry, base))
            }
        }
        return newListeners
    }

    /// Delivers what resumed listeners have missed.
    func deliverMissed(
        _ deliveries: [Delivery], epoch: Int, _ alongside: (@MainActor @Sendable () -> Void)?
    ) {
        DeliveryRound.run {
            for delivery in deliveries where epoch == self.epoch { deliver(delivery) }
            alongside?()
        }
    }

    private func deliver(_ delivery: Delivery) {
        let entry = delivery.listener
        guard !entry.isRemoved, entry.pendingCatchUps == 0 else { return }
        let shown = entry.base
        if entry.paused != nil {
            entry.paused?.record(delivery, shown: shown)
            return
        }
        // A listener that shows another model by now is not overwritten.
        guard let shown, NodeIdentifier(of: shown.model) == NodeIdentifier(of: delivery.base.model)
        else { return }
        entry.notify(delivery)
    }

    func report(_ error: CriticalError) {
        guard let manager else { return }
        delegate?.consistencyManager(manager, failedWithCriticalError: error.rawValue)
    }

    // MARK: Updates listeners

    nonisolated var hasUpdatesListeners: Bool { updatesListenerCount.load(ordering: .relaxed) > 0 }

    /// The nodes that listeners wait for.
    var awaitedNodes: [ShownNode] {
        updatesListeners.compactMap { ($0.listener as? any WaitingListener)?.awaited }
    }

    func add(_ listener: any ConsistencyManagerUpdatesListener) {
        updatesListeners.removeAll { $0.listener == nil }
        if !updatesListeners.contains(where: { $0.listener === listener }) {
            updatesListeners.append(WeakUpdatesListener(listener: listener))
        }
    }

    private func isUpdatesListener(_ listener: any ConsistencyManagerUpdatesListener) -> Bool {
        let known =
            knownUpdatesListeners
            ?? Set(updatesListeners.compactMap { $0.listener.map { ObjectIdentifier($0) } })
        knownUpdatesListeners = known
        return known.contains(ObjectIdentifier(listener))
    }

    func remove(_ listener: any ConsistencyManagerUpdatesListener) {
        updatesListeners.removeAll { $0.listener == nil || $0.listener === listener }
    }

    // MARK: Pausing

    func isPaused(_ listener: any ConsistencyManagerListener) -> Bool {
        known(listener)?.paused?.isResuming == false
    }

    func pause(_ listener: any ConsistencyManagerListener) {
        let entry = entry(of: listener)
        if entry.paused != nil {
            // The listener is paused again before its resuming was complete: recording goes on.
            entry.paused?.isResuming = false
        } else {
            entry.paused = PausedListener(showing: entry.base)
        }
    }

    /// Begins to resume a listener. Its changes follow when everything that was submitted before is
    /// recorded.
    ///
    /// - Returns: The entry; `nil` if the listener is not paused.
    func beginResuming(_ listener: any ConsistencyManagerListener) -> ListenerEntry? {
        guard let entry = known(listener), entry.paused?.isResuming == false else { return nil }
        entry.paused?.isResuming = true
        return entry
    }

    /// Ends the pause of a listener.
    ///
    /// - Returns: What it shows and what it missed; `nil` if it missed nothing, or was paused
    ///   again.
    func endPause(
        of entry: ListenerEntry
    ) -> (listener: ListenerEntry, shown: any ConsistencyManagerModel, paused: PausedListener)? {
        guard entry.paused?.isResuming == true, entry.listener != nil else { return nil }
        let shown = entry.base
        entry.paused?.refresh(showing: shown)
        defer { entry.paused = nil }
        guard let shown, let paused = entry.paused, paused.isChanged else { return nil }
        return (entry, shown.model, paused)
    }

    var pausedCount: Int { listeners.values.count { $0.paused != nil && $0.listener != nil } }
    var listenerCount: Int { listeners.count + displaced.values.joined().count }
}

/// A registered listener: a weak reference, and its pause. Each listener has one entry.
///
/// Only the main actor uses the reference, even to test it for nil. A use retains the object for a
/// moment, and the last release runs its `deinit` on the same thread.
@MainActor
final class ListenerEntry {
    private(set) weak var listener: (any ConsistencyManagerListener)?
    private weak var tree: (any TreeListener)?
    nonisolated let identity: ObjectIdentifier
    /// The changes recorded since the listener was paused; `nil` if it is not paused.
    var paused: PausedListener?
    /// The number of catch-ups in the queue. Until they are done, the listener gets no updates: the
    /// last catch-up delivers them in order.
    var pendingCatchUps = 0
    /// Whether the listener was removed and not added again. The index follows in queue order.
    var isRemoved = false

    private nonisolated let deallocated = Atomic<Bool>(false)

    /// Whether the listener is deallocated and removed from the index, so that work for it in the
    /// queue has no effect.
    nonisolated var isDeallocated: Bool { deallocated.load(ordering: .relaxed) }

    init(_ listener: any ConsistencyManagerListener) {
        self.listener = listener
        tree = listener as? any TreeListener
        identity = ObjectIdentifier(listener)
    }

    func markDeallocated() { deallocated.store(true, ordering: .relaxed) }

    /// The tree that the listener shows.
    var base: ListenerBase? {
        if let tree { return tree.base }
        return listener?.currentModel().map { ListenerBase(model: $0, revision: nil) }
    }

    func notify(_ delivery: Delivery) {
        if let tree {
            tree.apply(delivery)
        } else {
            listener?.modelUpdated(
                delivery.model, updates: delivery.updates,
                context: UncheckedContext.value(of: delivery.context))
        }
    }
}
