import Synchronization

/// Hands change sets to everyone who asked, in the order of commits.
final class ChangeSetBroadcast: Sendable {
    private struct State {
        var next = 0
        var subscribers: [Int: AsyncStream<ChangeSet>.Continuation] = [:]
        var isFinished = false
    }
    private let state = Mutex(State())

    func subscribe() -> AsyncStream<ChangeSet> {
        let (stream, continuation) = AsyncStream<ChangeSet>.makeStream()
        let key = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.subscribers[state.next] = continuation
            return state.next
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.subscribers.removeValue(forKey: key) }
        }
        return stream
    }

    func send(_ changes: ChangeSet) {
        for subscriber in state.withLock({ Array($0.subscribers.values) }) {
            subscriber.yield(changes)
        }
    }

    func finish() {
        let subscribers = state.withLock { state in
            state.isFinished = true
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.finish() }
    }
}
