import Feeds

/// Reads feeds by Zipf, and writes those that are missing, in caches too small for all of them.
struct EvictionUnderPressure {
    let contest: Contest

    struct Result: Codable, Sendable {
        let contender: ContenderID
        let budget, reads, hits: Int
        /// The feeds that it held on average: the capacity of the two simulations.
        let feedsHeld: Int
        /// Shares of the reads that hit. The last two are those of simulations that hold
        /// `feedsHeld` feeds: an exact LRU, and the offline optimum, which knows the future (Belady
        /// 1966).
        let hitRate, leastRecentlyUsed, offlineOptimal: Double
        /// The time of a read, together with the write that follows a miss.
        let microsecondsPerRead: Double
        let mostBytes: Int
        /// The writes that did not fit even alone.
        let writesRefused: Int
    }

    func run() throws -> [Result] {
        contest.announce("evicting under pressure")
        let scale = contest.scale
        let pressure = Pressure(scale: scale, content: .generated)
        let scratch = try Scratch(in: contest.directory)
        return try LimitedContestant.all.map { contestant in
            try pressure.measure(
                try contestant.make(in: scratch.path, limit: scale.evictionBudget))
        }
    }
}

/// Feeds, and the order in which they are asked for.
struct Pressure: Sendable {
    let feeds: [Feed]
    let accesses: [Int]

    init(scale: Scale, content: FeedContent) {
        feeds =
            FeedSet(
                seed: 4, feeds: scale.evictionFeeds, people: scale.people, posts: scale.posts,
                content: content
            ).feeds
        let table = ZipfTable(count: feeds.count)
        var random = SplitMix64(state: 11)
        accesses = (0..<scale.evictionReads).map { _ in table.draw(&random) }
    }

    /// Opens a contender, reads feeds and writes those that are missing, and closes it.
    func measure(_ limited: LimitedContender) throws -> EvictionUnderPressure.Result {
        try limited.contender.open()
        defer { try? limited.contender.close() }
        let clock = ContinuousClock()
        var (hits, writesRefused) = (0, 0)
        var time = Duration.zero
        var held: [Int] = []
        var mostBytes = 0
        for (number, access) in accesses.enumerated() {
            let feed = feeds[access]
            time += try clock.measure {
                if try limited.contender.read(feed.id) != nil {
                    hits += 1
                } else if try !limited.write(feed) {
                    writesRefused += 1
                }
            }
            // Counts only when the contender is full, and seldom: counting takes a read of each
            // feed.
            guard (number + 1) % max(1, accesses.count / 10) == 0 else { continue }
            mostBytes = max(mostBytes, try DirectorySize.allocated(limited.directory))
            if number > accesses.count / 3 { held.append(try limited.heldCount(feeds)) }
        }
        let capacity = max(1, held.reduce(0, +) / max(1, held.count))
        return EvictionUnderPressure.Result(
            contender: limited.id, budget: limited.limit, reads: accesses.count, hits: hits,
            feedsHeld: capacity, hitRate: Double(hits) / Double(accesses.count),
            leastRecentlyUsed: ExactLRU(capacity: capacity).hits(of: accesses).share,
            offlineOptimal: OfflineOptimum(capacity: capacity).hits(of: accesses).share,
            microsecondsPerRead: time.microseconds / Double(accesses.count), mostBytes: mostBytes,
            writesRefused: writesRefused)
    }
}

extension [Bool] {
    /// The share of true elements, 0 if there is none.
    var share: Double { isEmpty ? 0 : Double(count { $0 }) / Double(count) }
}
