import Dispatch
import EspalierStore
import Foundation
import Synchronization

/// Commits a small write at intervals, on a thread of its own, until it is stopped.
final class PacedWriter: Sendable {
    private struct State {
        var commits = 0
        var isOver = false
    }

    private let ended = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    init(cache: NormalizedCache, interval: Duration) {
        let thread = Thread { [self] in
            var people = FeedPeople()
            let clock = ContinuousClock()
            var due = clock.now
            while !state.withLock({ $0.isOver }) {
                // The same hundred people over and over: the cache does not grow while it is
                // measured.
                if state.withLock({ $0.commits % 100 == 0 }) { people = FeedPeople() }
                let number = state.withLock { $0.commits }
                guard (try? cache.set(people.next(1).map { $0.renamed("\(number)") }).wait()) != nil
                else { break }
                state.withLock { $0.commits += 1 }
                due = max(due + interval, clock.now)
                Thread.sleep(forTimeInterval: (due - clock.now) / .seconds(1))
            }
            ended.signal()
        }
        thread.name = "paced writer"
        thread.start()
    }

    /// Waits until it has ended; how often it committed.
    @discardableResult
    func stop() -> Int {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { ended.wait() }
        return state.withLock { $0.commits }
    }
}
