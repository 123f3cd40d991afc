import Dispatch

@testable import EspalierStore

/// A write after which the writer stands still until the gate is opened: meanwhile writes pile up
/// behind it.
final class Gate: Sendable {
    /// Longer than tests that wait for processes can keep all threads of a small machine.
    private static let patience = DispatchTimeInterval.seconds(600)

    private let isOpen = DispatchSemaphore(value: 0)

    /// Returns when everything before is committed and the writer stands still, with nothing else
    /// in its hands.
    init(in cache: NormalizedCache) {
        let isReached = DispatchSemaphore(value: 0)
        let isWatched = DispatchSemaphore(value: 0)
        let ticket = cache.submit(isDroppable: false) { _ in
            _ = isWatched.wait(timeout: .now() + Self.patience)
            return .barrier
        }
        // Tickets are told by the writer's own thread.
        ticket.whenDone { [isOpen] _ in
            isReached.signal()
            _ = isOpen.wait(timeout: .now() + Self.patience)
        }
        isWatched.signal()
        _ = isReached.wait(timeout: .now() + Self.patience)
    }

    func open() { isOpen.signal() }
}

/// Runs `body` while the writer of `cache` stands still, so that everything it submits is queued
/// when it ends.
func withBlockedWriter<R>(_ cache: NormalizedCache, _ body: () throws -> R) throws -> R {
    let gate = Gate(in: cache)
    defer { gate.open() }
    return try body()
}
