import EspalierConsistency
import Synchronization

/// The answers of the cache that are still to come, or to be delivered: one after the other, in the
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

    /// An answer to come, and what is to be done with it.
    func answer<Value: Sendable>(unless substitute: Value, _ completion: Completion<Value>)
        -> Answer<Value>
    {
        latest += 1
        let number = latest
        open.insert(number)
        return Answer(unless: substitute) { [self] value in
            deliveries.submit {
                await completion(value)
                await self.end(number)
            }
        }
    }

    private func end(_ number: Int) {
        open.remove(number)
        for index in flushes.indices { flushes[index].waitsFor.remove(number) }
        for flush in flushes where flush.waitsFor.isEmpty { flush.continuation.resume() }
        flushes.removeAll { $0.waitsFor.isEmpty }
    }

    /// Returns when every answer that is awaited now has come and has been delivered.
    func flush() async {
        guard !open.isEmpty else { return }
        await withCheckedContinuation { flushes.append(Flush(waitsFor: open, continuation: $0)) }
    }
}

/// What is done with an answer. Let go of as soon as it is done, so that nobody who is finished is
/// kept alive by a queue.
@MainActor
final class Completion<Value: Sendable> {
    private var body: (@MainActor @Sendable (Value) -> Void)?

    nonisolated init(_ body: @escaping @MainActor @Sendable (Value) -> Void) { self.body = body }

    func callAsFunction(_ value: Value) {
        let body = body.take()
        body?(value)
    }
}

/// An answer to come: the first one given counts, and if the last who could give one forgets to,
/// there is a substitute.
final class Answer<Value: Sendable>: Sendable {
    private let isGiven = Atomic<Bool>(false)
    private let substitute: Value
    private let deliver: @Sendable (Value) -> Void

    init(unless substitute: Value, _ deliver: @escaping @Sendable (Value) -> Void) {
        self.substitute = substitute
        self.deliver = deliver
    }

    deinit { give(substitute) }

    /// On any thread.
    func give(_ value: Value) {
        if !isGiven.exchange(true, ordering: .relaxed) { deliver(value) }
    }
}
