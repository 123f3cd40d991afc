/// Where a data-provider layer keeps its models: the seam between providers and the cache.
///
/// The cache of this package conforms; any other store can. Functions are called on any thread,
/// several at a time, and in the order in which a cache has to apply them; each completion is
/// called exactly once, on any thread. A miss completes with `(nil, nil)`. An error is passed on to
/// whoever asked, and says that something may be there that could not be read: an append then makes
/// no new collection.
///
/// ```swift
/// final class MemoryCache: CacheDelegate {
///     private let models = Mutex<[String: any SimpleModel]>([:])
///
///     func modelForKey<T: SimpleModel>(
///         _ cacheKey: String?, context: Any?, completion: @escaping @Sendable (T?, (any Error)?) -> Void
///     ) {
///         completion(cacheKey.flatMap { key in models.withLock { $0[key] } } as? T, nil)
///     }
///     ...
/// }
/// ```
@preconcurrency
public protocol CacheDelegate: Sendable {
    /// Completes with the model under `cacheKey`; a nil key reads nothing. `context` is what the
    /// caller passed to the fetch.
    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void)

    /// Keeps `model` under `cacheKey`, which is its identifier unless the caller chose another.
    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?)

    /// Completes with the collection under `cacheKey`, in its order.
    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void)

    /// Keeps `collection` under `cacheKey`. An element may occur more than once.
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?)

    /// Deletes `model` under `cacheKey`; under its identifier when the key is nil.
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?)
}
