/// A cache that takes an edit of a collection as the edit, where a `CacheDelegate` is sent the
/// whole array again.
///
/// Conforming says one thing more: models are stored apart from the collections they stand in, so
/// that deleting a model takes it out of every collection by itself. A sender that deletes one
/// sends no edits for it, and does not count it from then on.
///
/// A sender and its cache may differ, for a cache can forget a collection, or share it with another
/// process. So an edit comes with what the sender has around its place, and a cache that has
/// something else there answers `.outOfDate`:
///
/// ```swift
/// // The sender has Ada and Grace; it puts Mary between them.
/// let neighbours = CollectionNeighbours(count: 2, previous: "Person:1", current: "Person:2", next: nil)
/// cache.editCollection(.insert([mary], at: 1), forKey: "friends", expecting: neighbours, context: nil) { outcome in
///     guard case .outOfDate = outcome else { return }
///     cache.setCollection([ada, mary, grace], forKey: "friends", context: nil)
/// }
/// ```
///
/// That finds most differences and not all: two collections of one length that differ far from the
/// place look the same.
///
/// Called on any thread, several at a time. Edits take effect in the order of the calls, among each
/// other and among what the other functions do. A sender has to change its list and to call in one
/// step: an edit that another one has overtaken is out of date. Costs the edit, not the length of
/// the collection.
public protocol CollectionCacheDelegate: CacheDelegate {
    /// Applies `edit` to the collection under `cacheKey` if it has what the sender expects.
    /// Otherwise, and where there is no such collection, it changes nothing and answers
    /// `.outOfDate`, upon which the sender sends the whole collection.
    ///
    /// Appending to what the sender has empty makes a collection that is not there. An index
    /// outside of the collection is `.outOfDate`, too. What can't be written, for want of room or
    /// because a model can't be stored, is `.failed`; of that and of what is out of date nothing is
    /// written, the models in it neither.
    ///
    /// - Parameters: - neighbours: What the sender has around the index of the edit, before the
    ///   edit. An append's index is the count. - context: What the caller passed to the data
    ///   provider. - completion: Called exactly once, on any thread.
    func editCollection(
        _ edit: CollectionEdit, forKey cacheKey: String, expecting neighbours: CollectionNeighbours,
        context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void)

    /// Returns when everything asked before is written. Throws where the cache can't write at all.
    func flush() async throws
}
