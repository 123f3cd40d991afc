import Dispatch
import Synchronization

/// The end of a wait that may come from several sides: a result, a timeout, a cancelled task. The
/// first one counts.
///
/// ```swift
/// let end = Resumption<Bool>()
/// work { end.resume(true) }
/// end.resume(false, after: .seconds(1))
/// return await end.value
/// ```
package final class Resumption<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case waiting(CheckedContinuation<Value, Never>)
        case done(Value)
    }

    // protected by `state`
    private let state = Mutex(State.pending)

    package init() {}

    /// Suspends until the first call of `resume`. To be awaited once.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Value? in
                    if case .done(let value) = state { return value }
                    state = .waiting(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    /// Ends the wait. Later calls have no effect.
    package func resume(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            let old = state
            if case .done = old { return nil }
            state = .done(value)
            guard case .waiting(let continuation) = old else { return nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }

    /// Ends the wait with `value` if it lasts longer than `timeout`.
    package func resume(_ value: Value, after timeout: Duration) {
        let seconds = Double(timeout.components.seconds)
            + Double(timeout.components.attoseconds) * 1e-18
        // A longer time does not fit in the dispatch queue's clock.
        let delay = DispatchTimeInterval.milliseconds(Int(min(seconds, 1e9) * 1e3))
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.resume(value)
        }
    }
}

extension Resumption {
    /// Suspends until the first call of `resume`, or until the task is cancelled. To be awaited
    /// once.
    ///
    /// - Parameter onCancel: Called before the wait ends because the task is cancelled.
    /// - Throws: The error of the result; `CancellationError` at once if the task is cancelled.
    package func cancellableValue<Success>(
        onCancel: @Sendable () -> Void = {}
    ) async throws -> Success where Value == Result<Success, any Error> {
        try await withTaskCancellationHandler {
            try await value.get()
        } onCancel: {
            onCancel()
            resume(.failure(CancellationError()))
        }
    }
}
