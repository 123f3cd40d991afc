import Synchronization

/// Sends elements to all subscribers.
///
/// Safe from every thread; elements that one thread sends arrive in the order in which it sends
/// them. Sending never waits for a subscriber.
final class Broadcast<Element: Sendable>: Sendable {
    private typealias Subscriber = AsyncStream<Element>.Continuation

    private struct State {
        var lastKey = 0
        var subscribers: [Int: Subscriber] = [:]
        var isFinished = false
        /// Elements for the first subscriber, sent while there was none.
        var kept: [Element] = []
    }

    // immutable
    private let buffering: AsyncStream<Element>.Continuation.BufferingPolicy

    // protected by `state`
    private let state = Mutex(State())

    // atomic; changes under `state`
    private let subscriberCount = Atomic<Int>(0)

    /// - Parameter buffering: Which elements wait for a subscriber that does not keep up.
    init(buffering: AsyncStream<Element>.Continuation.BufferingPolicy) {
        self.buffering = buffering
    }

    var hasSubscribers: Bool { subscriberCount.load(ordering: .relaxed) > 0 }

    /// Returns a sequence of the elements sent from now on; it ends with `finish()`.
    ///
    /// - Parameter closing: The sequence also ends when the object of this is closed.
    func subscribe(until closing: Closing? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: buffering)
        let key = state.withLock { state -> Int? in
            guard !state.isFinished, closing?.isDone != true else { return nil }
            state.lastKey += 1
            state.subscribers[state.lastKey] = continuation
            // Before any element that is sent from now on.
            for element in state.kept { continuation.yield(element) }
            state.kept = []
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
            return state.lastKey
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        let ending = closing?.whenClosed { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.remove(key)
            withExtendedLifetime(ending) {}
        }
        return stream
    }

    private func remove(_ key: Int) {
        state.withLock { state in
            _ = state.subscribers.removeValue(forKey: key)
            subscriberCount.store(state.subscribers.count, ordering: .relaxed)
        }
    }

    /// Sends an element, which is made only if there are subscribers.
    func send(_ element: @autoclosure () -> Element) {
        guard hasSubscribers else { return }
        let element = element()
        // Not under the lock, which a stream that ends takes.
        for subscriber in state.withLock({ Array($0.subscribers.values) }) {
            subscriber.yield(element)
        }
    }

    /// Sends an element, or keeps it for the first subscriber if there is none: what happens while
    /// a cache is opened happens before anybody can subscribe.
    func keep(_ element: Element) {
        let isKept = state.withLock { state in
            guard state.subscribers.isEmpty, !state.isFinished else { return false }
            if state.kept.count < Self.keptLimit { state.kept.append(element) }
            return true
        }
        if !isKept { send(element) }
    }

    private static var keptLimit: Int { 64 }

    /// Ends all sequences, and those of later subscribers.
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
