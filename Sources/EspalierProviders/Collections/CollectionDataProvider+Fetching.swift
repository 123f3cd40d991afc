import EspalierConsistency
import EspalierModels

extension CollectionDataProvider {
    /// Shows the collection under a key: as a living provider has it, or as the cache does.
    ///
    /// Where it is shown already, nobody is asked, and the completion is called at once. After a miss the provider has the key
    /// all the same, if it had none: what is appended is saved under it. The delegate is not called.
    ///
    /// - Parameters:
    ///   - cacheKey: nil for a cache that goes by the context.
    ///   - completion: called once, on the main actor, with what is shown then; with neither elements nor error for a miss.
    public func fetchDataFromCache(
        withCacheKey cacheKey: String?, context: (any Sendable)? = nil,
        completion: @escaping @MainActor ([T]?, (any Error)?) -> Void
    ) {
        if cacheKey == self.cacheKey, collection.isKnown { return completion(data, nil) }
        let target =
            cacheKey.map { dataModelManager.sharedCollections.collection($0, in: dataModelManager) }
            ?? SharedCollection<T>(key: nil, dataModelManager)
        if target.isKnown { return show(target, completion) }
        let fetch = ChangeTime()
        let before = collection
        let consistencyManager = dataModelManager.consistencyManager
        consistencyManager.beginFetch(fetch)
        dataModelManager.collectionFromCache(cacheKey, context: context) { (elements: [T]?, error) in
            defer { consistencyManager.endFetch(fetch) }
            // Set, or fetched, by a call that came later: this answer is about the past.
            guard self.isStill(before, since: fetch) || self.collection === target else {
                return completion(self.data, nil)
            }
            if target.isKnown { return self.show(target, completion) }
            if let elements {
                target.set(fetched: elements, at: fetch, by: self)
                return self.show(target, completion)
            }
            if !self.collection.isKnown { self.join(target) }
            completion(nil, error)
        }
    }

    /// Whether the provider shows what it did at `fetch`, however that has changed.
    private func isStill(_ before: SharedCollection<T>, since fetch: ChangeTime) -> Bool {
        collection === before && fetch.after(collection.lastChosen)
    }

    private func show(
        _ target: SharedCollection<T>, _ completion: @MainActor ([T]?, (any Error)?) -> Void
    ) {
        let previous = shown
        if target === collection, paused != nil {
            change { paused = PausedCollection(target.elements) }
        } else {
            join(target)
        }
        publish(.reset, .cache, nil, previous)
        completion(data, nil)
    }

    /// Shows the collection under a key: see `fetchDataFromCache`. Returns what is shown then, nil for a miss; throws what the
    /// cache reports.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> [T]? {
        try await withCheckedThrowingContinuation { continuation in
            fetchDataFromCache(withCacheKey: cacheKey, context: context) { elements, error in
                if let error, elements == nil {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: elements)
                }
            }
        }
    }
}
