public import EspalierModels
public import EspalierRecords
import EspalierStore
import Synchronization

// Fetches by a policy: from the cache, the network, or both.
extension SharedCache {
    /// Fetches a model from the cache, the network, or both, and stores the network's answer.
    ///
    /// ```swift
    /// let feed = try await cache.fetch(Feed.self, "Feed:1", policy: .staleWhileRevalidate) {
    ///     try await origin.feed(1)
    /// }
    /// ```
    ///
    /// For any number of callers at the same time, this host asks the network once. Other hosts may
    /// ask, too.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - key: The model's identifier, or another key.
    ///   - policy: Who answers. With `staleWhileRevalidate`, an expired model is returned at once,
    ///     and the network's answer is stored for later reads. With `cacheAndNetwork`, the
    ///     network's answer is returned, or the cache's if the network fails.
    ///   - maxAge: How old the records of the network's answer may be; nil for what their types say.
    ///   - network: Asks the network. Callers that ask for the same type and key at the same time
    ///     share one request, with the `network` and `maxAge` of the first of them. It goes on if
    ///     a caller is cancelled, and the caller waits for it.
    /// - Returns: The model.
    /// - Throws: `FetchError` for a miss of `cacheOnly`; the network's error if there is no other
    ///   answer.
    public func fetch<Model: IdentifiedModel>(
        _ type: Model.Type, _ key: String, policy: FetchPolicy, maxAge: Duration? = nil,
        from network: @escaping @Sendable () async throws -> Model
    ) async throws -> Model {
        func cached(_ freshness: Freshness) async -> ReadOutcome<Model> {
            await modelOutcome(type, forKey: key, accepting: freshness)
        }
        func asked() async throws -> Model {
            try await self.answer(type, key, maxAge, network)
        }
        switch policy {
        case .cacheOnly:
            switch await cached(.fresh) {
            case .hit(let hit): return hit.value
            case .miss(let reason): throw FetchError.miss(reason)
            }
        case .cacheThenNetwork:
            if let model = await cached(.fresh).value { return model }
            return try await asked()
        case .networkThenCache, .cacheAndNetwork:
            do {
                return try await asked()
            } catch {
                guard let model = await cached(.stale).value else { throw error }
                return model
            }
        case .staleWhileRevalidate:
            guard case .hit(let hit) = await cached(.stale) else { return try await asked() }
            if hit.isExpired {
                Task.detached { _ = try? await self.answer(type, key, maxAge, network) }
            }
            return hit.value
        }
    }

    /// Asks the network, together with all who ask for the same, and stores the answer.
    private func answer<Model: IdentifiedModel>(
        _ type: Model.Type, _ key: String, _ maxAge: Duration?,
        _ network: @escaping @Sendable () async throws -> Model
    ) async throws -> Model {
        let place = NetworkKey(key: Identifier(key), type: ObjectIdentifier(type))
        let task = requests.withLock { requests in
            if let known = requests[place] as? Task<Model, any Error> { return known }
            let task = Task.detached {
                defer { _ = self.requests.withLock { $0.removeValue(forKey: place) } }
                let model = try await network()
                // An answer that no server takes is an answer all the same.
                try? await self.setModel(model, forKey: key, maxAge: maxAge)
                return model
            }
            requests[place] = task
            return task
        }
        return try await task.value
    }
}

/// What a request of the network is for.
struct NetworkKey: Hashable {
    let key: Identifier
    let type: ObjectIdentifier
}
