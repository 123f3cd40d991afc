import EspalierModels
import EspalierRecords

/// An answer to a fetch: a model or the elements of a collection, and where they come from.
///
/// ```swift
/// for try await feed in cache.fetches(Feed.self, "Feed:1", policy: .cacheAndNetwork, from: load) {
///     show(feed.value, isOld: feed.isExpired)
/// }
/// ```
public struct Fetched<Value: Sendable>: Sendable {
    /// Who has answered a fetch.
    public enum Source: String, Sendable, Hashable {
        /// The cache had it.
        case cache
        /// The network has sent it, and it was written into the cache unless ``storeError`` says
        /// why not.
        case network
    }

    /// The model, or the elements of the collection. What the network has sent is read from the
    /// cache again, so it contains what the write has merged.
    public let value: Value
    /// Who has answered.
    public let source: Source
    /// How old it is: zero for an answer of the network. See ``Hit/age`` for one of the cache.
    public let age: Duration?
    /// Whether a record of it has expired. False for an answer of the network.
    public let isExpired: Bool
    /// Why the network's answer is not in the cache; nil if it is. The value is what the network
    /// has sent. The statistics of the cache count the failure as well.
    public let storeError: CacheError?
    /// The network's error, if the cache has answered because the network has failed.
    public let networkError: (any Error)?

    init(_ hit: Hit<Value>, networkError: (any Error)? = nil) {
        value = hit.value
        source = .cache
        age = hit.age
        isExpired = hit.isExpired
        storeError = nil
        self.networkError = networkError
    }

    init(sent value: Value, storeError: CacheError? = nil) {
        self.value = value
        source = .network
        age = .zero
        isExpired = false
        self.storeError = storeError
        networkError = nil
    }
}

/// The answers to a fetch, one after the other: one, or that of the cache and then that of the
/// network.
///
/// ```swift
/// for try await feed in cache.fetches(Feed.self, "Feed:1", policy: .cacheAndNetwork, from: load) {
///     show(feed.value)
/// }
/// ```
///
/// Each iteration is a fetch of its own, which begins with its first element. To leave the loop is
/// to leave the request, as a cancelled task does.
public struct Fetches<Value: Sendable>: AsyncSequence, Sendable {
    let fetch: Fetch<Value>

    /// Begins a fetch.
    public func makeAsyncIterator() -> Iterator { Iterator(fetch: fetch) }

    /// The answers of one fetch.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let fetch: Fetch<Value>
        private var step = Step.first

        private enum Step: Sendable {
            case first
            /// The cache has answered, and the network will.
            case second(Passage<Fetched<Value>>)
            case ended
        }

        fileprivate init(fetch: Fetch<Value>) { self.fetch = fetch }

        /// Returns the next answer; nil after the last one.
        ///
        /// - Throws: The network's error; a ``FetchError`` of the policy `cacheOnly`;
        ///   `CancellationError` at once if the task is cancelled. The sequence then has ended.
        public mutating func next() async throws -> Fetched<Value>? {
            let current = step
            step = .ended
            switch current {
            case .first: return try await first()
            case .second(let passage): return try await passage.value
            case .ended: return nil
            }
        }

        private mutating func first() async throws -> Fetched<Value> {
            switch fetch.policy {
            case .cacheOnly:
                switch try await fetch.readCache() {
                case .hit(let hit): return Fetched(hit)
                case .miss(let reason): throw FetchError.miss(reason)
                }
            case .cacheThenNetwork:
                if case .hit(let hit) = try await fetch.readCache() { return Fetched(hit) }
                return try await fetch.join().value
            case .networkThenCache:
                do {
                    return try await fetch.join().value
                } catch {
                    // The task may be cancelled; then `readCache` throws that.
                    guard case .hit(let hit) = try await fetch.readCache() else { throw error }
                    return Fetched(hit, networkError: error)
                }
            case .cacheAndNetwork:
                // The cache is read before the network is asked. Otherwise a fast network could
                // write its answer first, and the cache would return the same answer once more.
                let outcome = try await fetch.readCache()
                let passage = fetch.join()
                guard case .hit(let hit) = outcome else { return try await passage.value }
                step = .second(passage)
                return Fetched(hit)
            case .staleWhileRevalidate:
                guard case .hit(let hit) = try await fetch.readCache() else {
                    return try await fetch.join().value
                }
                if hit.isExpired { step = .second(fetch.join(isKept: true)) }
                return Fetched(hit)
            }
        }
    }
}

/// What a fetch does at each step.
struct Fetch<Value: Sendable>: Sendable {
    let policy: FetchPolicy
    let flights: SingleFlight
    let key: SingleFlight.Key
    /// Reads the cache.
    let read: @Sendable (Freshness) async -> ReadOutcome<Value>
    /// Asks the network, and writes its answer into the cache.
    let request: @Sendable (AnswerTurn) async throws -> Fetched<Value>

    /// - Throws: `CancellationError` if the task is cancelled.
    func readCache() async throws -> ReadOutcome<Value> {
        let outcome = await read(policy.acceptsExpired ? .stale : .fresh)
        try Task.checkCancellation()
        return outcome
    }

    /// Asks the network, together with all who ask for the same.
    ///
    /// - Parameter isKept: Whether the request goes on when all callers have left.
    func join(isKept: Bool = false) -> Passage<Fetched<Value>> {
        flights.join(key, isKept: isKept, request)
    }

    /// Returns the best answer.
    ///
    /// - Throws: As `Fetches.Iterator.next` does, if there is no answer at all.
    func best() async throws -> Fetched<Value> {
        var answers = Fetches(fetch: self).makeAsyncIterator()
        guard let first = try await answers.next() else { throw CancellationError() }
        // The refresh goes on behind the answer.
        guard policy == .cacheAndNetwork else { return first }
        do {
            return try await answers.next() ?? first
        } catch {
            try Task.checkCancellation()
            return first
        }
    }
}
