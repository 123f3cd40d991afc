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
            let counter = Counter()
            DispatchQueue.concurrentPerform(iterations: 1_000) { _ in counter.count += 1 }
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
