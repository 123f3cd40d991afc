import EspalierConsistency
public import EspalierModels
import EspalierRecords

extension DataProvider {
    /// Shows a model from the cache, the network, or both, as a policy says.
    ///
    /// ```swift
    /// let person = try await provider.fetch("Person:1", policy: .cacheAndNetwork) {
    ///     try await server.person(1)
    /// }
    /// ```
    ///
    /// What the cache has is shown as soon as it is read, and the network's answer when it comes.
    /// The function returns when the fetch has ended; with ``FetchPolicy/staleWhileRevalidate`` it
    /// returns when the cache has answered, and the network's answer is shown later. The delegate
    /// is told of the network's answer each time: `dataProvider(_:fetched:)`.
    ///
    /// For all providers of a manager that fetch the same type and key at the same time, there is
    /// one request. Its answer is saved and posted once, as by `DataModelManager.updateModel`: all
    /// screens that have the model show it. If all callers are cancelled, the request is cancelled;
    /// an answer that comes all the same is still saved.
    ///
    /// A reply that is out of date is not shown: if the provider was set or has fetched something
    /// else since the fetch began, it goes on showing that. If the model itself was set since the
    /// attempt began, by this provider, another one or a function of their manager, the network's
    /// answer is not saved either: it is older. What other code writes to the cache is not
    /// compared: the answer replaces it. A model that is merged is shown as `merge` shows it.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model, or another key under which it is saved.
    ///   - policy: Who answers. A cache that is no `SharedCacheDelegate` does not tell what has
    ///     expired. A model that is shown already counts as a hit that has expired, unless the
    ///     cache has it fresh; for `cacheOnly` that is a miss.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each.
    ///   - clock: The clock that measures the waits between attempts.
    ///   - context: A value that is passed to the cache and to delegates.
    ///   - network: Asks the network. Runs off the main actor unless it says otherwise.
    /// - Returns: The model that is shown then; nil if there is none.
    /// - Throws: The network's error of the last attempt, if neither it nor the cache had an
    ///   answer; for `cacheOnly` a ``FetchError`` for a miss, or the cache's error;
    ///   `CancellationError` at once if the task is cancelled.
    @discardableResult
    public func fetch(
        _ cacheKey: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), context: (any Sendable)? = nil,
        from network: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        let request = NetworkRequest(
            key: cacheKey, retry: retry, clock: clock, isWorthRetrying: isWorthRetrying,
            context: context, network: network)
        try await ask(request, policy)
        return model
    }
}

extension DataProvider: PolicyFetching {
    func join(_ request: NetworkRequest<T>, isKept: Bool) -> Passage<NetworkAnswer<T>> {
        dataModelManager.join(request, isKept: isKept)
    }

    func readStep(
        _ request: NetworkRequest<T>, acceptsExpired: Bool
    ) async throws -> (step: CacheStep, time: ChangeTime) {
        if model?.modelIdentifier == request.key {
            let time = ChangeTime()
            lastAnswered = time
            missReason = nil
            let step = try await dataModelManager.cacheQueue.step(
                ofShown: T.self, request.key, isCollection: false, acceptsExpired: acceptsExpired)
            if case .miss(let reason) = step, !max(lastRequested, lastAnswered).after(time) {
                missReason = reason
            }
            return (step, time)
        }
        endWaitForDeleted(before: request.key)
        let record = MissRecord(acceptsExpired: acceptsExpired)
        let end = Resumption<Result<CacheStep, any Error>>()
        let time = readCache(request.key, request.context, record) { model, error in
            end.resume(.success(CacheStep(isHit: model != nil, error, record)))
        }
        return (try await end.cancellableValue(), time)
    }

    /// Reads the cache and shows what it has, unless the provider shows something newer by then.
    ///
    /// - Returns: The time of the reading.
    @discardableResult
    func readCache(
        _ cacheKey: String?, _ context: (any Sendable)?, _ record: MissRecord,
        _ completion: @escaping @MainActor (T?, (any Error)?) -> Void
    ) -> ChangeTime {
        let manager = dataModelManager
        let fetch = manager.beginFetch()
        record.perform {
            manager.modelFromCache(cacheKey, context: context) { (model: T?, error) in
                defer { manager.endFetch(fetch) }
                // A later call has set or fetched the model: this reply is out of date.
                guard fetch.after(Swift.max(self.lastRequested, self.lastAnswered)) else {
                    return completion(self.model, nil)
                }
                self.lastRequested = fetch
                self.missReason = record.reason
                if let model { self.show(fetched: model, at: fetch) }
                completion(model, error)
            }
        }
        return fetch
    }

    func show(_ result: Result<NetworkAnswer<T>, any Error>, since time: ChangeTime) {
        switch result {
        case .failure(let error): delegate?.dataProvider(self, fetched: .failed(error))
        case .success(let answer):
            // Two models without identifier need not be the same one, and no read refreshes them.
            let identifier = answer.value.modelIdentifier
            let isShown = identifier?.isEmpty == false && model?.modelIdentifier == identifier
            // A later fetch that was answered by what is shown goes on showing that.
            guard !lastRequested.after(time), isShown || !lastAnswered.after(time) else {
                delegate?.dataProvider(self, fetched: .outOfDate)
                break
            }
            lastRequested = time
            missReason = nil
            // A shown model that is newer, or that the cache is about to merge, stays.
            let isNewer = answer.isOutOfDate || lastUpdated.after(answer.applied)
            if !isShown || !isNewer && !answer.isMerged {
                show(fetched: answer.value, at: answer.request.time, .network)
            }
            delegate?.dataProvider(self, fetched: answer.isOutOfDate ? .outOfDate : .shown)
            answer.call.whenEnded { [weak self] failure in
                guard let self, let failure else { return }
                delegate?.dataProvider(self, failedToSave: failure)
            }
        }
    }
}
