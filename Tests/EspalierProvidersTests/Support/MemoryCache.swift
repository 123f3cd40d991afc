import EspalierModels
import Synchronization

/// A cache of whole models under their keys, as apps write them, that notes the calls it gets.
final class MemoryCache: CacheDelegate {
    struct State: Sendable {
        var models: [String: any SimpleModel] = [:]
        var collections: [String: [any SimpleModel]] = [:]
        var calls: [String] = []
    }
    let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        let model = state.withLock { state in
            state.calls.append("get \(cacheKey ?? "nil")")
            return cacheKey.flatMap { state.models[$0] as? T }
        }
        completion(model, nil)
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.calls.append("set \(cacheKey)")
            state.models[cacheKey] = model
        }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?, completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        let collection = state.withLock { state in
            state.calls.append("get all \(cacheKey ?? "nil")")
            return cacheKey.flatMap { state.collections[$0] as? [T] }
        }
        completion(collection, nil)
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.calls.append("set all \(cacheKey)")
            state.collections[cacheKey] = collection
        }
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        state.withLock { state in
            state.calls.append("delete \(cacheKey ?? "nil")")
            if let cacheKey { state.models[cacheKey] = nil }
        }
    }
}
