import Espalier
import Feeds

/// Measures how long reads take while a writer commits a hundred times a second, and without a
/// writer.
struct ReadingBesideWriter {
    let contest: Contest
    static let commitsPerSecond = 100.0
    /// The turns alternate, so that other work of the machine slows down both.
    private static let turns = 3

    /// The times of one contender, in microseconds.
    struct Latency: Codable, Sendable {
        let contender: ContenderID
        let hasWriter: Bool
        let count: Int
        let p50, p90, p99, most: Double
        /// Nil if there are too few reads.
        let p999: Double?
        /// The median of the turns' 99th percentiles: one hiccup of the machine must not decide the
        /// comparison.
        let middleP99: Double
        /// The writer's commits a second: fewer than wanted if a write takes longer than its turn.
        let commits: Double
    }

    /// The latencies of all turns of one contender, with a writer or without.
    private struct TurnLatencies {
        private var all = Latencies()
        private var p99s: [Double] = []
        private var commits: [Double] = []

        mutating func add(_ turn: Latencies, commits: Double) {
            all.add(turn)
            p99s.append(turn.microseconds(at: 99) ?? .nan)
            self.commits.append(commits)
        }

        func latency(of contender: ContenderID, hasWriter: Bool) -> Latency {
            func at(_ percentile: Double) -> Double { all.microseconds(at: percentile) ?? .nan }
            return Latency(
                contender: contender, hasWriter: hasWriter, count: all.count, p50: at(50),
                p90: at(90), p99: at(99), most: at(100),
                p999: all.count >= 10_000 ? at(99.9) : nil,
                middleP99: p99s.sorted()[p99s.count / 2],
                commits: commits.reduce(0, +) / Double(commits.count))
        }
    }

    func run() throws -> [Latency] {
        let scale = contest.scale
        let set = scale.feedSet
        let contestants = Contestant.snapshots + contest.contestants.filter { $0.role != .ceiling }
        let scratch = try Scratch(in: contest.directory)
        let stands = try contestants.map { try Stand($0, in: scratch.path, durability: .process) }
        for stand in stands { try stand.fill(set.feeds) }
        var alone = stands.map { _ in TurnLatencies() }
        var beside = stands.map { _ in TurnLatencies() }
        var random = SplitMix64(state: 5)
        for turn in 1...Self.turns {
            for index in stands.indices.shuffled(using: &random) {
                let stand = stands[index]
                contest.announce("reading beside a writer, turn \(turn): \(stand.contestant.name)")
                _ = try measure(stand, set, isWriting: false, seconds: scale.seconds / 10)
                alone[index].add(
                    try measure(stand, set, isWriting: false, seconds: scale.seconds).times,
                    commits: 0)
                let (times, commits) = try measure(
                    stand, set, isWriting: true, seconds: scale.seconds)
                beside[index].add(times, commits: commits)
            }
        }
        for stand in stands { try stand.contender.close() }
        return stands.indices.flatMap { index in
            let contender = stands[index].contestant.id
            return [
                alone[index].latency(of: contender, hasWriter: false),
                beside[index].latency(of: contender, hasWriter: true),
            ]
        }
    }

    private func measure(
        _ stand: Stand, _ set: FeedSet, isWriting: Bool, seconds: Double
    ) throws -> (times: Latencies, commits: Double) {
        let writer =
            isWriting
            ? writer(stand.contender, set.feeds) : nil
        let times = try read(stand, set.feeds.map(\.id), seconds: seconds)
        let written = try writer?.stop()
        return (times, written.map { Double($0.commits) / $0.seconds } ?? 0)
    }

    /// Returns a writer of feeds, of which each has 1 % of its nodes changed since the last time.
    private func writer(_ contender: any Contender, _ feeds: [Feed]) -> PacedWriter {
        let contender = Lent(contender)
        return PacedWriter(interval: .seconds(1 / Self.commitsPerSecond), state: feeds) {
            feeds, number in
            let feed = feeds[number % feeds.count].edited(number + 1)
            feeds[number % feeds.count] = feed
            contender.value.prepare(feed)
            try contender.value.write(feed)
        }
    }

    private func read(_ stand: Stand, _ identifiers: [String], seconds: Double) throws
        -> Latencies
    {
        var latencies = Latencies()
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
            latencies.record(after - now)
            now = after
        }
        return latencies
    }
}

/// A contender that several threads use: reads may come from all of them, writes from one alone.
struct Lent: @unchecked Sendable {
    let value: any Contender

    init(_ value: any Contender) { self.value = value }
}
