import EspalierConsistency
public import EspalierModels
import EspalierRecords

extension CollectionDataProvider {
    /// Shows a collection from the cache, the network, or both, as a policy says.
    ///
    /// ```swift
    /// try await inbox.fetch("inbox", policy: .staleWhileRevalidate) {
    ///     try await server.inbox()
    /// }
    /// ```
    ///
    /// Like the function of `DataProvider` in all that is not said here. The network's answer
    /// replaces the collection in all its providers: they are told by which steps, this one
    /// included. If the collection was set or edited since the attempt began, the answer is out of
    /// date, and neither shown nor saved.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the collection.
    ///   - policy: Who answers. A collection that a provider shows already counts as a hit that
    ///     has expired, unless the cache has it fresh; for `cacheOnly` that is a miss.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each.
    ///   - clock: The clock that measures the waits between attempts.
    ///   - context: A value that is passed to the cache and to delegates.
    ///   - network: Asks the network for all elements. Runs off the main actor unless it says
    ///     otherwise.
    /// - Returns: The elements that are shown then.
    /// - Throws: The network's error of the last attempt, if neither it nor the cache had an
    ///   answer; for `cacheOnly` a ``FetchError`` for a miss, or the cache's error;
    ///   `CancellationError` at once if the task is cancelled.
    @discardableResult
    public func fetch(
        _ cacheKey: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), context: (any Sendable)? = nil,
        from network: @escaping @Sendable () async throws -> [T]
    ) async throws -> [T] {
        let request = NetworkRequest(
            key: cacheKey, retry: retry, clock: clock, isWorthRetrying: isWorthRetrying,
            context: context, network: network)
        try await ask(request, policy)
        return shown
    }
}

extension CollectionDataProvider: PolicyFetching {
    func join(
        _ request: NetworkRequest<[T]>, isKept: Bool
    ) -> Passage<NetworkAnswer<SharedCollection<T>>> {
        dataModelManager.joinCollection(
            request, isKept: isKept, collection: collection(for: request.key))
    }

    func readStep(
        _ request: NetworkRequest<[T]>, acceptsExpired: Bool
    ) async throws -> (step: CacheStep, time: ChangeTime) {
        let target = collection(for: request.key)
        if target.isComplete {
            let time = ChangeTime()
            missReason = nil
            if target !== collection { show(target, time) } else { lastAnswered = time }
            let step = try await dataModelManager.cacheQueue.step(
                ofShown: T.self, request.key, isCollection: true, acceptsExpired: acceptsExpired)
            if case .miss(let reason) = step, !Swift.max(lastRequested, lastAnswered).after(time) {
                missReason = reason
            }
            return (step, time)
        }
        let record = MissRecord(acceptsExpired: acceptsExpired)
        let end = Resumption<Result<CacheStep, any Error>>()
        let time = readCache(request.key, request.context, record) { elements, error in
            end.resume(.success(CacheStep(isHit: elements != nil, error, record)))
        }
        return (try await end.cancellableValue(), time)
    }

    /// Shows the collection under a key: as another provider has it, or else as the cache has it,
    /// unless this provider shows something newer by then.
    ///
    /// - Returns: The time of the reading.
    @discardableResult
    func readCache(
        _ cacheKey: String?, _ context: (any Sendable)?, _ record: MissRecord,
        _ completion: @escaping @MainActor ([T]?, (any Error)?) -> Void
    ) -> ChangeTime {
        let target = collection(for: cacheKey)
        if target.isComplete {
            let time = ChangeTime()
            show(target, time)
            completion(shown, nil)
            return time
        }
        let manager = dataModelManager
        let fetch = manager.beginFetch()
        let reply: @MainActor @Sendable ([T]?, (any Error)?) -> Void = { elements, error in
            defer { manager.endFetch(fetch) }
            // A later call has set, edited or fetched the collection: this reply is out of date.
            guard fetch.after(Swift.max(self.lastRequested, self.lastAnswered)) else {
                return completion(self.shown, nil)
            }
            if target.isComplete {
                self.show(target, fetch)
                return completion(self.shown, nil)
            }
            if let elements {
                target.set(fetched: elements, at: fetch, by: self)
                self.show(target, fetch)
                completion(self.shown, nil)
                return target.notifyMembers()
            }
            self.lastRequested = fetch
            self.missReason = record.reason
            // After an error the key may hold a collection: it must not be overwritten by an edit.
            if error == nil, !self.collection.isComplete {
                target.noteMiss(record.reasonOfStored)
                self.join(target)
            }
            completion(nil, error)
        }
        record.perform {
            manager.collectionFromCache(cacheKey, context: context, completion: reply)
        }
        return fetch
    }

    private func show(
        _ target: SharedCollection<T>, _ fetch: ChangeTime, _ origin: ChangeOrigin = .cache
    ) {
        join(target)
        lastRequested = fetch
        missReason = nil
        publish(.reset, origin, nil)
    }

    func show(
        _ result: Result<NetworkAnswer<SharedCollection<T>>, any Error>, since time: ChangeTime
    ) {
        switch result {
        case .failure(let error): delegate?.collectionDataProvider(self, fetched: .failed(error))
        case .success(let answer):
            // A later fetch that was answered by what is shown goes on showing that.
            guard !lastRequested.after(time),
                answer.value === collection || !lastAnswered.after(time)
            else {
                delegate?.collectionDataProvider(self, fetched: .outOfDate)
                break
            }
            lastRequested = time
            missReason = nil
            // The request has changed the collection itself, for all its providers. A paused one
            // shows that later, except what it has fetched itself.
            if answer.value !== collection || isPaused { show(answer.value, time, .network) }
            delegate?.collectionDataProvider(
                self, fetched: answer.isOutOfDate ? .outOfDate : .shown)
            answer.call.whenEnded { [weak self] failure in
                guard let self, let failure else { return }
                delegate?.collectionDataProvider(self, failedToSave: failure)
            }
        }
    }
}
