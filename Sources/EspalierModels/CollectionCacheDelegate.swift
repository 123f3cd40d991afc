/// A cache that takes an edit of a collection as the edit, where a `CacheDelegate` is sent the whole array again.
///
/// Conforming says one thing more: models are stored apart from the collections they stand in, so that deleting a model takes it
/// out of every collection by itself. A sender that deletes one sends no edits for it, and does not count it from then on.
///
/// A sender and its cache may differ, for the cache can forget a collection or share it with another process. So each edit says
/// what the sender has around its place, and a cache that has something else answers `.outOfDate`:
///
/// ```swift
/// cache.editCollection(
///     .insert([message], at: 0), forKey: "inbox",
///     expecting: CollectionNeighbours(count: 2, previous: nil, current: "Message:1", next: "Message:2"), context: nil
/// ) { outcome in
///     guard case .applied = outcome else { return self.sendAll() }
/// }
/// ```
///
/// That finds out most differences and not all: two lists of one length that differ far from the edit look the same.
///
/// Called on any thread, several at a time; edits take effect in the order of the calls, among each other and among the other
/// functions. The sender has to take what it expects and to call in one step, or a change in between makes the edit out of date.
/// Costs the edit and not the length of the collection.
public protocol CollectionCacheDelegate: CacheDelegate {
    /// Applies `edit` to the collection under `cacheKey` if it has what the sender expects. Otherwise, and where there is no such
    /// collection, it changes nothing and answers `.outOfDate`, upon which the sender sends the whole collection. Appending to
    /// what the sender has empty makes a collection that is not there.
    ///
    /// An index outside the collection is `.outOfDate`, too. What can't be written, for want of room or because a model can't be
    /// stored, is `.failed`. Either way nothing of the edit is written, the models in it neither.
    ///
    /// - Parameters:
    ///   - neighbours: What the sender has before the edit, around the edit's index.
    ///   - context: What the caller passed to the data provider.
    ///   - completion: Called exactly once, on any thread.
    func editCollection(
        _ edit: CollectionEdit, forKey cacheKey: String, expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void)

    /// Returns when everything asked before is written, as far as it can be. Throws what kept the cache from writing at all.
    func flush() async throws
}
