public import EspalierModels
import Synchronization

/// Keeps immutable model trees consistent: a model that is updated anywhere is updated in every
/// tree that shows it.
///
/// ```swift
/// let manager = ConsistencyManager()
/// manager.addListener(profileScreen)
/// // Every listener whose tree shows the person gets a tree with the new person.
/// manager.updateModel(person)
/// ```
///
/// The manager rebuilds trees off the main actor, in the order in which updates are submitted. It
/// calls listeners on the main actor. Listeners are held weakly.
///
/// Updates and deletions may be submitted on any thread. All functions about listeners belong to
/// the main actor.
///
/// An update costs a walk over the posted model, and the paths from the changed nodes up to the
/// roots of the trees that show them. The other nodes of these trees cost nothing. A listener that
/// shows a value type, or a new object, costs a comparison with the tree that it showed before. The
/// index takes less than 100 bytes for each node in a listener's tree.
///
/// The names and the behaviour follow LinkedIn's ConsistencyManager.
open class ConsistencyManager: @unchecked Sendable {
    // `@unchecked` because the class is open. Its own fields are immutable, and their types are
    // `Sendable`.
    let registry = ListenerRegistry()
    let worker: ConsistencyWorker
    private let queue = WorkQueue()

    /// The delegate that is notified of mistakes in models and of replacements. Held weakly.
    @preconcurrency @MainActor
    open var delegate: (any ConsistencyManagerDelegate)? {
        get { registry.delegate }
        set { registry.delegate = newValue }
    }

    /// The interval between two calls of `cleanMemory`, in seconds. The default is 300. A value of
    /// 0 or less, or infinity, turns cleaning off.
    @preconcurrency @MainActor
    open var garbageCollectionInterval: Double {
        get { registry.cleaningInterval }
        set {
            registry.cleaningInterval = newValue
            scheduleCleaning()
        }
    }

    /// Creates a manager without listeners.
    public init() {
        worker = ConsistencyWorker(registry: registry)
        let registry = registry
        submit { manager in
            await MainActor.run {
                registry.manager = manager
                manager.scheduleCleaning()
            }
        }
    }

    /// Runs `body` after everything that was submitted before. The manager lives until then.
    private func submit(_ body: @escaping @Sendable (ConsistencyManager) async -> Void) {
        queue.submit { await body(self) }
    }

    // MARK: Listening

    /// Starts to listen for updates of the tree that `listener` shows now.
    ///
    /// Call it again whenever the listener shows another model. A paused listener stays paused. The
    /// call does nothing while the listener shows no model.
    ///
    /// - Parameter listener: The listener, which is held weakly.
    /// - Complexity: O(1) here; O(*n*) in the nodes of the tree off the main actor.
    @preconcurrency @MainActor
    open func addListener(_ listener: any ConsistencyManagerListener) {
        register(listener, since: nil)
    }

    /// Starts to listen for updates of a subtree that was added to the tree of `listener`, without
    /// visiting the rest of the tree.
    ///
    /// - Parameters:
    ///   - listener: The listener, which is held weakly.
    ///   - model: The root of the subtree.
    /// - Complexity: O(1) here; O(*n*) in the nodes of `model` off the main actor.
    @preconcurrency @MainActor
    open func addListener(
        _ listener: any ConsistencyManagerListener, to model: any ConsistencyManagerModel
    ) {
        let entry = registry.entry(of: listener)
        registry.refreshPaused(entry, isFetched: false)
        entry.isRemoved = false
        submit { await $0.worker.register(entry, part: model) }
    }

    /// Stops to listen for `listener`, and ends its pause.
    ///
    /// The listener gets no more calls, not even for updates that were submitted before. Calling
    /// this is optional: the manager forgets a listener that is deallocated.
    @preconcurrency @MainActor
    open func removeListener(_ listener: any ConsistencyManagerListener) {
        guard let entry = registry.remove(ObjectIdentifier(listener)) else { return }
        submit { manager in
            await manager.worker.unregister(entry)
            await manager.registry.drop(entry)
        }
    }

    /// Registers the tree that `listener` shows.
    ///
    /// - Parameter fetch: The time at which the tree was requested, if it arrived later. The
    ///   listener then also gets all updates that were posted since.
    @MainActor
    package func register(_ listener: any ConsistencyManagerListener, since fetch: ChangeTime?) {
        let entry = registry.entry(of: listener)
        registry.refreshPaused(entry, isFetched: fetch != nil)
        guard let base = registry.base(of: entry) else { return }
        entry.isRemoved = false
        let epoch = registry.epoch
        if fetch != nil { entry.pendingCatchUps += 1 }
        submit { manager in
            guard let fetch else { return await manager.worker.register(entry, base) }
            await manager.worker.register(entry, base, since: fetch, epoch: epoch)
        }
    }

    /// Registers an edit of the tree that `listener` shows. Calls `completion` on the main actor
    /// after everything that was submitted before has been delivered.
    @MainActor
    package func edit(
        _ listener: any TreeListener, _ edit: TreeEdit,
        completion: @escaping @MainActor @Sendable () -> Void
    ) {
        let entry = registry.entry(of: listener)
        entry.isRemoved = false
        submit { manager in
            await manager.worker.edit(entry, edit)
            await completion()
        }
    }

    /// Tells listeners that follow a whole collection, by its key, of its elements: updates
    /// listeners, and listeners that show a `BatchUpdateModel` with the key as its identifier.
    ///
    /// The elements themselves are not posted. They are read after everything that was submitted
    /// before has been delivered, so no update is undone.
    ///
    /// - Parameter elements: Called on the main actor, and only if such a listener exists.
    @MainActor
    package func announce(
        _ key: String, context: (any Sendable)?,
        _ elements: @escaping @MainActor @Sendable () -> BatchUpdateModel?
    ) {
        let epoch = registry.epoch
        submit {
            await $0.worker.announce(
                NodeIdentifier(key), context: context, epoch: epoch, elements)
        }
    }

    /// Calls `completion` on the main actor after everything that was submitted before has been
    /// delivered.
    @MainActor
    package func afterDelivery(_ completion: @escaping @MainActor @Sendable () -> Void) {
        submit { _ in await completion() }
    }

    /// Starts the fetch of a tree that arrives later: changes are kept from now on, until
    /// `endFetch`.
    package func beginFetch(_ fetch: ChangeTime) { submit { await $0.worker.begin(fetch) } }

    /// Ends a fetch.
    package func endFetch(_ fetch: ChangeTime) { submit { await $0.worker.end(fetch) } }

    /// Adds a listener that is notified of every change, after the listeners of models.
    ///
    /// - Parameter updatesListener: The listener, which is held weakly. Adding it twice has no
    ///   effect.
    /// - Complexity: O(*n*) in the number of updates listeners.
    @preconcurrency @MainActor
    open func addModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        registry.add(updatesListener)
    }

    /// Removes a listener that was added by `addModelUpdatesListener`. It gets no more calls.
    ///
    /// - Complexity: O(*n*) in the number of updates listeners.
    @preconcurrency @MainActor
    open func removeModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        registry.remove(updatesListener)
    }

    // MARK: Pausing

    /// Pauses `listener`: the manager keeps its changes until it is resumed. Does nothing if the
    /// listener is paused.
    ///
    /// If a paused listener is added again with another tree, the manager discards the changes of
    /// the previous tree.
    @preconcurrency @MainActor
    open func pauseListener(_ listener: any ConsistencyManagerListener) {
        registry.pause(listener)
    }

    /// Resumes `listener`, which gets one call with all changes since the pause began and with the
    /// context of the last change.
    ///
    /// There is no call if nothing changed, or if the changes cancelled each other out.
    @preconcurrency @MainActor
    open func resumeListener(_ listener: any ConsistencyManagerListener) { resume([listener]) }

    /// Returns whether `listener` is paused.
    @preconcurrency @MainActor
    open func isListenerPaused(_ listener: any ConsistencyManagerListener) -> Bool {
        registry.isPaused(listener)
    }

    /// Resumes several listeners in one round, and calls `alongside` last, whether or not they
    /// missed anything.
    @MainActor
    package func resume(
        _ listeners: [any ConsistencyManagerListener],
        alongside: (@MainActor @Sendable () -> Void)? = nil
    ) {
        let resuming = listeners.compactMap { registry.beginResuming($0) }
        guard !resuming.isEmpty || alongside != nil else { return }
        let epoch = registry.epoch
        submit { manager in
            let registry = manager.registry
            let missed = await MainActor.run { resuming.compactMap { registry.endPause(of: $0) } }
            let deliveries = missed.compactMap {
                $0.paused.missed(by: $0.listener, showing: $0.shown)
            }
            guard !deliveries.isEmpty || alongside != nil else { return }
            await registry.deliverMissed(deliveries, epoch: epoch, alongside)
        }
    }

    // MARK: Cleaning

    /// Forgets the listeners that were deallocated. The manager also does this by itself every
    /// `garbageCollectionInterval` seconds. May be called on any thread.
    open func cleanMemory() {
        submit { manager in
            let observe = Self.cleaningObserver.withLock { $0 }
            observe?(manager, false)
            await manager.worker.remove(manager.registry.removeDeallocated())
            observe?(manager, true)
        }
    }

    private static let cleaningObserver =
        Mutex<(@Sendable (ConsistencyManager, _ isFinished: Bool) -> Void)?>(nil)

    /// Calls `body` on any thread when a manager's `cleanMemory` begins to work, with `false`, and
    /// when it has finished, with `true`. Replaces the observer before.
    package static func observeCleaning(
        _ body: @escaping @Sendable (ConsistencyManager, _ isFinished: Bool) -> Void
    ) {
        cleaningObserver.withLock { $0 = body }
    }

    /// Releases the memory of a deallocated listener at once. Call it from the `deinit` of the
    /// listener, on any thread. A new object at the same address stays registered.
    package func listenerDeallocated(at identity: ObjectIdentifier) {
        submit { manager in
            let removed = await manager.registry.removeDeallocated(at: identity)
            if !removed.isEmpty { await manager.worker.remove(removed) }
        }
    }

    /// Forgets all listeners, including what paused ones have missed, and drops all updates that
    /// were submitted but not delivered.
    ///
    /// No listener is paused afterwards. Updates listeners stay.
    ///
    /// - Parameter completion: Called on the main actor when no further call to a listener can
    ///   follow.
    @preconcurrency @MainActor
    open func clearListenersAndCancelAllTasks(
        _ completion: (@MainActor @Sendable () -> Void)? = nil
    ) {
        registry.clear()
        submit { manager in
            await manager.worker.removeAll()
            if let completion { await completion() }
        }
    }

    /// The number of times that all listeners were forgotten. A listener that was added or paused
    /// in an earlier epoch must be added or paused again.
    package var epoch: Int { registry.epoch }

    /// 30 years, in seconds: longer intervals turn cleaning off.
    private static let longestInterval: Double = 1e9

    @MainActor
    private func scheduleCleaning() {
        let interval = registry.cleaningInterval
        registry.cleaning?.cancel()
        // `Duration` traps on values that it cannot hold, and on NaN.
        guard interval > 0, interval <= Self.longestInterval else {
            return registry.cleaning = nil
        }
        registry.cleaning = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(interval))) != nil {
                guard let self else { return }
                cleanMemory()
            }
        }
    }

    // MARK: Updating

    /// Posts a model, which replaces every node with its identifier in the trees of all listeners.
    /// The nodes below it are replaced likewise.
    ///
    /// Equal nodes are not replaced, and listeners are not notified of them. To post several models
    /// in one update, post a `BatchUpdateModel`. May be called on any thread.
    ///
    /// - Parameters:
    ///   - model: The new version of the model.
    ///   - context: A value that is passed to the listeners.
    @preconcurrency
    open func updateModel(_ model: any ConsistencyManagerModel, context: (any Sendable)? = nil) {
        post(model, context: context, time: ChangeTime())
    }

    /// Deletes a model from the trees of all listeners, but not the models below it.
    ///
    /// An optional child becomes `nil`, and an element is removed. A model that requires the
    /// deleted child is deleted as well, up to whole trees. May be called on any thread.
    ///
    /// - Parameters:
    ///   - model: The model. Without identifier it cannot be deleted, which is reported to the
    ///     delegate as `CriticalError.DeleteIDFailure`.
    ///   - context: A value that is passed to the listeners.
    @preconcurrency
    open func deleteModel(_ model: any ConsistencyManagerModel, context: (any Sendable)? = nil) {
        post(model, isDeletion: true, context: context, time: ChangeTime())
    }

    /// Posts or deletes a model.
    ///
    /// - Parameters:
    ///   - onCascade: Called on the main actor, for a deletion, with the models that required the
    ///     model.
    ///   - onForeignNodes: Called with the identifiers of the nodes that listeners show as types to
    ///     which the posted content can't be applied. Not called if there are none.
    package func post(
        _ model: any ConsistencyManagerModel, isDeletion: Bool = false, context: (any Sendable)?,
        time: ChangeTime,
        onCascade: (@MainActor @Sendable ([any ConsistencyManagerModel]) -> Void)? = nil,
        onForeignNodes: (@Sendable (Set<String>) -> Void)? = nil
    ) {
        let epoch = registry.epoch
        submit { manager in
            guard epoch == manager.registry.epoch else {
                await onCascade?([])
                return
            }
            await manager.worker.post(
                PostedUpdate(
                    model: model, isDeletion: isDeletion, context: context, time: time,
                    epoch: epoch, onCascade: onCascade, onForeignNodes: onForeignNodes))
        }
    }

    /// Returns the nodes that listeners show or wait for under `identifiers`, once for each type,
    /// parents before their children.
    ///
    /// - Parameter identifiers: Nil for all: then only the topmost nodes of each tree.
    package func shownNodes(_ identifiers: Set<String>?) async -> [ShownNode] {
        let wanted = identifiers.map { Set($0.map(NodeIdentifier.init)) }
        return await ask { await $0.shownNodes(wanted) }
    }

    /// Returns the topmost nodes of listeners' trees that contain a node with one of `identifiers`,
    /// once for each type. A node contains itself.
    package func nodes(containing identifiers: Set<String>) async -> [ShownNode] {
        let wanted = Set(identifiers.map(NodeIdentifier.init))
        return await ask { await $0.nodes(containing: wanted) }
    }

    /// Returns what `question` returns, after all that was submitted before.
    private func ask(
        _ question: @escaping @Sendable (ConsistencyWorker) async -> [ShownNode]
    ) async -> [ShownNode] {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: await question($0.worker)) }
        }
    }

    /// Posts models, and deletes others, as a store had them at `fetch`.
    ///
    /// - Returns: The identifiers that were posted or deleted after `fetch`, and were therefore
    ///   left out: what the store had may be out of date.
    package func post(
        fetched models: [any ConsistencyManagerModel], deleting deleted: [GoneNode],
        at fetch: ChangeTime
    ) async -> Set<String> {
        let epoch = registry.epoch
        return await withCheckedContinuation { continuation in
            submit { manager in
                guard epoch == manager.registry.epoch else {
                    return continuation.resume(returning: [])
                }
                continuation.resume(
                    returning: await manager.worker.post(
                        fetched: models, deleting: deleted, at: fetch, epoch: epoch))
            }
        }
    }

    /// Waits until everything that was submitted before has been applied and delivered.
    public func flush() async { await queue.flush() }
}

/// Is notified of mistakes in models and of each replacement, for assertions and logs.
///
/// Both functions are optional, and are called on the main actor.
@preconcurrency @MainActor
public protocol ConsistencyManagerDelegate: AnyObject {
    /// Reports that a model violates its protocol. The manager skips the operation for that model.
    ///
    /// - Parameters:
    ///   - consistencyManager: The manager.
    ///   - error: The raw value of a `CriticalError`.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String)

    /// Reports that a node of a listener's tree is about to be replaced.
    ///
    /// - Parameters:
    ///   - consistencyManager: The manager.
    ///   - model: The node in the listener's tree.
    ///   - newModel: The node that replaces it.
    ///   - context: The context of the update.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager,
        willReplaceModel model: any ConsistencyManagerModel,
        withModel newModel: any ConsistencyManagerModel, context: Any?)
}

extension ConsistencyManagerDelegate {
    /// Does nothing.
    public func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String
    ) {}

    /// Does nothing.
    public func consistencyManager(
        _ consistencyManager: ConsistencyManager,
        willReplaceModel model: any ConsistencyManagerModel,
        withModel newModel: any ConsistencyManagerModel, context: Any?
    ) {}
}

/// A mistake in the app's models, as reported to a `ConsistencyManagerDelegate`.
public enum CriticalError: String, Error, Sendable {
    /// The model to delete has no identifier.
    case DeleteIDFailure
    /// The function `map` of a model returned a model of another type.
    case WrongMapClass
}
