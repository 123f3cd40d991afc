public import EspalierRecords

/// Who answers a fetch: the cache, the network, or both, and in which order.
///
/// | policy | the cache has it | it has expired | the cache misses | the network fails |
/// |---|---|---|---|---|
/// | `cacheOnly` | cache | a miss | a miss | is not asked |
/// | `cacheThenNetwork` | cache | network | network | its error |
/// | `networkThenCache` | network | network | network | cache, even what has expired |
/// | `cacheAndNetwork` | cache, then network | the same | network | cache, see below |
/// | `staleWhileRevalidate` | cache | cache, then network | network | as `cacheAndNetwork` |
///
/// ```swift
/// let feed = try await cache.fetch(Feed.self, "Feed:1", policy: .staleWhileRevalidate) {
///     try await server.feed(1)
/// }
/// ```
///
/// With `cacheAndNetwork`, `fetch` returns what the cache has if the network fails, and `fetches`
/// throws the network's error after it.
///
/// What has expired follows from the maximum age of the records, see ``IdentifiedModel/maxAge``.
/// Without one nothing expires. A cache that is not Espalier's does not tell what has expired:
/// there everything is fresh.
public enum FetchPolicy: String, Sendable, CaseIterable, Codable {
    /// The cache alone: a miss, or what has expired, is an error.
    case cacheOnly
    /// The cache, and the network if the cache misses.
    case cacheThenNetwork
    /// The network, and the cache if the network fails. What the cache has may have expired then:
    /// it is better than nothing.
    case networkThenCache
    /// The cache at once, expired or not, and then the network, whatever the cache has.
    case cacheAndNetwork
    /// The cache at once, expired or not. The network is asked only if something had expired,
    /// behind the answer: a caller who leaves does not stop it. A miss is answered by the network.
    case staleWhileRevalidate

    /// Whether the cache may answer with records that have expired.
    package var acceptsExpired: Bool {
        switch self {
        case .cacheOnly, .cacheThenNetwork: false
        case .networkThenCache, .cacheAndNetwork, .staleWhileRevalidate: true
        }
    }
}

/// Why a fetch has no answer, if the network was not asked. What the network fails with is thrown
/// as it is.
///
/// ```swift
/// do {
///     show(try await cache.fetch(Feed.self, "Feed:1", policy: .cacheOnly, from: load))
/// } catch FetchError.miss(.expired(_, let age)) {
///     showOffline(age)
/// }
/// ```
public enum FetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The policy asks the cache alone, and the read missed: why it did.
    case miss(MissReason)

    /// The message for developers, in English.
    public var description: String {
        switch self {
        case .miss(let reason):
            "The cache has no answer, and the policy cacheOnly asks nobody else: \(reason)."
        }
    }
}
