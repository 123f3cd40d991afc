import EspalierConsistency
import Synchronization

/// The replies of the cache that are outstanding. They are delivered one after the other, in the
/// order in which the cache gives them.
actor PendingReplies {
    private struct Flush {
        var waitsFor: Set<Int>
        let continuation: CheckedContinuation<Void, Never>
    }
    private var open: Set<Int> = []
    private var latest = 0
    private var flushes: [Flush] = []
    private let deliveries = WorkQueue()

    /// Adds a reply. `callback` is called with its value, or with `substitute` if the reply is
    /// released without a value.
    func add<Value: Sendable>(default substitute: Value, _ callback: ReplyCallback<Value>)
        -> PendingReply<Value>
    {
        add(default: substitute) { await callback($0) }
    }

    /// Adds a reply that is not handled on the main actor.
    func add<Value: Sendable>(
        default substitute: Value, _ callback: @escaping @Sendable (Value) async -> Void
    ) -> PendingReply<Value> {
        latest += 1
        let number = latest
        open.insert(number)
        return PendingReply(default: substitute) { [self] value in
            deliveries.submit {
                await callback(value)
                await self.close(number)
            }
        }
    }

    private func close(_ number: Int) {
        open.remove(number)
        for index in flushes.indices { flushes[index].waitsFor.remove(number) }
        for flush in flushes where flush.waitsFor.isEmpty { flush.continuation.resume() }
        flushes.removeAll { $0.waitsFor.isEmpty }
    }

    /// Waits until every reply that is outstanding now has been delivered.
    func flush() async {
        guard !open.isEmpty else { return }
        await withCheckedContinuation { flushes.append(Flush(waitsFor: open, continuation: $0)) }
    }
}

/// A closure that is called with a reply, and released with the call: a queue does not extend the
/// life of what the closure captures.
@MainActor
final class ReplyCallback<Value: Sendable> {
    private var body: (@MainActor @Sendable (Value) -> Void)?

    nonisolated init(_ body: @escaping @MainActor @Sendable (Value) -> Void) { self.body = body }

    func callAsFunction(_ value: Value) {
        let body = body.take()
        body?(value)
    }
}

/// An outstanding reply. The first value counts. If the last reference goes without a value, the
/// substitute counts.
final class PendingReply<Value: Sendable>: Sendable {
    private let isFulfilled = Atomic<Bool>(false)
    private let substitute: Value
    private let deliver: @Sendable (Value) -> Void

    init(default substitute: Value, _ deliver: @escaping @Sendable (Value) -> Void) {
        self.substitute = substitute
        self.deliver = deliver
    }

    deinit { fulfill(substitute) }

    /// Delivers the first value. May be called on any thread.
    func fulfill(_ value: Value) {
        if !isFulfilled.exchange(true, ordering: .relaxed) { deliver(value) }
    }
}

/// Waits for the completion of `request`.
///
/// - Returns: The value, which is `nil` for a miss.
/// - Throws: The error, if there is no value with it.
@MainActor
func awaitReply<Value: Sendable>(
    _ request: (@escaping @MainActor (Value?, (any Error)?) -> Void) -> Void
) async throws -> Value? {
    try await withCheckedThrowingContinuation { continuation in
        request { value, error in
            if let error, value == nil {
                continuation.resume(throwing: error)
            } else {
                continuation.resume(returning: value)
            }
        }
    }
}
