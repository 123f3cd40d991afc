import EspalierModels
import Synchronization

/// A cache delegate in the style of RocketData's clients: the witnesses do not say `@Sendable`.
final class SampleCache: CacheDelegate {
    private let models = Mutex<[String: any SimpleModel]>([:])
    private let collections = Mutex<[String: [any SimpleModel]]>([:])

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping (T?, (any Error)?) -> Void
    ) {
        let model = cacheKey.flatMap { key in models.withLock { $0[key] } }
        completion(model as? T, nil)
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        models.withLock { $0[cacheKey] = model }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping ([T]?, (any Error)?) -> Void
    ) {
        let collection = cacheKey.flatMap { key in collections.withLock { $0[key] } }
        completion(collection?.compactMap { $0 as? T }, nil)
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        collections.withLock { $0[cacheKey] = collection }
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        guard let key = cacheKey ?? model.modelIdentifier else { return }
        models.withLock { $0[key] = nil }
    }
}

extension CacheDelegate {
    func model<T: SimpleModel>(_ type: T.Type, _ key: String?) async -> T? {
        await withCheckedContinuation { continuation in
            modelForKey(key, context: nil) { (model: T?, _) in continuation.resume(returning: model)
            }
        }
    }

    func collection<T: SimpleModel>(_ type: T.Type, _ key: String?) async -> [T]? {
        await withCheckedContinuation { continuation in
            collectionForKey(key, context: nil) { (models: [T]?, _) in
                continuation.resume(returning: models)
            }
        }
    }
}
