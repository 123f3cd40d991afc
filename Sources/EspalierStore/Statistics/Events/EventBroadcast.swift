import Synchronization

/// Hands events to everyone who asked. Whoever does not keep up loses the oldest: nobody waits for
/// a subscriber.
///
/// Threading: safe from every thread; events sent by one thread arrive in the order they were sent.
/// Cost: a load when nobody listens, so an event is only made for somebody.
final class EventBroadcast: Sendable {
    private struct State {
        var next = 0
        var subscribers: [Int: AsyncStream<CacheEvent>.Continuation] = [:]
        var isFinished = false
    }

    // immutable
    /// Events that wait for a subscriber, at most.
    let capacity: Int

    // protected by `state`
    private let state = Mutex(State())

    // atomic; changes under `state`
    private let subscriberCount = Atomic<Int>(0)

    init(capacity: Int = 4_096) { self.capacity = capacity }

    var hasSubscribers: Bool { subscriberCount.load(ordering: .relaxed) > 0 }

    func subscribe() -> AsyncStream<CacheEvent> {
        let (stream, continuation) = AsyncStream<CacheEvent>.makeStream(
            bufferingPolicy: .bufferingNewest(capacity))
        let key = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.subscribers[state.next] = continuation
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
            return state.next
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(key) }
        return stream
    }

    private func remove(_ key: Int) {
        state.withLock { state in
            _ = state.subscribers.removeValue(forKey: key)
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
        }
    }

    func send(_ event: @autoclosure () -> CacheEvent) {
        guard hasSubscribers else { return }
        let event = event()
        // Not under the lock: a stream that ends takes it.
        for subscriber in state.withLock({ Array($0.subscribers.values) }) {
            subscriber.yield(event)
        }
    }

    /// Ends all streams, those to come included.
    func finish() {
        let subscribers = state.withLock { state in
            state.isFinished = true
            defer { state.subscribers = [:] }
            subscriberCount.store(0, ordering: .relaxed)
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.finish() }
    }
}
