/// A serial queue: it runs closures one by one, in the order of submission, off the main actor. Any
/// thread may submit.
///
/// An `AsyncStream` provides the order and the only lock. The task of the queue ends with the
/// queue.
package final class WorkQueue: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream<@Sendable () async -> Void>.makeStream()
        work = continuation
        Task.detached { for await work in stream { await work() } }
    }

    deinit { work.finish() }

    package func submit(_ body: @escaping @Sendable () async -> Void) { work.yield(body) }

    /// Waits until everything that was submitted before has run.
    package func flush() async {
        await withCheckedContinuation { continuation in submit { continuation.resume() } }
    }
}
