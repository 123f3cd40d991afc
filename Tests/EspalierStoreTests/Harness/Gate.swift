import Dispatch

@testable import EspalierStore

/// A write that blocks the writer until the gate is opened. Later writes are queued meanwhile.
final class Gate: Sendable {
    /// The longest wait. Tests that wait for other processes may occupy all threads of a small
    /// machine for minutes.
    private static let patience = DispatchTimeInterval.seconds(600)

    private let isOpen = DispatchSemaphore(value: 0)

    /// Returns when all earlier writes are committed and the writer is blocked, with no other write
    /// in its batch.
    init(in cache: NormalizedCache) {
        let isReached = DispatchSemaphore(value: 0)
        let isWatched = DispatchSemaphore(value: 0)
        let ticket = cache.submit(isDroppable: false) { _ in
            _ = isWatched.wait(timeout: .now() + Self.patience)
            return .barrier
        }
        // The writer's own thread calls this, so it blocks here.
        ticket.whenDone { [isOpen] _ in
            isReached.signal()
            _ = isOpen.wait(timeout: .now() + Self.patience)
        }
        isWatched.signal()
        _ = isReached.wait(timeout: .now() + Self.patience)
    }

    func open() { isOpen.signal() }
}

/// Runs `body` while the writer of `cache` is blocked, so that all writes it submits stay in the
/// queue until it returns.
func withBlockedWriter<R>(_ cache: NormalizedCache, _ body: () throws -> R) throws -> R {
    let gate = Gate(in: cache)
    defer { gate.open() }
    return try body()
}
