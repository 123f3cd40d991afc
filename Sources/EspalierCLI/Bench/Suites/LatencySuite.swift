import EspalierCharts
import EspalierStore

/// One node read on schedule, with and without a writer beside it, by both kinds of consistency;
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
        // Where filling took longer than it was to, there is some time for reading all the same.
        let turn = Duration.seconds(
            max(time.left, time.seconds * 0.2) / Double(turns * Self.cases.count))
        var commits = (count: 0, seconds: 0.0)
        var next = 0
        for _ in 0..<turns {
            for (index, each) in Self.cases.enumerated() {
                let writer =
                    each.hasWriter ? PacedWriter(cache: cache, interval: Self.commitInterval) : nil
                defer { writer?.stop() }
                try PacedCalls().run(for: turn, into: &timings[index].latencies) {
                    next = (next + 1) % people.count
                    _ = try cache.readOutcome(
                        HandWrittenPerson.self, people[next], consistency: each.consistency
                    ).hit()
                }
                guard let writer else { continue }
                commits.seconds += turn / .seconds(1)
                commits.count += writer.stop()
            }
        }
        let commitsPerSecond = Double(commits.count) / max(commits.seconds, 1e-9)
        return SuiteResult(
            suite: .latency, timings: timings, baseline: Self.baseline,
            figures: [
                (
                    "commitsPerSecond", "commits a second, of the writer",
                    .real(commitsPerSecond, decimals: 1)
                )
            ],
            chart: .percentiles(
                PercentileChart(
                    title: "Reading one node while a writer commits 100 times a second",
                    subtitle: "10,000 reads a second, each timed from when it was due",
                    series: timings.map { timing in
                        .init(
                            timing.name, points: timing.latencies.curve,
                            isEmphasised: timing.name == Self.cases[1].name)
                    })))
    }
}
