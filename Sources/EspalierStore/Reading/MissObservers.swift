import Synchronization

/// Those who are told of misses.
///
/// Threading: safe from every thread; observers are called on the thread of the read, in the order
/// they came, without a lock. Cost: a load for a miss that nobody hears of; nothing for a hit.
final class MissObservers: Sendable {
    private struct State {
        var next = 0
        var observers: [(key: Int, body: @Sendable (Miss) -> Void)] = []
        var isFinished = false
    }

    // protected by `state`
    private let state = Mutex(State())

    // atomic; changes under `state`
    private let count = Atomic<Int>(0)

    /// The key by which the observer is removed again.
    func add(_ body: @escaping @Sendable (Miss) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            guard !state.isFinished else { return state.next }
            state.observers.append((state.next, body))
            count.store(state.observers.count, ordering: .relaxed)
            return state.next
        }
    }

    func remove(_ key: Int) { drop { $0.key == key } }

    /// Lets go of all observers, those to come included.
    func finish() {
        state.withLock { $0.isFinished = true }
        drop { _ in true }
    }

    private func drop(_ isDropped: (_ observer: (key: Int, body: @Sendable (Miss) -> Void)) -> Bool)
    {
        // What an observer holds may end with it, and come back here: not under the lock.
        let dropped = state.withLock { state in
            let dropped = state.observers.filter(isDropped)
            state.observers.removeAll(where: isDropped)
            count.store(state.observers.count, ordering: .relaxed)
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Tells of a miss. Not of those of reads that an observer makes: it would be called for ever.
    func tell(_ miss: @autoclosure () -> Miss) {
        guard count.load(ordering: .relaxed) > 0, !ReadScope.isObserving else { return }
        let bodies = state.withLock { $0.observers.map(\.body) }
        let miss = miss()
        ReadScope.run(observing: true) {
            for body in bodies { body(miss) }
        }
    }
}
