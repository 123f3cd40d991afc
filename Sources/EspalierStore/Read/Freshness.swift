/// What a read accepts of records that have expired, see ``IdentifiedModel/maxAge``.
///
/// ```swift
/// switch cache.readOutcome(Feed.self, "Feed:1") {
/// case .hit(let hit): show(hit.value)
/// case .miss(.expired(_, let age)):
///     showOld(cache.read(Feed.self, "Feed:1", accepting: .stale), age)
///     refetch()
/// case .miss: refetch()
/// }
/// ```
///
/// Without a maximum age nothing expires, and all cases are the same.
public enum Freshness: Sendable, Hashable {
    /// Only fresh records: a tree with an expired record is a miss, `expired`. The default.
    case fresh
    /// Expired records, too. The hit says how old the oldest record is, and whether one has
    /// expired.
    case stale
    /// As ``stale``, and if a record of the tree has expired, the cache calls what was registered
    /// with ``NormalizedCache/onExpired(_:refetch:)`` for the type that the read asks for. For any
    /// number of reads at the same time, it is called once.
    case staleWhileRevalidate
}
