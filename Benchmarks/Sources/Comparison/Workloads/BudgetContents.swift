import Dispatch
import Feeds
import Synchronization

/// Measures what a budget holds: streams distinct feeds through contenders with a limit, more than
/// fit, and then counts those that can be read back whole.
///
/// No time is measured, so contenders run beside each other.
struct BudgetContents {
    let contest: Contest

    struct Result: Codable, Sendable {
        let contender: ContenderID
        let content: FeedContent
        let budget: Int
        let feedsWritten: Int
        /// The feeds that could be read back whole, and the different nodes in them.
        let feedsHeld, recordsHeld: Int
        /// The most bytes that the files of the directory took, as the file system tells. They were
        /// looked at again and again, also while `hitRate` was measured.
        let mostBytes: Int
        /// The share of hits when feeds are read as in `EvictionUnderPressure`, from as many feeds.
        let hitRate: Double
        /// The writes of both that the contender refused, because they did not fit even alone.
        let writesRefused: Int
    }

    func run() throws -> [Result] {
        let scale = contest.scale
        var results: [Result] = []
        for content in FeedContent.allCases {
            let pressure = Pressure(scale: scale, content: content)
            for budget in (scale.engineBudgets + scale.budgets).sorted() {
                contest.announce("filling \(Format.mebibytes(budget)) with \(content.name)")
                results += try run(content, budget, pressure)
            }
        }
        return results
    }

    private func run(_ content: FeedContent, _ budget: Int, _ pressure: Pressure) throws
        -> [Result]
    {
        let isForAll = contest.scale.budgets.contains(budget)
        let contestants = isForAll ? LimitedContestant.all : LimitedContestant.engines
        let stream = BudgetStream(scale: contest.scale, content: content)
        let directory = contest.directory
        let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: contestants.count) { index in
            let result = Swift.Result {
                // Two caches, because the second one begins empty.
                let scratches = try (0..<2).map { _ in try Scratch(in: directory) }
                let caches = try scratches.map {
                    try contestants[index].make(in: $0.path, limit: budget)
                }
                let held = try stream.run(through: caches[0])
                let hits = try pressure.measure(caches[1])
                return withExtendedLifetime(scratches) {
                    Result(
                        contender: contestants[index].id, content: content, budget: budget,
                        feedsWritten: held.feedsWritten, feedsHeld: held.feeds,
                        recordsHeld: held.records, mostBytes: max(held.mostBytes, hits.mostBytes),
                        hitRate: hits.hitRate,
                        writesRefused: held.writesRefused + hits.writesRefused)
                }
            }
            results.withLock { $0[index] = result }
        }
        return try contestants.indices.compactMap { index in
            try results.withLock { $0[index] }?.get()
        }
    }
}

/// Writes distinct feeds into a contender, and counts what it holds when all have passed.
struct BudgetStream: Sendable {
    let scale: Scale
    let content: FeedContent

    struct Held {
        var feedsWritten = 0
        var writesRefused = 0
        var feeds = 0
        var records = 0
        var mostBytes = 0
    }

    /// Opens the contender, and closes it.
    func run(through limited: LimitedContender) throws -> Held {
        try limited.contender.open()
        defer { try? limited.contender.close() }
        var feeds = FeedStream(
            seed: 5, people: scale.people, posts: scale.posts, content: content)
        var written: [String] = []
        var held = Held()
        for number in 1...max(1, (limited.limit * scale.feedsPerMebibyte) >> 20) {
            let feed = feeds.next()
            if try limited.write(feed) {
                written.append(feed.id)
            } else {
                held.writesRefused += 1
            }
            guard number % 10 == 0 else { continue }
            held.mostBytes = max(held.mostBytes, try DirectorySize.allocated(limited.directory))
        }
        held.feedsWritten = written.count
        try count(written, in: limited, &held)
        return held
    }

    /// Reads all feeds, the newest first, and counts those that are whole. Does not stop at the
    /// first miss, because eviction need not be exact.
    private func count(_ written: [String], in limited: LimitedContender, _ held: inout Held) throws
    {
        var people: Set<String> = []
        for id in written.reversed() {
            guard let feed = try limited.peek(id) else { continue }
            let comments = feed.posts.reduce(0) { $0 + $1.comments.count }
            guard feed.posts.count == scale.posts,
                comments == scale.posts * FeedGenerator.commentsPerPost
            else { throw ComparisonError.differs(limited.id.name, "feed \(id)") }
            held.feeds += 1
            held.records += 1 + scale.posts + comments
            people.formUnion(feed.peopleIdentifiers)
        }
        held.records += people.count
    }
}
