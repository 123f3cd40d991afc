import Dispatch
import Foundation
import Synchronization

/// Writes at a fixed pace, on a thread of its own, until it is stopped.
///
///     let writer = PacedWriter(interval: .milliseconds(10), state: ()) { _, number in
///         try cache.set(person(number)).wait()
///     }
///     // … measure reads …
///     let commits = try writer.stop().commits
public final class PacedWriter: Sendable {
    private struct State {
        var commits = 0
        var isStopping = false
        var failure: (any Error)?
    }

    private let start = ContinuousClock.now
    private let ended = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    /// Starts to write.
    ///
    /// - Parameters:
    ///   - interval: The time from one write to the next. The writer makes up for writes that took
    ///     longer.
    ///   - initial: What the writes change, on the writer's thread alone.
    ///   - write: Writes and waits for the commit. It is given the number of writes before. The
    ///     first error ends the writer.
    public init<Writing: Sendable>(
        interval: Duration, state initial: Writing,
        _ write: @escaping @Sendable (_ state: inout Writing, _ number: Int) throws -> Void
    ) {
        let thread = Thread { [self] in
            var writing = initial
            var number = 0
            do {
                while !state.withLock({ $0.isStopping }) {
                    try write(&writing, number)
                    number += 1
                    state.withLock { $0.commits += 1 }
                    let left = start + interval * number - ContinuousClock.now
                    if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
                }
            } catch {
                state.withLock { $0.failure = error }
            }
            ended.signal()
        }
        thread.name = "paced writer"
        thread.start()
    }

    /// Ends the writer and waits for its last write. It may be called again.
    ///
    /// - Returns: How many writes there were, and in how many seconds.
    /// - Throws: What a write threw.
    @discardableResult
    public func stop() throws -> (commits: Int, seconds: Double) {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        if isFirst { ended.wait() }
        let (commits, failure) = state.withLock { ($0.commits, $0.failure) }
        if let failure { throw failure }
        return (commits, (ContinuousClock.now - start) / .seconds(1))
    }
}
