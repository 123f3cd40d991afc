import EspalierModels
import EspalierStore

/// A cache of feeds of the design, as the suites fill it.
enum FeedCache {
    static let posts = 100
    static let nodes = 601
    /// What the library does where nothing else is said: what is measured is what its users get.
    static let durability = Configuration().durability

    /// With feeds 1 to `feeds`; compressed anew with dictionaries, where there is compression.
    static func filled(_ path: String, compression: Compression, feeds: Int) throws
        -> NormalizedCache
    {
        let configuration = Configuration(
            budget: .gibibytes(1), durability: durability, compression: compression)
        let cache = try NormalizedCache(directory: path, configuration: configuration)
        for seed in 1...max(1, feeds) { try cache.set(feed(seed)).wait() }
        if compression != .none { try cache.compact().wait() }
        return cache
    }

    static func feed(_ seed: Int) -> HandWrittenFeed {
        HandWrittenFeed(FeedData(seed: UInt64(seed), posts: posts))
    }

    /// The feed that is read, and one who wrote in it.
    static let identifier = "Feed:1"
    static let person = "Person:1000001"
}

extension ReadOutcome {
    /// A bench knows what is there.
    func hit() throws(BenchError) -> Value {
        switch self {
        case .hit(let hit): return hit.value
        case .miss(let reason): throw .miss("\(reason)")
        }
    }
}
