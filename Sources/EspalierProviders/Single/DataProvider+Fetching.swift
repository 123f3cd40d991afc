import EspalierConsistency
import EspalierModels

extension DataProvider {
    /// Asks the cache for a model and shows it, unless something newer is shown by then.
    ///
    /// Where the key is the identifier of what is shown, nobody is asked, and the completion called at once. The delegate is not
    /// called.
    ///
    /// - Parameters:
    ///   - cacheKey: the model's identifier, or another key it was saved under; nil for a cache that goes by the context.
    ///   - context: handed to the cache.
    ///   - completion: called once, on the main actor, with what is shown then; with neither model nor error for a miss.
    public func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        fetchDataFromCache(
            withCacheKey: cacheKey, listenToModelIdentifier: false, context: context, completion: completion)
    }

    /// The same; where there is no such model yet, and `listenToModelIdentifier` is true, the provider waits for one, as if
    /// `modelIdentifier` had been set to the key.
    public func fetchDataFromCache(
        withCacheKey cacheKey: String?, listenToModelIdentifier: Bool, context: (any Sendable)? = nil,
        completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) {
        if let cacheKey, let data, data.modelIdentifier == cacheKey { return completion(data, nil) }
        // From now on: it may be made while the cache looks for it.
        if listenToModelIdentifier, data == nil { modelIdentifier = cacheKey }
        let fetch = ChangeTime()
        let consistencyManager = dataModelManager.consistencyManager
        consistencyManager.beginFetch(fetch)
        dataModelManager.modelFromCache(cacheKey, context: context) { (model: T?, error) in
            defer { consistencyManager.endFetch(fetch) }
            // Set, or fetched, by a call that came later: this answer is about the past.
            guard fetch.after(self.lastSet) else { return completion(self.data, nil) }
            if let model { self.take(fetched: model, at: fetch) }
            completion(model, error)
        }
    }

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
