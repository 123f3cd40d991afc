#if CommandLine
import EspalierFixtures
import EspalierModels
import EspalierStore

/// A cache of feeds, as the suites fill it.
enum FeedCache {
    static let posts = FeedGenerator.postsPerFeed
    static let nodes = 601

    /// The library's default: suites measure what its users get.
    static let durability = Configuration().durability

    /// Returns a cache with feeds 1 to `feeds`. A cache with compression is compacted, so that all
    /// records are compressed with the same dictionaries.
    ///
    /// - Parameter memory: The budget of the memory for decoded trees. Without it, reads decode.
    static func filled(
        _ path: String, compression: Compression, feeds: Int, memory: ByteCount = ByteCount(0)
    ) throws -> NormalizedCache {
        let configuration = Configuration(
            budget: .gibibytes(1), durability: durability, compression: compression,
            memoryBudget: memory)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        for seed in 1...max(1, feeds) { try cache.set(feed(seed)).wait() }
        if compression != .none { try cache.compact().wait() }
        return cache
    }

    static func feed(_ seed: Int) -> HandWrittenFeed {
        var generator = FeedGenerator(seed: UInt64(seed))
        return generator.feed(posts: posts)
    }

    /// The feed that suites read.
    static let identifier = "Feed:1-0"
    /// An author in it.
    static let person = "Person:1000001"
}

extension ReadOutcome {
    /// Returns the value, which a suite knows to be there.
    func hit() throws(BenchError) -> Value {
        switch self {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw .miss("\(reason)")
        }
    }
}
#endif
