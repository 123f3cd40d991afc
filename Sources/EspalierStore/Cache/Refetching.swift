public import EspalierRecords
import Synchronization

/// Fetches anew what reads have found expired: once for all reads at the same time.
///
///     no fetch ---- a read finds an expired record ----> running ---- it ends ----> no fetch
///                                                           |
///                                                           +-- it fails --> pausing for a second
///
/// A read never waits for a fetch. A fetch that never ends keeps others of the same model from
/// beginning, and nothing else.
///
/// All threads may use it.
final class Refetching: Sendable {
    typealias Fetch = @Sendable (String) async throws -> Void

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let identifier: Identifier
    }

    // protected by `state`
    private struct State {
        var fetches: [ObjectIdentifier: Fetch] = [:]
        var running: Set<Key> = []
    }
    private let state = Mutex(State())

    private static let pause = Duration.seconds(1)

    func register(_ fetch: @escaping Fetch, for type: Any.Type) {
        state.withLock { $0.fetches[ObjectIdentifier(type)] = fetch }
    }

    func removeAll() { state.withLock { $0.fetches = [:] } }

    /// Begins to fetch what a read asked for, unless that is under way or nobody can.
    func begin(_ type: Any.Type, _ identifier: String) {
        let key = Key(type: ObjectIdentifier(type), identifier: Identifier(identifier))
        let fetch = state.withLock { state -> Fetch? in
            guard let fetch = state.fetches[key.type], state.running.insert(key).inserted else {
                return nil
            }
            return fetch
        }
        guard let fetch else { return }
        Task { [self] in
            do {
                try await fetch(identifier)
            } catch {
                // Otherwise a list that scrolls would ask a server that is down at each step.
                try? await Task.sleep(for: Self.pause)
            }
            _ = state.withLock { $0.running.remove(key) }
        }
    }
}

extension NormalizedCache {
    /// Says how to fetch anew what a read with ``Freshness/staleWhileRevalidate`` finds expired.
    ///
    /// ```swift
    /// cache.onExpired(Feed.self) { identifier in
    ///     let feed = try await server.feed(identifier)
    ///     cache.set(feed)
    /// }
    /// let feed = cache.read(Feed.self, "Feed:1", accepting: .staleWhileRevalidate)
    /// ```
    ///
    /// The function runs in a task of its own, once for all reads at the same time that ask for the
    /// same. If it throws, the next read after a second tries again. Let it refer to the cache
    /// weakly if the cache is to be closed by its last reference.
    ///
    /// - Parameters:
    ///   - type: The type that reads ask for; for collections, that of the elements.
    ///   - refetch: Fetches and sets what has the identifier, or the key that the read used. It
    ///     replaces one that was given before.
    public func onExpired<Model: IdentifiedModel>(
        _ type: Model.Type, refetch: @escaping @Sendable (_ identifier: String) async throws -> Void
    ) {
        engine.refetching.register(refetch, for: type)
    }
}
