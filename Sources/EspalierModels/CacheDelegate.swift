/// The store behind data providers: models by key, and ordered collections of models by key.
///
/// `NormalizedCache` conforms, and so can any other store:
///
/// ```swift
/// final class MemoryCache: CacheDelegate {
///     private let models = Mutex<[String: any SimpleModel]>([:])
///
///     func modelForKey<T: SimpleModel>(
///         _ cacheKey: String?, context: Any?,
///         completion: @escaping @Sendable (T?, (any Error)?) -> Void
///     ) {
///         completion(cacheKey.flatMap { key in models.withLock { $0[key] } } as? T, nil)
///     }
///     ...
/// }
/// ```
///
/// The functions may be called on any thread, also concurrently. A cache applies the calls in the
/// order in which they are made. It calls each completion exactly once, on any thread.
///
/// A read of a missing key completes with `(nil, nil)`. A read that fails completes with an error,
/// which the data provider hands to its caller. The error means that the key may hold data that
/// could not be read, so an append does not create a new collection over it.
@preconcurrency
public protocol CacheDelegate: Sendable {
    /// Reads the model under `cacheKey`.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the model. `nil` reads nothing, unless the cache finds the model by
    ///     `context`.
    ///   - context: The context that the caller passed to the fetch.
    ///   - completion: Receives the model, or `(nil, nil)` for a miss, or an error. Call it exactly
    ///     once, on any thread.
    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void)

    /// Stores `model` under `cacheKey`, in place of any model that is there.
    ///
    /// - Parameters:
    ///   - model: The model to store.
    ///   - cacheKey: The identifier of the model, unless the caller chose another key.
    ///   - context: The context that the caller passed along with the change.
    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?)

    /// Reads the collection under `cacheKey`, in its order.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the collection. `nil` reads nothing, unless the cache finds the
    ///     collection by `context`.
    ///   - context: The context that the caller passed to the fetch.
    ///   - completion: Receives the elements, or `(nil, nil)` for a miss, or an error. Call it
    ///     exactly once, on any thread.
    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)

    /// Stores `collection` under `cacheKey`, in place of any collection that is there.
    ///
    /// - Parameters:
    ///   - collection: The elements in their order. The same element may occur more than once.
    ///   - cacheKey: The key of the collection.
    ///   - context: The context that the caller passed along with the change.
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?)

    /// Deletes `model`.
    ///
    /// - Parameters:
    ///   - model: The model to delete.
    ///   - cacheKey: The key of the model. With `nil`, the cache deletes the model under its
    ///     identifier.
    ///   - context: The context that the caller passed along with the deletion.
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?)
}

/// A cache that accepts single edits of a collection. Any other `CacheDelegate` receives the whole
/// array again after every edit.
///
/// A conforming cache also stores models apart from the collections that contain them: deleting a
/// model removes it from every collection. A sender that deletes a model therefore sends no edits
/// for that deletion, and no longer counts the model.
///
/// The lists of a sender and its cache may differ, because a cache can evict a collection or share
/// it with another process. An edit therefore carries the sender's neighbours of the edited place.
/// If the cache finds other neighbours there, it changes nothing and reports `.outOfDate`:
///
/// ```swift
/// // The sender has Ada and Grace; it puts Mary between them.
/// let neighbours = CollectionNeighbours(
///     count: 2, previous: "Person:1", current: "Person:2", next: nil)
/// cache.editCollection(
///     .insert([mary], at: 1), forKey: "friends", expecting: neighbours, context: nil
/// ) { outcome in
///     guard case .outOfDate = outcome else { return }
///     cache.setCollection([ada, mary, grace], forKey: "friends", context: nil)
/// }
/// ```
///
/// The check finds most differences, but not all: two collections of the same length that differ
/// only far from the edited place look the same.
///
/// The functions may be called on any thread, also concurrently. Edits take effect in the order of
/// the calls, together with the calls of the other functions. A sender must change its own list and
/// call the cache in one step: an edit that another edit has overtaken is out of date.
public protocol CollectionCacheDelegate: CacheDelegate {
    /// Applies `edit` to the collection under `cacheKey` if the collection has the neighbours that
    /// the sender expects.
    ///
    /// An append creates a missing collection if the sender's list was empty too. Any other edit of
    /// a missing collection is out of date, and so is an edit at an index outside the collection.
    ///
    /// - Parameters:
    ///   - edit: The edit. An edit that is out of date or fails writes nothing, not even its
    ///     models.
    ///   - cacheKey: The key of the collection.
    ///   - neighbours: The sender's elements around the first index of the edit, before the edit.
    ///     The index of an append is the count.
    ///   - context: The context that the caller passed to the data provider.
    ///   - completion: Receives `.applied`; `.outOfDate`, upon which the sender sets the whole
    ///     collection; or `.failed` if the edit cannot be written, for lack of space or because a
    ///     model cannot be stored. Called exactly once, on any thread.
    /// - Complexity: O(size of the edit), independent of the length of the collection.
    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void)

    /// Waits until every change that was submitted before this call is written.
    ///
    /// - Throws: The cache's own error if it can no longer write. The changes since its last
    ///   successful write are then lost.
    func flush() async throws
}
