import Espalier
import Feeds
import Histogram

/// How long reads take while a writer commits a hundred times a second, and while nobody writes.
struct ReadingBesideWriter {
    let comparison: Comparison
    static let commitsPerSecond = 100.0
    /// Alternating, so that what else the machine does falls on both.
    private static let turns = 3

    init(_ comparison: Comparison) { self.comparison = comparison }

    /// One contender's times, in microseconds.
    struct Latency: Codable, Sendable {
        let contender: String
        let hasWriter: Bool
        let count: Int
        let p50, p90, p99, p999, most: Double
        /// How often the writer committed, a second: fewer than wanted where a write takes longer than its turn.
        let commits: Double
    }

    func run() throws -> [Latency] {
        let scale = comparison.scale
        let set = FeedSet(feeds: scale.feeds, people: scale.people, posts: scale.posts)
        var contestants = comparison.contestants.filter { $0.role != .ceiling }
        contestants.insert(contentsOf: Contestant.snapshots, at: 0)
        let scratch = try Scratch(in: comparison.directory)
        return try contestants.flatMap { contestant in
            comparison.announce("reading beside a writer: \(contestant.name)")
            let stand = try Stand(contestant, in: scratch.path, durability: .process)
            for feed in set.feeds { try stand.contender.write(feed) }
            _ = try measure(stand, set, isWriting: false, seconds: scale.seconds / 8)
            var alone: [Latency] = []
            var beside: [Latency] = []
            for _ in 0..<Self.turns {
                alone.append(try measure(stand, set, isWriting: false, seconds: scale.seconds))
                beside.append(try measure(stand, set, isWriting: true, seconds: scale.seconds))
            }
            try stand.contender.close()
            // The turn in the middle: one hiccup of the machine must not decide.
            return [alone, beside].map { $0.sorted { $0.p99 < $1.p99 }[$0.count / 2] }
        }
    }

    private func measure(_ stand: Stand, _ set: FeedSet, isWriting: Bool, seconds: Double) throws -> Latency {
        let writer = isWriting ? PacedWriter(stand.contender, set.feeds, commitsPerSecond: Self.commitsPerSecond) : nil
        let histogram = try read(stand, set.feeds.map(\.id), seconds: seconds)
        let commits = try writer?.stop() ?? 0
        func at(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1_000 }
        return Latency(
            contender: stand.contestant.name, hasWriter: isWriting, count: Int(histogram.totalCount), p50: at(50),
            p90: at(90), p99: at(99), p999: at(99.9), most: Double(histogram.max) / 1_000, commits: commits)
    }

    private func read(_ stand: Stand, _ identifiers: [String], seconds: Double) throws -> Histogram<UInt64> {
        // Nanoseconds, up to a minute.
        var histogram = Histogram<UInt64>(highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
        let table = ZipfTable(count: identifiers.count)
        var random = SplitMix64(state: 7)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var now = clock.now
        while now < end {
            guard try stand.contender.read(identifiers[table.draw(&random)]) != nil else {
                throw ComparisonError.missing("\(stand.contestant.name): a feed beside a writer")
            }
            let after = clock.now
            histogram.record(UInt64((after - now).microseconds * 1_000))
            now = after
        }
        return histogram
    }
}
