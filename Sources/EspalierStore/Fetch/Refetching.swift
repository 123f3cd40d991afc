public import EspalierModels
public import EspalierRecords
import Synchronization

/// Fetches anew what reads have found expired: once for all reads at the same time.
///
///     no fetch ---- a read finds an expired record ----> running ---- it ends ----> no fetch
///                                                           |
///                                                           +-- it fails --> pausing for a second
///
/// A read never waits for a fetch. A fetch that never ends keeps others of the same model from
/// beginning, and nothing else. A read does not begin one while a caller fetches the same by
/// `NormalizedCache.fetch`, because that brings the same.
///
/// All threads may use it.
final class Refetching: Sendable {
    /// What the app has registered for a type.
    struct Registration: Sendable {
        let retry: RetryPolicy
        let clock: any Clock<Duration>
        let isWorthRetrying: @Sendable (any Error) -> Bool
        let fetch: @Sendable (String) async throws -> Void
    }

    // protected by `registrations`
    private let registrations = Mutex<[ObjectIdentifier: Registration]>([:])

    private static let pause = Duration.seconds(1)

    func register(_ registration: Registration, for type: Any.Type) {
        let replaced = registrations.withLock {
            $0.updateValue(registration, forKey: ObjectIdentifier(type))
        }
        // After the lock: code of the app may run when the closures are released.
        withExtendedLifetime(replaced) {}
    }

    func removeAll() {
        let removed = registrations.withLock { registrations in
            defer { registrations = [:] }
            return registrations
        }
        withExtendedLifetime(removed) {}
    }

    /// Begins to fetch what a read asked for, unless that is under way or no fetch was registered
    /// for the type.
    func begin(_ type: Any.Type, _ identifier: String, in flights: SingleFlight) {
        guard let registration = registrations.withLock({ $0[ObjectIdentifier(type)] }),
            !flights.isUnderWay(SingleFlight.Key(.model, type, identifier)),
            !flights.isUnderWay(SingleFlight.Key(.collection, type, identifier))
        else { return }
        flights.keep(SingleFlight.Key(.refetch, type, identifier)) { _ in
            do {
                try await registration.retry.run(
                    on: registration.clock, when: registration.isWorthRetrying
                ) {
                    try await registration.fetch(identifier)
                }
            } catch {
                // Otherwise a list that scrolls would ask a server that is down at each step.
                try? await registration.clock.sleep(for: Self.pause)
            }
        }
    }
}

extension NormalizedCache {
    /// Says how to fetch anew what a read with ``Freshness/staleWhileRevalidate`` finds expired.
    ///
    /// ```swift
    /// cache.onExpired(Feed.self) { [weak cache] identifier in
    ///     let feed = try await server.feed(identifier)
    ///     cache?.set(feed)
    /// }
    /// let feed = cache.read(Feed.self, "Feed:1", accepting: .staleWhileRevalidate)
    /// ```
    ///
    /// The function runs in a task of its own, once for all reads at the same time that ask for the
    /// same, and not while `fetch` asks for the same. If it throws at the last attempt, the next
    /// read after a second tries again. Let it refer to the cache weakly if the cache is to be
    /// closed by its last reference.
    ///
    /// - Parameters:
    ///   - type: The type that reads ask for; for collections, that of the elements.
    ///   - retry: How often to try, and how long to wait before each attempt.
    ///   - isWorthRetrying: Whether to try again after an error. By default, after each.
    ///   - clock: The clock that measures the waits.
    ///   - refetch: Fetches and sets what has the identifier, or the key that the read used. It
    ///     replaces one that was given before.
    public func onExpired<Model: IdentifiedModel>(
        _ type: Model.Type, retry: RetryPolicy = .none,
        when isWorthRetrying: @escaping @Sendable (any Error) -> Bool = { _ in true },
        clock: any Clock<Duration> = ContinuousClock(),
        refetch: @escaping @Sendable (_ identifier: String) async throws -> Void
    ) {
        let registration = Refetching.Registration(
            retry: retry, clock: clock, isWorthRetrying: isWorthRetrying, fetch: refetch)
        engine.refetching.register(registration, for: type)
    }
}
