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
        /// How many change sets have arrived, and how many of these the subscriber has taken.
        var arrived = 0
        var taken = 0
        /// Calls of `flush`, with the number of change sets that each waits for.
        var flushes: [(count: Int, caller: CheckedContinuation<Void, Never>)] = []

        /// Removes and returns the calls of `flush` that have nothing more to wait for. Called when
        /// the subscriber asks for the next change set: by then it has dealt with all that it has
        /// taken.
        mutating func takeEndedFlushes() -> [CheckedContinuation<Void, Never>] {
            guard !flushes.isEmpty else { return [] }
            let (ended, open) = (
                flushes.filter { isFinished || $0.count <= taken },
                flushes.filter { !isFinished && $0.count > taken }
            )
            flushes = open
            return ended.map(\.caller)
        }
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
            state.arrived += 1
            if !state.callers.isEmpty {
                state.taken = state.arrived
                return state.callers.removeFirst()
            }
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
            let (result, flushes) = state.withLock {
                state -> (ChangeSet??, [CheckedContinuation<Void, Never>]) in
                let flushes = state.takeEndedFlushes()
                guard state.waiting.isEmpty else {
                    let changes = state.waiting.removeFirst()
                    state.identifiers -= changes.identifierCount
                    // A union stands for several change sets that have arrived.
                    state.taken = state.arrived - state.waiting.count
                    return (.some(changes), flushes)
                }
                if state.isFinished { return (.some(nil), flushes) }
                state.callers.append(caller)
                return (nil, flushes)
            }
            for flush in flushes { flush.resume() }
            if let result { caller.resume(returning: result) }
        }
    }

    /// Waits until the subscriber has dealt with all change sets that have arrived: until it has
    /// taken them and asks for the next one. Returns at once after the end.
    func flush() async {
        await withCheckedContinuation { caller in
            let isDone = state.withLock { state in
                let isIdle = state.waiting.isEmpty && !state.callers.isEmpty
                guard !state.isFinished, !isIdle, state.arrived > 0 else { return true }
                state.flushes.append((state.arrived, caller))
                return false
            }
            if isDone { caller.resume() }
        }
    }

    /// Ends the subscription after the change sets that wait, or without them.
    func finish(dropping: Bool = false) {
        let (callers, flushes) = state.withLock { state in
            state.isFinished = true
            if dropping {
                state.waiting = []
                state.identifiers = 0
            }
            defer { state.callers = [] }
            return (state.callers, state.takeEndedFlushes())
        }
        for caller in callers { caller.resume(returning: nil) }
        for flush in flushes { flush.resume() }
    }
}
