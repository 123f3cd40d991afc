/// Does what it is given one by one, in the order given, off the main actor. Any thread may give.
///
/// The order is that of `AsyncStream`, whose lock is the only one here; the queue's task ends with
/// the queue.
package final class WorkQueue: Sendable {
    private let work: AsyncStream<@Sendable () async -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream<@Sendable () async -> Void>.makeStream()
        work = continuation
        Task.detached { for await work in stream { await work() } }
    }

    deinit { work.finish() }

    package func submit(_ body: @escaping @Sendable () async -> Void) { work.yield(body) }

    /// Returns when all that was submitted before is done.
    package func flush() async {
        await withCheckedContinuation { continuation in submit { continuation.resume() } }
    }
}
