/// Something a cache did of its own accord.
///
/// ```swift
/// for await event in cache.events() {
///     switch event {
///     case .evicted(let eviction): evicted += eviction.records
///     case .generationReplaced(let reason): log("everything is gone: \(reason)")
///     case .writeDropped(let reason): log("a write was given up: \(reason)")
///     }
/// }
/// ```
///
/// Reasons have the names under which `CacheStatistics` counts them. Threading: a value. Cost: that
/// of an `Eviction`. Errors: none.
public enum CacheEvent: Sendable, Hashable, Codable {
    case evicted(Eviction)
    /// The cache went on with a new, empty generation.
    case generationReplaced(reason: String)
    /// A write was given up; its ticket has failed.
    case writeDropped(reason: String)
}
