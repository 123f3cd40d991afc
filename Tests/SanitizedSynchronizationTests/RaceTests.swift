import Foundation
import SanitizedSynchronization
import Testing

/// Only `make races` builds these tests.
@Suite("The thread sanitizer")
struct RaceTests {
    /// The exit status that `Scripts/races` gives to a process with a race.
    private static let raceStatus: Int32 = 66

    @Test("A race ends the process")
    func race() async {
        await #expect(processExitsWith: .exitCode(Self.raceStatus)) {
            // Threads of their own: on a busy machine one thread may do all of a concurrent loop.
            let counter = Counter()
            let ended = DispatchSemaphore(value: 0)
            for _ in 0..<2 {
                Thread.detachNewThread {
                    for _ in 0..<1_000 { counter.count += 1 }
                    ended.signal()
                }
            }
            for _ in 0..<2 { ended.wait() }
        }
    }

    @Test("Access to a value that a mutex protects is not reported")
    func protected() async {
        await #expect(processExitsWith: .success) {
            let count = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 1_000) { _ in count.withLock { $0 += 1 } }
            guard count.withLock({ $0 }) == 1_000 else { exit(1) }
        }
    }

    /// `@unchecked Sendable` because its race is what the test is about.
    private final class Counter: @unchecked Sendable { var count = 0 }
}
