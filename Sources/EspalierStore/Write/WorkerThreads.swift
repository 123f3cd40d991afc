import Dispatch
import Foundation
import Synchronization

/// Threads with stacks of 8 MiB for work that runs models' code. The threads of Swift's pool have
/// stacks of 512 KiB on Apple's systems.
///
/// A thread starts when work needs it. The threads end after `close()`, or after this object is
/// released.
final class WorkerThreads: Sendable {
    static let stackSize = 8 << 20

    private struct State {
        /// Submitted work, the oldest first. Work that was taken is nil until the array is cut.
        var work: [(@Sendable () -> Void)?] = []
        var taken = 0
        var started = 0
        var idle = 0
        var isClosed = false

        /// Removes the oldest work, in constant time on average, because a burst of writes makes
        /// the list long.
        mutating func take() -> (@Sendable () -> Void)? {
            guard taken < work.count else { return nil }
            defer {
                work[taken] = nil
                taken += 1
                if taken * 2 > work.count {
                    work.removeFirst(taken)
                    taken = 0
                }
            }
            return work[taken]
        }
    }
    private final class Shared: Sendable {
        let state = Mutex(State())
        let available = DispatchSemaphore(value: 0)
    }

    // immutable
    private let shared = Shared()
    private let name: String
    private let limit: Int

    /// - Parameter limit: The most threads. Without one, work would wait for ever, so fewer than 1
    ///   count as 1.
    init(name: String, limit: Int) {
        self.name = name
        self.limit = max(1, limit)
    }

    /// The number of threads that were started.
    var count: Int { shared.state.withLock { $0.started } }

    /// Whether work waits for a thread.
    var isWorkWaiting: Bool {
        shared.state.withLock { $0.taken < $0.work.count && $0.idle == 0 }
    }

    deinit { close() }

    /// Runs `body` on one of the threads, or on one of its own if all are busy, so that `body` may
    /// wait for other work of this object.
    func runAtOnce(_ body: @escaping @Sendable () -> Void) {
        let isFull = shared.state.withLock { state in
            state.isClosed
                || state.started == limit && state.idle <= state.work.count - state.taken
        }
        if isFull || !run(body) { Thread.detachNewThread(body) }
    }

    /// Runs `body` on one of the threads. A single thread runs work in the order of the calls.
    /// Returns false, without running it, after `close()`.
    @discardableResult
    func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        let startsThread = shared.state.withLock { state -> Bool? in
            guard !state.isClosed else { return nil }
            state.work.append(body)
            guard state.idle < state.work.count - state.taken, state.started < limit else {
                return false
            }
            state.started += 1
            return true
        }
        guard let startsThread else { return false }
        if startsThread { start() }
        shared.available.signal()
        return true
    }

    private func start() {
        let shared = shared
        let thread = Thread { Self.loop(shared) }
        thread.name = name
        thread.stackSize = Self.stackSize
        thread.start()
    }

    private static func loop(_ shared: Shared) {
        while true {
            shared.state.withLock { $0.idle += 1 }
            shared.available.wait()
            let (body, isClosed) = shared.state.withLock { state in
                state.idle -= 1
                return (state.take(), state.isClosed)
            }
            if let body { body() } else if isClosed { return }
        }
    }

    /// Lets the threads end once the submitted work is done.
    func close() {
        let started = shared.state.withLock { state in
            state.isClosed = true
            return state.started
        }
        for _ in 0..<started { shared.available.signal() }
    }
}
