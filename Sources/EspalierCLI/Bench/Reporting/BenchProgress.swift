import Dispatch
import Synchronization

/// A bar on standard error, where that is a terminal: how much of the time of all suites has
/// passed.
final class BenchProgress {
    private let bar: ProgressBar
    private let seconds: Double
    private let timer: any DispatchSourceTimer
    private let state: Mutex<State>

    private struct State {
        var finished = 0
        var current: (suite: BenchSuite, start: ContinuousClock.Instant)?
    }

    /// Nil where nobody would see it.
    init?(suites: Int, seconds: Double) {
        guard Terminal.isError else { return nil }
        self.seconds = seconds
        bar = ProgressBar(total: Int((Double(suites) * seconds).rounded(.up)), unit: "seconds")
        state = Mutex(State())
        timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "progress", qos: .utility))
        // Seldom: a thread that wakes up is a disturbance of what is measured.
        timer.schedule(deadline: .now(), repeating: 0.5)
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.resume()
    }

    func begin(_ suite: BenchSuite) { state.withLock { $0.current = (suite, .now) } }

    /// The suite is over; the line is cleared for what is printed now.
    func finish() {
        state.withLock { state in
            guard state.current != nil else { return }
            state.current = nil
            state.finished += 1
            Console.draw("\r\u{1B}[K")
        }
    }

    func end() {
        timer.cancel()
        finish()
    }

    private func draw() {
        // Drawn under the lock: a bar that came after the line was cleared would stand in the
        // result.
        state.withLock { state in
            guard let (suite, start) = state.current else { return }
            // A suite that takes longer than it was given waits at its end.
            let passed = min((ContinuousClock.now - start) / .seconds(1), seconds)
            let done = Int(Double(state.finished) * seconds + passed)
            let name = "  " + TableColumn.Alignment.left.pad(suite.rawValue, to: 11)
            Console.draw(
                "\r" + bar.text(done: done, width: max(20, (Terminal.width ?? 80) - 14)) + name)
        }
    }
}
