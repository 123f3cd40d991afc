import EspalierModels

extension DataProvider {
    /// Asks the cache for a model and shows it: see `fetchDataFromCache`. Returns what is shown
    /// then, nil for a miss; throws what the cache reports.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> T? {
        try await awaitAnswer {
            fetchDataFromCache(withCacheKey: cacheKey, context: context, completion: $0)
        }
    }
}
