public import EspalierModels
import Synchronization

/// Keeps immutable model trees consistent: a node updated anywhere is updated in every tree that
/// shows it.
///
/// ```swift
/// let manager = ConsistencyManager()
/// manager.addListener(profileScreen)
/// manager.updateModel(person)             // every listener whose tree shows the person gets its tree with the new one
/// ```
///
/// All work on trees is done off the main actor, in the order in which it was submitted; listeners
/// are called on the main actor. Listeners are held weakly. An update costs the ways from what it
/// changes up to the roots of the trees that show it, whatever else is in those trees, and a walk
/// over what is posted; of a listener that shows a value, or another object than it was given, a
/// comparison with what it showed before. A node listened to costs less than 100 bytes.
///
/// Updates and deletions may be submitted on any thread; everything about listeners belongs to the
/// main actor.
///
/// After LinkedIn's ConsistencyManager, whose names and behaviour these are.
open class ConsistencyManager: @unchecked Sendable {
    // `@unchecked`, for it may be subclassed: it has only constants of its own, and what the main
    // actor guards.
    let board = ListenerRegistry()
    let worker: ConsistencyWorker
    private let queue = WorkQueue()

    /// Told of mistakes and replacements. Weak.
    @preconcurrency @MainActor
    open var delegate: (any ConsistencyManagerDelegate)? {
        get { board.delegate }
        set { board.delegate = newValue }
    }

    /// Seconds between two cleanings, 300 unless set otherwise; 0 or less, or infinity, for never.
    @preconcurrency @MainActor
    open var garbageCollectionInterval: Double {
        get { board.cleaningInterval }
        set {
            board.cleaningInterval = newValue
            scheduleCleaning()
        }
    }

    public init() {
        worker = ConsistencyWorker(board: board)
        let board = board
        submit { manager in
            await MainActor.run {
                board.manager = manager
                manager.scheduleCleaning()
            }
        }
    }

    /// Work in its place in the order. The manager lives until it is done.
    func submit(_ body: @escaping @Sendable (ConsistencyManager) async -> Void) {
        queue.submit { await body(self) }
    }

    // MARK: Listening

    /// Listens to what `listener` shows now, on its behalf: to be called whenever it shows another
    /// model. Does not end a pause. Does nothing while it shows nothing.
    @preconcurrency @MainActor
    open func addListener(_ listener: any ConsistencyManagerListener) {
        register(listener, since: nil)
    }

    /// Listens to a part that has come to what `listener` shows, without going through all of it.
    @preconcurrency @MainActor
    open func addListener(
        _ listener: any ConsistencyManagerListener, to model: any ConsistencyManagerModel
    ) {
        let entry = board.entry(of: listener)
        board.follow(entry, isFetched: false)
        entry.isRemoved = false
        submit { await $0.worker.register(entry, part: model) }
    }

    /// Stops listening: the listener is not called any more, not even about what was submitted
    /// before. Ends a pause.
    ///
    /// Not needed: a listener that is gone is not called.
    @preconcurrency @MainActor
    open func removeListener(_ listener: any ConsistencyManagerListener) {
        guard let entry = board.remove(ObjectIdentifier(listener)) else { return }
        submit { manager in
            await manager.worker.unregister(entry)
            await manager.board.drop(entry)
        }
    }

    /// `fetch` is when what the listener shows was asked for, if it came late: it gets what was
    /// posted since.
    @MainActor
    package func register(_ listener: any ConsistencyManagerListener, since fetch: ChangeTime?) {
        let entry = board.entry(of: listener)
        board.follow(entry, isFetched: fetch != nil)
        guard let base = board.base(of: entry) else { return }
        entry.isRemoved = false
        let era = board.era.load(ordering: .relaxed)
        if fetch != nil { entry.catchUps += 1 }
        submit { manager in
            guard let fetch else { return await manager.worker.register(entry, base) }
            await manager.worker.register(entry, base, since: fetch, era: era)
        }
    }

    /// What the listener shows was edited. `completion` is called on the main actor when all that
    /// was submitted before has been delivered.
    @MainActor
    package func splice(
        _ listener: any TreeListener, _ splice: TreeSplice,
        completion: @escaping @MainActor @Sendable () -> Void
    ) {
        let entry = board.entry(of: listener)
        entry.isRemoved = false
        submit { manager in
            await manager.worker.splice(entry, splice)
            await completion()
        }
    }

    /// `completion` is called on the main actor when all that was submitted before has been
    /// delivered.
    @MainActor
    package func afterDelivery(_ completion: @escaping @MainActor @Sendable () -> Void) {
        submit { _ in await completion() }
    }

    /// Hears of every change, in addition to what the listeners hear. Weak.
    @preconcurrency @MainActor
    open func addModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        board.add(updatesListener)
    }

    @preconcurrency @MainActor
    open func removeModelUpdatesListener(_ updatesListener: any ConsistencyManagerUpdatesListener) {
        board.remove(updatesListener)
    }

    // MARK: Pausing

    /// What the listener would show goes on being kept; it is not told until it is resumed. Nothing
    /// if it is paused already.
    ///
    /// A listener that is added again while it is paused, with another tree than it was paused
    /// with, begins anew: what was kept for it was about the tree before.
    @preconcurrency @MainActor
    open func pauseListener(_ listener: any ConsistencyManagerListener) { board.pause(listener) }

    /// The listener gets one call with all that changed since, with the context of the last change;
    /// none if nothing did, or if it cancelled out.
    @preconcurrency @MainActor
    open func resumeListener(_ listener: any ConsistencyManagerListener) { resume([listener]) }

    @preconcurrency @MainActor
    open func isListenerPaused(_ listener: any ConsistencyManagerListener) -> Bool {
        board.isPaused(listener)
    }

    // MARK: Cleaning

    /// Forgets listeners that are gone. Done by itself every `garbageCollectionInterval` seconds.
    open func cleanMemory() { removeDead() }

    /// Forgets all listeners, paused ones and what they missed, too, and drops what was submitted
    /// and not delivered yet.
    ///
    /// Nobody is paused afterwards. Listeners of everything stay.
    ///
    /// - Parameter completion: called on the main actor when nothing of it can come any more.
    @preconcurrency @MainActor
    open func clearListenersAndCancelAllTasks(
        _ completion: (@MainActor @Sendable () -> Void)? = nil
    ) {
        clear(completion)
    }

    // MARK: Updating

    /// Posts a model: it takes the place of each node of its identifier in every listener's tree,
    /// and so do the nodes below it.
    ///
    /// Nodes that are equal are not replaced, and nobody is told of them. To post several models at
    /// once, post a `BatchUpdateModel`.
    ///
    /// - Parameter context: handed to the listeners.
    @preconcurrency
    open func updateModel(_ model: any ConsistencyManagerModel, context: (any Sendable)? = nil) {
        post(model, context: context, time: ChangeTime())
    }

    /// Deletes a model, not those below it: an optional child becomes nil, an element is left out,
    /// and a model that can't be without it is deleted, too, up to whole trees.
    @preconcurrency
    open func deleteModel(_ model: any ConsistencyManagerModel, context: (any Sendable)? = nil) {
        delete(model, context: context, time: ChangeTime(), onCascade: nil)
    }

    package func post(
        _ model: any ConsistencyManagerModel, context: (any Sendable)?, time: ChangeTime
    ) {
        submit(
            Posting(
                model: model, isDeletion: false, context: context, time: time,
                era: board.era.load(ordering: .relaxed), onCascade: nil))
    }

    /// `onCascade` is told, on the main actor, what could not be without the model.
    package func delete(
        _ model: any ConsistencyManagerModel, context: (any Sendable)?, time: ChangeTime,
        onCascade: (@MainActor @Sendable ([any ConsistencyManagerModel]) -> Void)?
    ) {
        submit(
            Posting(
                model: model, isDeletion: true, context: context, time: time,
                era: board.era.load(ordering: .relaxed), onCascade: onCascade))
    }

    private func submit(_ posting: Posting) {
        submit { manager in
            guard posting.era == manager.board.era.load(ordering: .relaxed) else {
                await posting.onCascade?([])
                return
            }
            await manager.worker.post(posting)
        }
    }

    /// Returns when everything submitted before has been applied, and delivered.
    public func flush() async { await queue.flush() }
}
