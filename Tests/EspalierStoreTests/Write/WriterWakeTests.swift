import EspalierTestSupport
import Foundation
import Synchronization
import Testing

@testable import EspalierStore

@Suite("Waking the writer", .timeLimit(.minutes(1)))
struct WriterWakeTests {
    /// A thread that takes from a queue, as the writer does, each time until the same deadline.
    private final class Taker: Sendable {
        let queue = WriteQueue(
            limit: .mebibytes(1),
            WriteFailures(
                StatisticsRecorder(), Broadcast<CacheEvent>(buffering: .bufferingNewest(16))))
        /// How often `take` has returned.
        let returns = Atomic(0)
        private let ended = DispatchSemaphore(value: 0)

        init(until deadline: ContinuousClock.Instant?) {
            let thread = Thread { [self] in
                while queue.take(atMost: 1, until: deadline) != nil {
                    returns.add(1, ordering: .sequentiallyConsistent)
                }
                ended.signal()
            }
            thread.start()
        }

        func close() {
            queue.close()
            ended.wait()
        }
    }

    @Test("A writer that sleeps is not woken for a deadline at which it wakes anyway")
    func later() async throws {
        let end = ContinuousClock.now + .seconds(1_000)
        let taker = Taker(until: end)
        defer { taker.close() }
        while !taker.queue.isWriterAsleep { try await Task.sleep(for: .milliseconds(1)) }
        for deadline in 0..<100 {
            taker.queue.wakeWriter(by: end + .seconds(100 + deadline))
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(taker.returns.load(ordering: .sequentiallyConsistent) == 0)
    }

    @Test(
        "A writer is woken for a deadline before the end of its sleep, whenever that begins",
        arguments: [true, false])
    func earlier(sleepsForever: Bool) async throws {
        let end = ContinuousClock.now + .seconds(1_000)
        let taker = Taker(until: sleepsForever ? nil : end)
        defer { taker.close() }
        let enough = ContinuousClock.now + .seconds(2)
        for _ in 0..<1_000 where ContinuousClock.now < enough {
            let before = taker.returns.load(ordering: .sequentiallyConsistent)
            taker.queue.wakeWriter(by: end - .milliseconds(1))
            // Without a pause, so that the next round meets the thread on its way to sleep.
            let limit = ContinuousClock.now + .seconds(20)
            while taker.returns.load(ordering: .sequentiallyConsistent) == before {
                guard ContinuousClock.now < limit else {
                    Issue.record("The writer sleeps on.")
                    return
                }
            }
        }
    }
}
