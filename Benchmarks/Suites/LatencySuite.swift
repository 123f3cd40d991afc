#if CommandLine
import EspalierCharts
import EspalierFixtures
import EspalierStore

/// Reads one node on schedule, with and without a writer beside it, by both kinds of consistency,
/// turn by turn.
struct LatencySuite {
    let folder: String
    let time: Allotment

    private static let commitInterval = Duration.milliseconds(10)
    private static let baseline = ".snapshot, alone"

    private struct Case {
        let name: String
        let consistency: Consistency
        let hasWriter: Bool
    }

    private static let cases = [
        Case(name: baseline, consistency: .snapshot, hasWriter: false),
        Case(name: ".snapshot, beside the writer", consistency: .snapshot, hasWriter: true),
        Case(name: ".latest, alone", consistency: .latest, hasWriter: false),
        Case(name: ".latest, beside the writer", consistency: .latest, hasWriter: true),
    ]

    func run() throws -> SuiteResult {
        let cache = try FeedCache.filled(
            folder + "/cache", compression: .standard, feeds: time.isTrial ? 1 : 20)
        defer { cache.close() }
        let people = FeedCache.feed(1).posts.map { "Person:\($0.author.id)" }
        var timings = Self.cases.map { Timing(name: $0.name) }
        // Turns so short that a disturbance of the machine falls on more than one.
        let turns = time.isTrial ? 1 : 10
        // Reading gets a fifth of the time, even if filling took longer than was planned.
        let turn = Duration.seconds(
            max(time.left, time.seconds * 0.2) / Double(turns * Self.cases.count))
        var commits = (count: 0, seconds: 0.0)
        var next = 0
        for _ in 0..<turns {
            for (index, each) in Self.cases.enumerated() {
                let writer = each.hasWriter ? writer(cache) : nil
                // The first call ends it; its error is thrown below.
                defer { _ = try? writer?.stop() }
                try PacedCalls().run(for: turn, into: &timings[index].latencies) {
                    next = (next + 1) % people.count
                    _ = try cache.readOutcome(
                        HandWrittenPerson.self, people[next], consistency: each.consistency
                    ).hit()
                }
                guard let writer else { continue }
                commits.seconds += turn / .seconds(1)
                commits.count += try writer.stop().commits
            }
        }
        let commitsPerSecond = Double(commits.count) / max(commits.seconds, 1e-9)
        return SuiteResult(
            suite: .latency, timings: timings, baseline: Self.baseline,
            figures: [
                .init(
                    "commitsPerSecond", "commits a second, of the writer",
                    .number(commitsPerSecond, decimals: 1))
            ],
            chart: .percentiles(
                PercentileChart(
                    title: "Reading one node while a writer commits 100 times a second",
                    subtitle: "10,000 reads a second, each timed from when it was due",
                    series: timings.map { timing in
                        .init(
                            timing.name,
                            points: timing.latencies.curve.map {
                                .init($0.percentile, $0.microseconds)
                            },
                            isEmphasised: timing.name == Self.cases[1].name)
                    })))
    }

    /// Returns a writer that commits one person at a time. It writes the same hundred people over
    /// and over: the cache does not grow while it is measured.
    private func writer(_ cache: NormalizedCache) -> PacedWriter {
        PacedWriter(interval: Self.commitInterval, state: ()) { _, number in
            try cache.set(CollectionPeople.person(number % 100, name: "\(number)")).wait()
        }
    }
}
#endif
