import Synchronization

/// The change sets that wait for one subscriber.
///
/// A subscriber that does not keep up receives the union of those that wait. If they have more
/// identifiers than the limit, it receives a reset instead. So what waits is bounded, and the last
/// state is never missed.
final class ChangeSubscription: Sendable {
    /// The most change sets and identifiers that wait.
    struct Limit: Sendable {
        var changeSets = 1_024
        var identifiers = 1 << 16

        /// Keeps every change set. Only for a subscriber that ends soon.
        static let none = Limit(changeSets: .max, identifiers: .max)
    }

    // immutable
    /// Whether the subscriber also receives the changes of other processes.
    let followsOthers: Bool
    private let limit: Limit

    // protected by `state`
    private struct State {
        var waiting: [ChangeSet] = []
        var identifiers = 0
        /// Calls of `next` that wait for a change set. There is none while a change set waits.
        var callers: [CheckedContinuation<ChangeSet?, Never>] = []
        var isFinished = false
    }
    private let state = Mutex(State())

    init(followsOthers: Bool, _ limit: Limit) {
        self.followsOthers = followsOthers
        self.limit = limit
    }

    /// The number of change sets that wait, and of their identifiers.
    var backlog: (changeSets: Int, identifiers: Int) {
        state.withLock { ($0.waiting.count, $0.identifiers) }
    }

    /// Hands a change set to the subscriber. Never waits for it.
    func append(_ changes: ChangeSet) {
        guard followsOthers || changes.origin == .thisProcess else { return }
        let caller = state.withLock { state -> CheckedContinuation<ChangeSet?, Never>? in
            guard !state.isFinished else { return nil }
            if !state.callers.isEmpty { return state.callers.removeFirst() }
            state.waiting.append(changes)
            state.identifiers += changes.identifierCount
            let isTooMuch =
                state.waiting.count > limit.changeSets || state.identifiers > limit.identifiers
            if state.waiting.count > 1, isTooMuch {
                // Half of the limit, so that not every further change set needs a union.
                let union = ChangeSet.union(of: state.waiting, limit: limit.identifiers / 2)
                state.waiting = [union]
                state.identifiers = union.identifierCount
            }
            return nil
        }
        caller?.resume(returning: changes)
    }

    /// Returns the next change set; nil when there will be none.
    func next() async -> ChangeSet? {
        await withCheckedContinuation { caller in
            let result = state.withLock { state -> ChangeSet?? in
                guard state.waiting.isEmpty else {
                    let changes = state.waiting.removeFirst()
                    state.identifiers -= changes.identifierCount
                    return .some(changes)
                }
                if state.isFinished { return .some(nil) }
                state.callers.append(caller)
                return nil
            }
            if let result { caller.resume(returning: result) }
        }
    }

    /// Ends the subscription after the change sets that wait, or without them.
    func finish(dropping: Bool = false) {
        let callers = state.withLock { state in
            state.isFinished = true
            if dropping {
                state.waiting = []
                state.identifiers = 0
            }
            defer { state.callers = [] }
            return state.callers
        }
        for caller in callers { caller.resume(returning: nil) }
    }
}
