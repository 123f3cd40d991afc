import EspalierModels

extension DataProvider {
    /// Asks the cache for a model and shows it: see `fetchDataFromCache`. Returns what is shown then, nil for a miss; throws
    /// what the cache reports.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> T? {
        try await withCheckedThrowingContinuation { continuation in
            fetchDataFromCache(withCacheKey: cacheKey, context: context) { model, error in
                if let error, model == nil {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: model)
                }
            }
        }
    }
}
