import EspalierConsistency
public import EspalierModels
public import Foundation

/// The cache behind data providers: models by key, and ordered collections of models by key.
///
/// The requirements are RocketData's. They may be called on any thread of a shared pool, and may
/// block it. Each completion is called once, on any thread. Unlike in RocketData, the calls are
/// made one after the other, in the order in which the app made its changes.
///
/// A read of a missing key completes with `(nil, nil)`, or with an error of the cache's own, which
/// the data provider hands to its caller.
@preconcurrency
public protocol CacheDelegate {
    /// Reads the model under `cacheKey`.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model; `nil` if the cache is to find it by `context`.
    ///   - context: The context that the caller passed to the fetch.
    ///   - completion: Receives the model, or an error; call it once, on any thread.
    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, NSError?) -> Void)

    /// Stores `model` under `cacheKey`.
    ///
    /// - Parameters:
    ///   - model: The model to store.
    ///   - cacheKey: The identifier of the model.
    ///   - context: The context that the caller passed along with the change.
    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?)

    /// Reads the collection under `cacheKey`, in its order.
    ///
    /// - Parameters:
    ///   - cacheKey: The key of the collection; `nil` if the cache is to find it by `context`.
    ///   - context: The context that the caller passed to the fetch.
    ///   - completion: Receives the elements, or an error; call it once, on any thread.
    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, NSError?) -> Void)

    /// Stores `collection` under `cacheKey`.
    ///
    /// - Parameters:
    ///   - collection: The elements in their order.
    ///   - cacheKey: The key of the collection.
    ///   - context: The context that the caller passed along with the change.
    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?)

    /// Deletes `model`.
    ///
    /// - Parameters:
    ///   - model: The model to delete.
    ///   - cacheKey: The identifier of the model, if it has one.
    ///   - context: The context that the caller passed along with the deletion.
    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?)
}

/// A RocketData cache in the form that Espalier's data providers call.
final class CacheAdapter: EspalierModels.CacheDelegate, @unchecked Sendable {
    // `@unchecked` because RocketData requires that the functions of a cache are thread-safe.
    private let cache: any CacheDelegate

    init(_ cache: any CacheDelegate) { self.cache = cache }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        cache.modelForKey(cacheKey, context: UncheckedContext.value(of: context)) {
            (model: T?, error: NSError?) in completion(model, error)
        }
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        cache.setModel(model, forKey: cacheKey, context: UncheckedContext.value(of: context))
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        cache.collectionForKey(cacheKey, context: UncheckedContext.value(of: context)) {
            (collection: [T]?, error: NSError?) in completion(collection, error)
        }
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        cache.setCollection(
            collection, forKey: cacheKey, context: UncheckedContext.value(of: context))
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        cache.deleteModel(model, forKey: cacheKey, context: UncheckedContext.value(of: context))
    }
}

/// An Espalier cache in the form of `DataModelManager.cacheDelegate`.
final class StoredCache: CacheDelegate {
    private let cache: any EspalierModels.CacheDelegate

    init(_ cache: any EspalierModels.CacheDelegate) { self.cache = cache }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, NSError?) -> Void
    ) {
        cache.modelForKey(cacheKey, context: context) { (model: T?, error) in
            completion(model, error.map(RocketDataError.converted))
        }
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        cache.setModel(model, forKey: cacheKey, context: context)
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, NSError?) -> Void
    ) {
        cache.collectionForKey(cacheKey, context: context) { (collection: [T]?, error) in
            completion(collection, error.map(RocketDataError.converted))
        }
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        cache.setCollection(collection, forKey: cacheKey, context: context)
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        cache.deleteModel(model, forKey: cacheKey, context: context)
    }
}
