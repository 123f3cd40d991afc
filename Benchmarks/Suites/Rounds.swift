#if CommandLine
package import EspalierFixtures

/// The time that a suite may take, from the moment this value is made. What the suite sets up
/// counts.
package struct Allotment: Sendable {
    let seconds: Double
    private let start = ContinuousClock.now

    package init(seconds: Double) { self.seconds = seconds }

    /// Whether there is so little time that suites set up only as much as makes them run.
    var isTrial: Bool { seconds < 2 }

    /// The seconds that are left.
    var left: Double { max(0, seconds - (ContinuousClock.now - start) / .seconds(1)) }
}

/// One thing that a suite did again and again, and how long it took.
package struct Timing: Sendable {
    package let name: String
    package var latencies = Latencies()

    /// The unit of all times in results: microseconds.
    package static let unit = "us"

    package init(name: String) { self.name = name }

    var median: Double? { latencies.microseconds(at: 50) }

    /// Returns how many times the baseline's median this median is.
    func ratio(to baseline: Timing?) -> Double? {
        guard let median, let base = baseline?.median, base > 0 else { return nil }
        return median / base
    }
}

/// Does several things turn by turn until the time is over, so that other work of the machine
/// slows down all of them alike.
///
///     let timings = try Rounds(seconds: 3).run([
///         Rounds.Way("raw") { try check(raw.read(Feed.self, "Feed:1")) },
///         Rounds.Way("compressed") { try check(compressed.read(Feed.self, "Feed:1")) },
///     ])
struct Rounds {
    let seconds: Double
    /// Rounds that count, even if the time is over.
    var least = 5
    /// Rounds that warm caches and do not count.
    var warmUps = 3
    /// Whether each round has an order of its own, so that no way always finds the processor's
    /// caches as the same other way left them. Only for ways that do not need what the one before
    /// did.
    var isShuffled = false

    /// One of the things to do.
    struct Way {
        let name: String
        let prepare: () throws -> Void
        let body: () throws -> Void

        /// - Parameters:
        ///   - prepare: Done before each turn, and not timed.
        ///   - body: What is timed.
        init(
            _ name: String, prepare: @escaping () throws -> Void = {},
            body: @escaping () throws -> Void
        ) {
            self.name = name
            self.prepare = prepare
            self.body = body
        }
    }

    func run(_ ways: [Way]) throws -> [Timing] {
        var timings = ways.map { Timing(name: $0.name) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var round = 0
        var order = Array(ways.indices)
        var random = SplitMix64(state: 1)
        while round < warmUps + least || clock.now < end {
            if isShuffled { order.shuffle(using: &random) }
            for index in order {
                let way = ways[index]
                try way.prepare()
                let time = try clock.measure { try way.body() }
                if round >= warmUps { timings[index].latencies.record(time) }
            }
            round += 1
        }
        return timings
    }
}

/// Calls something on a schedule, and times each call from the moment it was due.
///
/// A loop of calls back to back waits for one slow call and misses all calls that would have been
/// slow beside it (*coordinated omission*). Here, a call that starts late because of the one before
/// has waited, and its time includes the wait.
struct PacedCalls {
    var interval = Duration.microseconds(100)

    func run(for duration: Duration, into latencies: inout Latencies, _ body: () throws -> Void)
        rethrows
    {
        let clock = ContinuousClock()
        var due = clock.now
        let end = due + duration
        while due < end {
            // No sleep is as exact.
            while clock.now < due {}
            try body()
            latencies.record(clock.now - due)
            due += interval
        }
    }
}
#endif
