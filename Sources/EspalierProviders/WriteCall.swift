import EspalierModels
import EspalierRecords
import Synchronization

/// One change of a provider, or all changes of one `saving`, until the cache has stored them.
/// Counts the calls of the cache that the change makes, and tells when the last one has ended.
///
///     perform(body)   the body calls the cache; each call begins and ends
///     end             after the body and the last call: the listeners run, on the main actor
///
/// The functions of a manager that call the cache are open and have no parameter for this. So a
/// call of the cache finds the change that it belongs to in `active`, a value of the task. A task
/// that begins inside of the body inherits that value. After the body the change is no longer
/// active, so later calls of such a task do not belong to it.
///
/// Each call that begins must end, or the change waits for ever. `CacheQueue` ends it by a
/// `PendingReply`: by the first reply, or when the cache releases the completion without a reply. A
/// cache that keeps a completion and never calls it makes the change wait for ever.
final class WriteCall: Sendable {
    @TaskLocal private static var latest: WriteCall?

    /// The change that calls the cache now; nil for a call that belongs to no change.
    static var active: WriteCall? {
        guard let latest, latest.state.withLock({ $0.bodies > 0 }) else { return nil }
        return latest
    }

    typealias Listener = @MainActor @Sendable (SaveFailure?) -> Void

    // immutable
    /// The policy of what is saved; nil for the default.
    let policy: TreePolicy?
    /// Whether the elements of a collection that is saved stay as the cache has them.
    let keepsModels: Bool
    /// The change that this one is a part of.
    private let parent: WriteCall?

    // protected by `state`
    private struct State {
        /// The number of bodies that run.
        var bodies = 0
        /// The calls that have begun and not ended, and one for the body.
        var open = 1
        /// The first failure.
        var failure: SaveFailure?
        var listeners: [Listener] = []
        /// Listeners that are not called for a success.
        var failureListeners: [Listener] = []
    }
    private let state = Mutex(State())

    /// - Parameters:
    ///   - policy: The policy of what is saved; nil for the default.
    ///   - keepsModels: Whether the elements of a collection stay as the cache has them.
    ///   - onFailure: Called once, on the main actor, with the first failure if there is one.
    init(
        policy: TreePolicy? = nil, keepsModels: Bool = false, onFailure: Listener? = nil
    ) {
        self.policy = policy
        self.keepsModels = keepsModels
        parent = Self.beginCall()
        if let onFailure { state.withLock { $0.failureListeners = [onFailure] } }
    }

    /// Runs `body`, whose calls of the cache then belong to this change. Called once.
    func perform<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { endInTask(nil) }
        return try record(body)
    }

    /// Runs another part of the change, which must not have ended.
    func record<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.bodies += 1 }
        defer { state.withLock { $0.bodies -= 1 } }
        return try Self.$latest.withValue(self, operation: body)
    }

    /// Notes a failure, without a call of the cache.
    func fail(_ failure: SaveFailure) {
        state.withLock { if $0.failure == nil { $0.failure = failure } }
    }

    /// Begins a call of the cache for the change that calls the cache now. Returns nil for a call
    /// beside all changes.
    static func beginCall() -> WriteCall? {
        guard let latest else { return nil }
        // In one step: the body may end meanwhile, on another thread.
        return latest.state.withLock { state in
            guard state.bodies > 0 else { return nil }
            state.open += 1
            return latest
        }
    }

    /// Ends a call, and returns what remains to be done on the main actor; nil for nothing.
    func end(_ failure: SaveFailure?) -> (@MainActor @Sendable () -> Void)? {
        typealias Ending = (failure: SaveFailure?, listeners: [Listener])
        let ending = state.withLock { state -> Ending? in
            if state.failure == nil { state.failure = failure }
            state.open -= 1
            guard state.open == 0 else { return nil }
            defer { (state.listeners, state.failureListeners) = ([], []) }
            let more = state.failure == nil ? [] : state.failureListeners
            return (state.failure, more + state.listeners)
        }
        guard let ending else { return nil }
        guard !ending.listeners.isEmpty else { return parent?.end(ending.failure) }
        // The whole ends after the part: the delegate is told before `saving` returns.
        return { [parent] in
            for listener in ending.listeners { listener(ending.failure) }
            parent?.end(ending.failure)?()
        }
    }

    /// Ends a call where the code can't wait for the main actor.
    func endInTask(_ failure: SaveFailure?) {
        if let rest = end(failure) { Task { @MainActor in rest() } }
    }

    /// Calls `listener` on the main actor when the change has ended, also without a failure.
    @MainActor
    func whenEnded(_ listener: @escaping Listener) {
        let ended = state.withLock { state -> SaveFailure?? in
            if state.open == 0 { return .some(state.failure) }
            state.listeners.append(listener)
            return nil
        }
        if let ended { listener(ended) }
    }
}

/// The reason of a miss, on its way from the cache to the provider that fetches.
///
/// The functions of a manager that read are open, and their completions have no place for it. A
/// read finds the record that it fills in `active`.
final class MissRecord: Sendable {
    @TaskLocal private static var latest: MissRecord?
    private let isActive = Atomic<Bool>(true)
    private let state = Mutex<MissReason?>(nil)
    private let expiry = Atomic<Bool>(false)

    /// Whether the read accepts what has expired, and is to say so in `isExpired`.
    let acceptsExpired: Bool

    init(acceptsExpired: Bool = false) { self.acceptsExpired = acceptsExpired }

    /// Whether the read was a hit that has expired.
    var isExpired: Bool {
        get { expiry.load(ordering: .acquiring) }
        set { expiry.store(newValue, ordering: .releasing) }
    }

    /// The record of the fetch that calls the cache now; nil for a read that belongs to no fetch.
    static var active: MissRecord? {
        guard let latest, latest.isActive.load(ordering: .relaxed) else { return nil }
        return latest
    }

    /// Why the read was a miss; nil for a hit, and where the cache gives no reason.
    var reason: MissReason? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// The reason of the miss if the cache still stores the model or the list. An edit that starts
    /// from an empty list must not replace it. What can't be decoded counts as absent.
    var reasonOfStored: MissReason? {
        switch reason {
        case .expired, .tooLarge, .tooDeep: reason
        default: nil
        }
    }

    /// Runs `body`, whose read fills this record. Called once.
    func perform(_ body: () -> Void) {
        defer { isActive.store(false, ordering: .relaxed) }
        Self.$latest.withValue(self, operation: body)
    }
}

extension TreePolicy {
    /// Returns whether a node of the models merges.
    ///
    /// - Complexity: O(*n*) in the nodes of the models, if their types decide.
    func merges(_ models: [some SimpleModel]) -> Bool {
        switch self {
        case .replace: false
        case .merge: true
        case .ofTypes:
            models.contains { model in
                var search = MergingNodeSearch()
                return search.finds(in: model)
            }
        }
    }

    /// Returns whether a node of the model merges.
    func merges(_ model: some SimpleModel) -> Bool { merges([model]) }
}

/// The limits of a search through a model on the caller's thread: objects without identifiers may
/// refer to each other in a circle.
private enum SearchLimits {
    static let models = 100_000
    static let levels = 256
}

extension ConsistencyManagerModel {
    /// The identifier of the model. If it has none: the identifiers of the nodes below it, without
    /// the nodes below those. The search ends at the limits of a search; the cache reports the
    /// nodes that it changes anyway.
    var outermostIdentifiers: Set<String> {
        var identifiers: Set<String> = []
        var modelCount = 0
        func add(_ model: any ConsistencyManagerModel, _ level: Int) {
            modelCount += 1
            if let identifier = model.modelIdentifier, !identifier.isEmpty {
                identifiers.insert(identifier)
            } else if level < SearchLimits.levels, modelCount < SearchLimits.models {
                model.forEach { add($0, level + 1) }
            }
        }
        add(self, 0)
        return identifiers
    }
}

/// Looks for a node whose type merges. It runs on the caller's thread, so it looks at a limited
/// part of a model. A model beyond the limits counts as one with such a node: it is shown later.
private struct MergingNodeSearch {
    private var modelCount = 0
    private var level = 0

    mutating func finds(in model: any ConsistencyManagerModel) -> Bool {
        if type(of: model).writePolicy == .merge, model.modelIdentifier != nil { return true }
        modelCount += 1
        guard modelCount < SearchLimits.models, level < SearchLimits.levels else { return true }
        level += 1
        defer { level -= 1 }
        var isFound = false
        model.forEach { if !isFound { isFound = finds(in: $0) } }
        return isFound
    }
}
