import EspalierConsistency
public import EspalierModels
import EspalierRecords

/// What the cache had for a fetch.
enum CacheStep: Sendable {
    case hit(isExpired: Bool)
    case miss(MissReason?)
    /// The cache can't be read.
    case failure(any Error)
}

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
    /// attempt began, by this provider or elsewhere, the network's answer is not saved either: it
    /// is older. A model that is merged is shown as `merge` shows it.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model, or another key under which it is saved.
    ///   - policy: Who answers. A cache that is no `SharedCacheDelegate` does not tell what has
    ///     expired. A model that is shown already counts as a hit, fresh if the cache says so.
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
        let manager = dataModelManager
        switch policy {
        case .cacheOnly:
            switch try await readStep(request, acceptsExpired: false).step {
            case .hit: break
            case .miss(let reason): throw FetchError.miss(reason ?? .notFound)
            case .failure(let error): throw error
            }
        case .cacheThenNetwork:
            let read = try await readStep(request, acceptsExpired: false)
            if case .hit(isExpired: false) = read.step { break }
            try await show(manager.join(request), since: read.time)
        case .networkThenCache:
            let start = ChangeTime()
            do {
                try await show(manager.join(request), since: start)
            } catch {
                // If the provider was set meanwhile, the cache's reply is out of date as well.
                guard !Task.isCancelled, !lastRequested.after(start),
                    case .hit = try await readStep(request, acceptsExpired: true).step
                else { throw error }
            }
        case .cacheAndNetwork:
            // Before the cache is read, so that neither waits for the other.
            let passage = manager.join(request)
            let read = try await readStep(request, acceptsExpired: true)
            do {
                try await show(passage, since: read.time)
            } catch {
                // The delegate was told. What the cache had is shown.
                guard !Task.isCancelled, case .hit = read.step else { throw error }
            }
        case .staleWhileRevalidate:
            let read = try await readStep(request, acceptsExpired: true)
            switch read.step {
            case .hit(isExpired: false): break
            case .hit(isExpired: true):
                let passage = manager.join(request, isKept: true)
                Task { [weak self] in
                    let answer: Result<NetworkAnswer<T>, any Error>
                    do {
                        answer = .success(try await passage.value)
                    } catch {
                        answer = .failure(error)
                    }
                    self?.show(answer, since: read.time)
                }
            case .miss, .failure: try await show(manager.join(request), since: read.time)
            }
        }
        return model
    }

    /// Shows what the cache has.
    ///
    /// - Returns: What it had, and the time of the reading: an answer is out of date if the
    ///   provider was changed after that.
    /// - Throws: `CancellationError` if the task is cancelled.
    private func readStep(
        _ request: NetworkRequest<T>, acceptsExpired: Bool
    ) async throws -> (step: CacheStep, time: ChangeTime) {
        if model?.modelIdentifier == request.key {
            let time = ChangeTime()
            missReason = nil
            let isFresh = await dataModelManager.cacheQueue.isFresh(
                T.self, request.key, isCollection: false)
            try Task.checkCancellation()
            return (.hit(isExpired: !isFresh), time)
        }
        let record = MissRecord(acceptsExpired: acceptsExpired)
        let end = Resumption<Result<CacheStep, any Error>>()
        let time = readCache(request.key, request.context, record) { model, error in
            if let error, model == nil {
                end.resume(.success(.failure(error)))
            } else {
                end.resume(
                    .success(
                        model == nil ? .miss(record.reason) : .hit(isExpired: record.isExpired)))
            }
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
                guard fetch.after(self.lastRequested) else { return completion(self.model, nil) }
                self.lastRequested = fetch
                self.missReason = record.reason
                if let model { self.show(fetched: model, at: fetch) }
                completion(model, error)
            }
        }
        return fetch
    }

    /// Waits for the network's answer and shows it.
    ///
    /// - Throws: The network's error; `CancellationError` if the task is cancelled.
    private func show(
        _ passage: Passage<NetworkAnswer<T>>, since time: ChangeTime
    ) async throws {
        do {
            show(.success(try await passage.value), since: time)
        } catch {
            // A caller who has left is told nothing.
            try Task.checkCancellation()
            show(.failure(error), since: time)
            throw error
        }
    }

    /// Shows the network's answer unless the provider was changed after `time`, and tells the
    /// delegate.
    private func show(
        _ result: Result<NetworkAnswer<T>, any Error>, since time: ChangeTime
    ) {
        switch result {
        case .failure(let error): delegate?.dataProvider(self, fetched: .failed(error))
        case .success(let answer):
            let isShown = model != nil && model?.modelIdentifier == answer.value.modelIdentifier
            guard !lastRequested.after(time) else {
                delegate?.dataProvider(self, fetched: .outOfDate)
                break
            }
            lastRequested = time
            missReason = nil
            // A shown model that is newer, or that the cache is about to merge, stays.
            if !isShown || !answer.isOutOfDate && !answer.isMerged {
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
