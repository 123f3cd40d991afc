public import EspalierModels
public import EspalierRecords

// A fetch asks the cache, the network, or both, as its policy says. The network is a closure of the
// app's.
//
//     fetch -- reads the cache --> hit ------------------------------------------> answer
//       |                           |
//       |                           +-- miss or expired --+
//       |                                                 v
//       +-- joins the request of the key (`SingleFlight`) or begins it --> answer, from the cache
//                the request: attempts and waits (`RetryPolicy`), then the write, then a read
//
// What is never lost:
//
// - A caller who is cancelled leaves at once, and the others go on waiting. When the last one has
//   left, the task of the request is cancelled.
// - A caller never waits because another one was cancelled.
// - An answer that came is written, or the failure of the write is told: to the callers by
//   `Fetched.storeError`, and by the statistics and events of the cache even if all have left. A
//   cache that is closed counts no failures: its requests are cancelled when it closes. Of two
//   answers for one key that of the request that began later counts.
extension NormalizedCache {
    // MARK: - Models

    /// Fetches a model from the cache, the network, or both, and returns the best answer.
    ///
    /// ```swift
    /// let feed = try await cache.fetch(Feed.self, "Feed:1", policy: .cacheThenNetwork) {
    ///     try await server.feed(1)
    /// }
    /// ```
    ///
    /// The best answer is the network's where the policy asks both, and the cache's if the network
    /// fails. With ``FetchPolicy/staleWhileRevalidate`` it is what the cache has, at once.
    ///
    /// For all callers who ask for the same type and key at the same time, there is one request,
    /// with the function, the attempts and the maximum age of the first caller. It runs in a task
    /// of its own. A caller who is cancelled leaves at once; the request goes on for the others,
    /// and is cancelled when the last one has left. Requests keep a cache open until they end,
    /// unless it is closed by ``close()``, which cancels them.
    ///
    /// The network's answer is written into the cache under `key`, as the types say, and
    /// read again: what is returned is what was written. If the write fails, what the network has
    /// sent is returned all the same, because a cache that is full must not hide it. The failure
    /// counts in ``statistics()``, as ``CacheStatistics/droppedWrites`` or
    /// ``CacheStatistics/rejectedWrites``; a write that the cache gave up is one of ``events()``;
    /// and ``fetches(_:_:policy:retry:when:clock:maxAge:from:)`` tells the failure with the answer.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - key: The identifier of the model, or another key under which it is stored, as with
    ///     ``setModel(_:forKey:policy:maxAge:)``. Not empty.
    ///   - policy: Who answers.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each. Not asked about `CancellationError`.
    ///   - clock: The clock that measures the waits between attempts. Tests use another one.
    ///   - maxAge: How old the records of the network's answer may be, see
    ///     ``IdentifiedModel/maxAge``; nil for what their types say.
    ///   - network: Asks the network. Runs off the main actor unless it says otherwise.
    /// - Returns: The best answer.
    /// - Throws: The network's error of the last attempt, if there is nothing to show; a
    ///   ``FetchError`` of the policy `cacheOnly`; `CancellationError` at once if the task is
    ///   cancelled.
    public func fetch<Model: IdentifiedModel>(
        _ type: Model.Type, _ key: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), maxAge: Duration? = nil,
        from network: @escaping @Sendable () async throws -> Model
    ) async throws -> Model {
        try await fetches(
            type, key, policy: policy, retry: retry, when: isWorthRetrying, clock: clock,
            maxAge: maxAge, from: network
        ).fetch.best().value
    }

    /// Fetches a model from the cache, the network, or both, and returns each answer as it comes.
    ///
    /// ```swift
    /// let feeds = cache.fetches(Feed.self, "Feed:1", policy: .cacheAndNetwork) {
    ///     try await server.feed(1)
    /// }
    /// for try await feed in feeds { show(feed.value, isOld: feed.isExpired) }
    /// ```
    ///
    /// There are two answers where the cache has the model and the policy asks the network as well:
    /// with ``FetchPolicy/cacheAndNetwork``, and with ``FetchPolicy/staleWhileRevalidate`` if the
    /// first answer had expired. Otherwise there is one. If the network fails after the answer of
    /// the cache, the sequence ends with the network's error; what is shown can stay.
    ///
    /// Requests and writes are those of ``fetch(_:_:policy:retry:when:clock:maxAge:from:)``. A
    /// caller that leaves the loop leaves the request.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - key: The identifier of the model, or another key under which it is stored. Not empty.
    ///   - policy: Who answers.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each.
    ///   - clock: The clock that measures the waits between attempts.
    ///   - maxAge: How old the records of the network's answer may be; nil for what their types
    ///     say.
    ///   - network: Asks the network. Runs off the main actor unless it says otherwise.
    /// - Returns: A sequence. Each iteration of it is a fetch.
    public func fetches<Model: IdentifiedModel>(
        _ type: Model.Type, _ key: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), maxAge: Duration? = nil,
        from network: @escaping @Sendable () async throws -> Model
    ) -> Fetches<Model> {
        let store = AnswerStore<Model>(
            self,
            write: { $0.setModel($1, forKey: key, maxAge: maxAge) },
            read: { await $0.modelOutcome(type, forKey: key, access: $1, accepting: $2) })
        return Fetches(
            fetch: Fetch(
                policy: policy, flights: engine.flights,
                key: SingleFlight.Key(.model, type, key), read: { await store.read(accepting: $0) }
            ) { turn in
                let answer = try await retry.run(on: clock, when: isWorthRetrying, network)
                return try await store.store(answer, in: turn)
            })
    }

    // MARK: - Collections

    /// Fetches a collection from the cache, the network, or both, and returns the best answer.
    ///
    /// ```swift
    /// let inbox = try await cache.fetchCollection(
    ///     of: Message.self, forKey: "inbox", policy: .staleWhileRevalidate
    /// ) {
    ///     try await server.inbox()
    /// }
    /// ```
    ///
    /// As ``fetch(_:_:policy:retry:when:clock:maxAge:from:)`` in all else. The network's answer
    /// replaces the collection.
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - key: The key of the collection. Not empty.
    ///   - policy: Who answers.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each.
    ///   - clock: The clock that measures the waits between attempts.
    ///   - maxAge: How old the collection and the records of the network's answer may be; nil for
    ///     what the types say.
    ///   - network: Asks the network for all elements, in order.
    /// - Returns: The elements of the best answer.
    /// - Throws: The network's error of the last attempt, if there is nothing to show; a
    ///   ``FetchError`` of the policy `cacheOnly`; `CancellationError` at once if the task is
    ///   cancelled.
    public func fetchCollection<Model: IdentifiedModel>(
        of type: Model.Type, forKey key: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), maxAge: Duration? = nil,
        from network: @escaping @Sendable () async throws -> [Model]
    ) async throws -> [Model] {
        try await collectionFetches(
            of: type, forKey: key, policy: policy, retry: retry, when: isWorthRetrying,
            clock: clock, maxAge: maxAge, from: network
        ).fetch.best().value
    }

    /// Fetches a collection from the cache, the network, or both, and returns each answer as it
    /// comes.
    ///
    /// ```swift
    /// let lists = cache.collectionFetches(
    ///     of: Message.self, forKey: "inbox", policy: .cacheAndNetwork
    /// ) {
    ///     try await server.inbox()
    /// }
    /// for try await list in lists { show(list.value) }
    /// ```
    ///
    /// As ``fetches(_:_:policy:retry:when:clock:maxAge:from:)`` in all else.
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - key: The key of the collection. Not empty.
    ///   - policy: Who answers.
    ///   - retry: How often to ask the network, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to ask the network again after an error. By default, after
    ///     each.
    ///   - clock: The clock that measures the waits between attempts.
    ///   - maxAge: How old the collection and the records of the network's answer may be; nil for
    ///     what the types say.
    ///   - network: Asks the network for all elements, in order.
    /// - Returns: A sequence. Each iteration of it is a fetch.
    public func collectionFetches<Model: IdentifiedModel>(
        of type: Model.Type, forKey key: String, policy: FetchPolicy, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(), maxAge: Duration? = nil,
        from network: @escaping @Sendable () async throws -> [Model]
    ) -> Fetches<[Model]> {
        let store = AnswerStore<[Model]>(
            self,
            write: { $0.setCollection($1, forKey: key, maxAge: maxAge) },
            read: {
                await $0.collectionOutcome(of: type, forKey: key, access: $1, accepting: $2)
            })
        return Fetches(
            fetch: Fetch(
                policy: policy, flights: engine.flights,
                key: SingleFlight.Key(.collection, type, key),
                read: { await store.read(accepting: $0) }
            ) { turn in
                let answer = try await retry.run(on: clock, when: isWorthRetrying, network)
                return try await store.store(answer, in: turn)
            })
    }
}

/// Where the network's answers for one key go.
private struct AnswerStore<Value: Sendable>: Sendable {
    private let cache: NormalizedCache
    private let write: @Sendable (NormalizedCache, Value) -> WriteTicket
    private let read: @Sendable (NormalizedCache, Access, Freshness) async -> ReadOutcome<Value>

    init(
        _ cache: NormalizedCache,
        write: @escaping @Sendable (NormalizedCache, Value) -> WriteTicket,
        read: @escaping @Sendable (NormalizedCache, Access, Freshness) async -> ReadOutcome<Value>
    ) {
        self.cache = cache
        self.write = write
        self.read = read
    }

    /// Reads what the cache has.
    func read(accepting freshness: Freshness) async -> ReadOutcome<Value> {
        await read(cache, .touch, freshness)
    }

    /// Writes an answer, and returns what the cache has of it then.
    ///
    /// The task may have been cancelled. The answer is written all the same: neither the submission
    /// nor the ticket looks at that.
    ///
    /// - Throws: `CancellationError` if the answer of a later request was written before.
    func store(_ answer: Value, in turn: AnswerTurn) async throws -> Fetched<Value> {
        // A request of another object may have joined this one. It does not end with this object.
        let cache = cache.forWorkOfEngine()
        let ticket = try turn.apply { write(cache, answer) }
        try? await ticket.committed
        if case .failure(let error)? = ticket.result {
            return Fetched(sent: answer, storeError: error)
        }
        // The write may have merged the answer into what the cache had. A read that misses is
        // cancelled, or something was deleted or evicted meanwhile: the answer is what there is.
        return Fetched(sent: await read(cache, .peek, .stale).value ?? answer)
    }
}
