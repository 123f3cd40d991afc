import EspalierStore

/// What of a cache's past and of its pins a doctor asks for.
struct CacheHistory: Sendable {
    var budget = ByteCount(0)
    /// At most.
    var pinnedBytes = ByteCount(0)
    var droppedWrites: [String: Int] = [:]
    var generationsReplaced: [String: Int] = [:]

    init() {}

    init(of cache: NormalizedCache) throws {
        let statistics = try cache.statistics()
        budget = statistics.budget
        droppedWrites = statistics.droppedWrites
        generationsReplaced = statistics.generationsReplaced
        pinnedBytes = try cache.inspect { try $0.pinnedBytes }
    }
}
