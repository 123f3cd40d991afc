#if CommandLine
import Dispatch
import EspalierFixtures
import EspalierInspection
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Synchronization

/// Writes feeds without end into a cache with a budget. After each feed it reads some feeds, recent
/// ones more often, and fetches those again that are missing.
///
/// A feed has 601 nodes, its authors are drawn from 2,000 people by Zipf 0.99, and three feeds are
/// read for each one written.
struct EvictionWorkload {
    static let people = 2_000
    static let readsPerFeed = 3
    /// How many feeds back the reads reach, by Zipf.
    static let memory = 4_096

    let path: String
    var budget: ByteCount
    /// How many budgets' worth of records to evict at least.
    var turnover = 1.0
    /// For how long to go on at least.
    var seconds = 0.0
    var compression = Compression.standard

    struct Result {
        /// All reads and writes, in order.
        var trace = FeedTrace()
        var writes = Timing(name: "a feed written, others evicted")
        /// Reads of feeds that were there.
        var reads = Timing(name: "a feed read that is there")
        /// Counted from the first eviction on.
        var counted = (hits: 0, reads: 0)
        /// Reads of broken trees: misses for another reason than that the feed is not there.
        var brokenReads = 0
        var failedWrites = 0
        var mostBytes = 0
        var isClean = false
        var statistics = CacheStatistics()
        var sizes: [TypeSizes] = []

        var hitRate: Double { Double(counted.hits) / Double(max(1, counted.reads)) }
        /// How many feeds the cache holds at the end.
        var feeds: Int { sizes.first { $0.type == "WorkloadFeed" }?.records ?? 0 }
    }

    private struct Workload {
        var random = SplitMix64(state: 1)
        let people = ZipfTable(count: EvictionWorkload.people, exponent: 0.99)
        let recency = ZipfTable(count: EvictionWorkload.memory, exponent: 0.99)

        mutating func feed(_ id: Int) -> WorkloadFeed {
            WorkloadFeed(id: id) { WorkloadPerson(id: people.draw(&random)) }
        }
    }

    func run() throws -> Result {
        let configuration = Configuration(
            budget: budget, durability: FeedCache.durability, compression: compression)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        defer { cache.close() }
        let watcher = DirectoryWatcher(path: path)
        defer { watcher.stop() }
        var result = Result()
        var workload = Workload()
        let end = ContinuousClock.now + .seconds(seconds)
        let goal = Double(budget.bytes) * turnover
        var feeds = 0
        while true {
            try write(feeds, to: cache, &workload, &result)
            feeds += 1
            for _ in 0..<Self.readsPerFeed {
                let id = feeds - 1 - workload.recency.draw(&workload.random)
                if id >= 0 { try read(id, of: cache, &workload, &result) }
            }
            guard feeds % 8 == 0 else { continue }
            let evicted = try cache.statistics().evictions.bytes.bytes
            if evicted > 0, result.trace.firstCounted == nil {
                result.trace.firstCounted = result.trace.accesses.count
                continue
            }
            if Double(evicted) >= goal, ContinuousClock.now >= end { break }
        }
        result.statistics = try cache.statistics()
        result.mostBytes = watcher.stop()
        result.sizes = try cache.inspect { try TypeSizes.measure($0) }
        result.isClean = try cache.verify().isClean
        return result
    }

    private func write(
        _ id: Int, to cache: NormalizedCache, _ workload: inout Workload, _ result: inout Result
    ) throws {
        let feed = workload.feed(id)
        result.trace.accesses.append(id)
        do {
            let time = try ContinuousClock().measure { try cache.set(feed).wait() }
            if result.trace.firstCounted != nil { result.writes.latencies.record(time) }
        } catch let error as CacheError where error.code != .diskFull && error.code != .storage {
            result.failedWrites += 1
        }
    }

    private func read(
        _ id: Int, of cache: NormalizedCache, _ workload: inout Workload, _ result: inout Result
    ) throws {
        let start = ContinuousClock.now
        let outcome = cache.readOutcome(WorkloadFeed.self, WorkloadFeed.identifier(id))
        let time = ContinuousClock.now - start
        let isCounted = result.trace.firstCounted != nil
        if isCounted { result.counted.reads += 1 }
        switch outcome {
        case .hit:
            result.trace.accesses.append(id)
            guard isCounted else { break }
            result.counted.hits += 1
            result.reads.latencies.record(time)
        case .miss(let reason):
            if reason != .notFound { result.brokenReads += 1 }
            // The write counts as the access.
            try write(id, to: cache, &workload, &result)
        }
    }
}

/// A feed of the eviction workload: 100 posts, 200 comments and their 300 authors, drawn from all
/// people. The same number makes the same posts again, by other authors.
struct WorkloadFeed: NormalizedModel {
    let id: Int
    let posts: [WorkloadPost]
    var modelIdentifier: String? { Self.identifier(id) }

    static func identifier(_ id: Int) -> String { "Feed:\(id)" }

    static let posts = 100

    init(id: Int, person: () -> WorkloadPerson) {
        self.id = id
        posts = (0..<Self.posts).map { number in
            WorkloadPost(id: id * Self.posts + number, person: person)
        }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        posts = try decoder.decode(forKey: "posts")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(posts, forKey: "posts")
    }
}

struct WorkloadPost: NormalizedModel {
    let id: Int
    let text: String
    let author: WorkloadPerson
    let comments: [WorkloadComment]
    var modelIdentifier: String? { "Post:\(id)" }

    init(id: Int, person: () -> WorkloadPerson) {
        self.id = id
        text = "post \(id), which says about as much as posts do, and then some"
        author = person()
        comments = (0..<2).map { WorkloadComment(id: id * 2 + $0, author: person()) }
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
        comments = try decoder.decode(forKey: "comments")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
        try encoder.encode(comments, forKey: "comments")
    }
}

struct WorkloadComment: NormalizedModel {
    let id: Int
    let text: String
    let author: WorkloadPerson
    var modelIdentifier: String? { "Comment:\(id)" }

    init(id: Int, author: WorkloadPerson) {
        self.id = id
        text = "comment \(id), short and to the point"
        self.author = author
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        text = try decoder.decode(forKey: "text")
        author = try decoder.decode(forKey: "author")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(text, forKey: "text")
        try encoder.encode(author, forKey: "author")
    }
}

struct WorkloadPerson: NormalizedModel {
    let id: Int
    let name: String
    let avatar: String
    var modelIdentifier: String? { "Person:\(id)" }

    init(id: Int) {
        self.id = id
        name = "Person number \(id)"
        avatar = "https://img.example.com/\(id % 97)/\(id).jpg"
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        name = try decoder.decode(forKey: "name")
        avatar = try decoder.decode(forKey: "avatar")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(name, forKey: "name")
        try encoder.encode(avatar, forKey: "avatar")
    }
}

/// Adds up the size of a directory's files a thousand times a second, and keeps the largest sum.
final class DirectoryWatcher: Sendable {
    private struct State {
        var most = 0
        var isOver = false
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let path: String

    init(path: String) {
        self.path = path
        let thread = Thread { [self] in
            while !state.withLock({ $0.isOver }) {
                measure()
                Thread.sleep(forTimeInterval: 0.001)
            }
            ended.signal()
        }
        thread.name = "watcher"
        thread.start()
    }

    private func measure() {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        let bytes = files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
        state.withLock { $0.most = max($0.most, bytes) }
    }

    /// Ends the watcher, and returns the largest size in bytes.
    @discardableResult
    func stop() -> Int {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { ended.wait() }
        return state.withLock { $0.most }
    }
}
#endif
