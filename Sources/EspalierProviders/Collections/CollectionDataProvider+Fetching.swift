import EspalierConsistency
import EspalierModels

extension CollectionDataProvider {
    func load(
        _ cacheKey: String?, _ context: (any Sendable)?,
        _ completion: @escaping @MainActor ([T]?, (any Error)?) -> Void
    ) {
        if let cacheKey, cacheKey == self.cacheKey, collection.isKnown {
            return completion(shown, nil)
        }
        let target = collection(for: cacheKey)
        if target.isKnown { return show(target, ChangeTime(), completion) }
        let manager = dataModelManager
        let fetch = manager.beginFetch()
        manager.collectionFromCache(cacheKey, context: context) { (elements: [T]?, error) in
            defer { manager.endFetch(fetch) }
            // Set, edited or fetched by a call that came later: this answer is about the past.
            guard fetch.after(self.lastChosen) else { return completion(self.shown, nil) }
            if target.isKnown { return self.show(target, fetch, completion) }
            if let elements {
                target.set(fetched: elements, at: fetch, by: self)
                self.show(target, fetch, completion)
                return target.tellMembers()
            }
            self.lastChosen = fetch
            // What could not be read may be there: nothing is to be saved in its place.
            if error == nil, !self.collection.isKnown { self.join(target) }
            completion(nil, error)
        }
    }

    private func show(
        _ target: SharedCollection<T>, _ fetch: ChangeTime,
        _ completion: @MainActor ([T]?, (any Error)?) -> Void
    ) {
        let previous = shown
        join(target)
        lastChosen = fetch
        publish(.reset, .cache, nil, previous)
        completion(shown, nil)
    }

    /// Shows the collection under a key: see `fetchDataFromCache`. Returns what is shown then, nil
    /// for a miss; throws what the cache reports.
    public func fetch(_ cacheKey: String?, context: (any Sendable)? = nil) async throws -> [T]? {
        try await awaitAnswer {
            fetchDataFromCache(withCacheKey: cacheKey, context: context, completion: $0)
        }
    }
}
