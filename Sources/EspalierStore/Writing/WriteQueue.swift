import Dispatch
import EspalierRecords
import Synchronization

/// The queue of writes: `QueueState` under a lock, with those who wait for it.
final class WriteQueue: Sendable {
    // protected by `state`
    private struct Guarded {
        var queue: QueueState
        var waiters: [(upTo: UInt64, body: @Sendable () -> Void)] = []
        /// Whether the writer has nothing to do but wait for the next write.
        var isWriterWaiting = false
    }
    private let state: Mutex<Guarded>
    /// Signalled once for every write, and at closing.
    private let work = DispatchSemaphore(value: 0)
    private let attention = Atomic<Bool>(false)

    /// Told of every write that is dropped.
    private let onDrop: @Sendable () -> Void

    init(limit: ByteCount, onDrop: @escaping @Sendable () -> Void = {}) {
        self.onDrop = onDrop
        state = Mutex(Guarded(queue: QueueState(limit: limit.bytes)))
    }

    /// Takes a write in. Never blocks. Nil when the queue is closed.
    func submit(
        coalescingKey: CoalescingKey?, isDroppable: Bool,
        _ flatten: @escaping @Sendable () throws -> WriteOperation
    ) -> PendingWrite? {
        let added = state.withLock { state -> (PendingWrite, QueueState.Displaced)? in
            guard !state.queue.isClosed else { return nil }
            let write = PendingWrite(
                sequence: state.queue.nextSequence(), coalescingKey: coalescingKey,
                isDroppable: isDroppable,
                isForWriter: state.isWriterWaiting, flatten: flatten)
            state.isWriterWaiting = false
            return (write, state.queue.add(write))
        }
        guard let (write, displaced) = added else { return nil }
        settle(displaced)
        work.signal()
        return write
    }

    /// Notes what a write came to once flattened.
    func measure(_ write: PendingWrite, bytes: Int) {
        settle(state.withLock { $0.queue.measure(write, bytes: bytes) })
    }

    private func settle(_ displaced: QueueState.Displaced) {
        for (old, later) in displaced.coalesced {
            old.abandon()
            later.absorb(old)
        }
        for write in displaced.dropped {
            write.abandon()
            write.finish(.failure(.dropped))
            onDrop()
        }
        wake()
    }

    /// Blocks until there is something to commit, or `deadline` is there, or somebody has called
    /// `wake`; nil when the queue is closed and empty.
    func take(atMost count: Int, until deadline: ContinuousClock.Instant?) -> [PendingWrite]? {
        var deadline = deadline
        while true {
            let (taken, isClosed) = state.withLock { state in
                let taken = state.queue.take(atMost: count)
                state.isWriterWaiting = taken.isEmpty
                return (taken, state.queue.isClosed)
            }
            if !taken.isEmpty { return taken }
            if isClosed { return nil }
            if attention.exchange(false, ordering: .acquiringAndReleasing) {
                if stopWaiting() { return [] }
                attention.store(true, ordering: .releasing)
                continue
            }
            guard let end = deadline else {
                work.wait()
                continue
            }
            let rest = max(0, (end - .now) / .nanoseconds(1))
            if rest == 0 {
                if stopWaiting() { return [] }
                continue
            }
            deadline =
                work.wait(timeout: .now() + .nanoseconds(Int(rest))) == .timedOut ? .now : end
        }
    }

    /// Takes `write` out if it is the next one, and all before it are finished.
    func take(next write: PendingWrite) -> Bool {
        state.withLock { state in
            guard state.queue.take(next: write) else { return false }
            // The writer, woken by it, finds nothing and waits on.
            if write.isForWriter { state.isWriterWaiting = true }
            return true
        }
    }

    /// What has come since `take` returned.
    func takeMore(atMost count: Int) -> [PendingWrite] {
        state.withLock { $0.queue.take(atMost: count) }
    }

    /// False where a write has come meanwhile, which counts on the writer to flatten it at once.
    private func stopWaiting() -> Bool {
        state.withLock { state in
            defer { state.isWriterWaiting = false }
            return state.isWriterWaiting
        }
    }

    /// Makes `take` return, so that the writer sees what else there is to do.
    func wakeWriter() {
        attention.store(true, ordering: .releasing)
        work.signal()
    }

    func putBack(_ writes: [PendingWrite], bytes: [Int]) {
        guard !writes.isEmpty else { return }
        state.withLock { $0.queue.putBack(writes, bytes: bytes) }
        work.signal()
    }

    func finish(_ writes: [PendingWrite]) {
        state.withLock { $0.queue.finish(writes) }
        wake()
    }

    private func wake() {
        let bodies = state.withLock { state -> [@Sendable () -> Void] in
            let finished = state.queue.finished
            let ready = state.waiters.filter { $0.upTo <= finished }
            guard !ready.isEmpty else { return [] }
            state.waiters.removeAll { $0.upTo <= finished }
            return ready.map(\.body)
        }
        for body in bodies { body() }
    }

    /// Runs `body` when everything submitted so far is finished; false, without `body`, when it is
    /// already.
    func whenCaughtUp(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.queue.finished < state.queue.submitted else { return false }
            state.waiters.append((state.queue.submitted, body))
            return true
        }
    }

    /// Blocks until everything submitted so far is finished.
    func catchUp() throws(CacheError) {
        guard !isCaughtUp else { return }
        guard !ReadScope.isInside else { throw .waitInsideRead }
        let semaphore = DispatchSemaphore(value: 0)
        if whenCaughtUp({ semaphore.signal() }) { semaphore.wait() }
    }

    var isCaughtUp: Bool { state.withLock { $0.queue.finished >= $0.queue.submitted } }

    func close() {
        state.withLock { $0.queue.isClosed = true }
        work.signal()
    }
}
