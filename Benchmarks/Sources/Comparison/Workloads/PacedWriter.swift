import Feeds
import Foundation
import Synchronization

/// Writes feeds with 1 % changed from a thread of its own, at a fixed pace.
final class PacedWriter: Sendable {
    private struct State {
        var isOver = false
        var commits = 0
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let start = ContinuousClock.now

    init(_ contender: any Contender, _ feeds: [Feed], commitsPerSecond: Double) {
        let contender = Lent(contender)
        Thread.detachNewThread { [self] in
            let turn = Duration.seconds(1 / commitsPerSecond)
            var number = 0
            // Each state follows from the one before it: 1 % of it changes.
            var states = feeds
            while !state.withLock({ $0.isOver }) {
                let feed = states[number % feeds.count].edited(number + 1)
                states[number % feeds.count] = feed
                do {
                    contender.value.prepare(feed)
                    try contender.value.write(feed)
                } catch {
                    state.withLock { $0.failure = error }
                }
                number += 1
                state.withLock { $0.commits += 1 }
                let left = start + turn * number - ContinuousClock.now
                if left > .zero { Thread.sleep(forTimeInterval: left.microseconds / 1e6) }
            }
            ended.signal()
        }
    }

    /// Ends the writer. Commits a second.
    func stop() throws -> Double {
        state.withLock { $0.isOver = true }
        ended.wait()
        let (commits, failure) = state.withLock { ($0.commits, $0.failure) }
        if let failure { throw failure }
        return Double(commits) / ((ContinuousClock.now - start).microseconds / 1e6)
    }
}

/// A contender lent to another thread: reads may come from several, and only one writes.
struct Lent: @unchecked Sendable {
    let value: any Contender

    init(_ value: any Contender) { self.value = value }
}
