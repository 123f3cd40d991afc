import Espalier
import Feeds
import Foundation

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
    }

    /// A contender with a limit.
    private struct Limited {
        let id: ContenderID
        let contender: any Contender
        let directory: String
        let heldCount: ([Feed]) throws -> Int
    }

    func run() throws -> [Result] {
        contest.announce("evicting under pressure")
        let scale = contest.scale
        let set = FeedSet(
            seed: 4, feeds: scale.evictionFeeds, people: scale.people, posts: scale.posts)
        let table = ZipfTable(count: set.feeds.count)
        var random = SplitMix64(state: 11)
        let accesses = (0..<scale.evictionReads).map { _ in table.draw(&random) }
        let scratch = try Scratch(in: contest.directory)
        return try limited(scratch.path).map { contender in
            try contender.contender.open()
            defer { try? contender.contender.close() }
            return try run(contender, set.feeds, accesses)
        }
    }

    private func limited(_ directory: String) throws -> [Limited] {
        let budget = contest.scale.evictionBudget
        let compressions: [(ContenderID, Compression)] = [
            (.engine, .none), (.engineCompressed, .standard),
        ]
        let engines = compressions.map { id, compression in
            let path = directory + "/" + id.rawValue
            let contender = EngineContender<Feed>(
                directory: path, durability: .process, compression: compression,
                budget: ByteCount(budget))
            return Limited(id: id, contender: contender, directory: path) { feeds in
                let cache = try contender.cache
                return feeds.count { cache.read(Feed.self, "Feed:\($0.id)", access: .peek) != nil }
            }
        }
        let path = directory + "/" + ContenderID.files.rawValue
        let files = try FilesContender(directory: path, durability: .process, limit: budget)
        return engines + [
            Limited(id: .files, contender: files, directory: path) { _ in
                try DirectorySize.files(path).count
            }
        ]
    }

    private func run(_ limited: Limited, _ feeds: [Feed], _ accesses: [Int]) throws -> Result {
        let clock = ContinuousClock()
        var hits = 0
        var time = Duration.zero
        var held: [Int] = []
        var mostBytes = 0
        for (number, access) in accesses.enumerated() {
            let feed = feeds[access]
            time += try clock.measure {
                if try limited.contender.read(feed.id) != nil {
                    hits += 1
                } else {
                    try limited.contender.write(feed)
                }
            }
            // Counts only when the contender is full, and seldom: counting takes a read of each
            // feed.
            guard (number + 1) % max(1, accesses.count / 10) == 0 else { continue }
            mostBytes = max(mostBytes, try DirectorySize.allocated(limited.directory))
            if number > accesses.count / 3 { held.append(try limited.heldCount(feeds)) }
        }
        let capacity = max(1, held.reduce(0, +) / max(1, held.count))
        return Result(
            contender: limited.id, budget: contest.scale.evictionBudget, reads: accesses.count,
            hits: hits,
            feedsHeld: capacity, hitRate: Double(hits) / Double(accesses.count),
            leastRecentlyUsed: ExactLRU(capacity: capacity).hits(of: accesses).share,
            offlineOptimal: OfflineOptimum(capacity: capacity).hits(of: accesses).share,
            microsecondsPerRead: time.microseconds / Double(accesses.count), mostBytes: mostBytes)
    }
}

extension [Bool] {
    /// The share of true elements, 0 if there is none.
    var share: Double { isEmpty ? 0 : Double(count { $0 }) / Double(count) }
}
