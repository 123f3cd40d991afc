import EspalierModels

/// A cache of whole models under their keys, as apps write them, which records its calls.
final class MemoryCache: CacheDelegate {
    struct State: Sendable {
        var models: [String: any SimpleModel] = [:]
        var collections: [String: [any SimpleModel]] = [:]
        var calls: [String] = []
        var contexts: [String?] = []
        /// The errors of reads, by key.
        var errors: [String: any Error] = [:]
        /// The replies to reads without key, by context.
        var byContext: [String: any SimpleModel] = [:]

        mutating func record(_ call: String, _ context: Any?) {
            calls.append(call)
            contexts.append(context as? String)
        }
    }
    let state = Guarded(State())

    var calls: [String] { state.withLock { $0.calls } }
    var contexts: [String?] { state.withLock { $0.contexts } }

    func count(_ prefix: String) -> Int { calls.count { $0.hasPrefix(prefix) } }

    func model<T>(_ key: String, _: T.Type = T.self) -> T? {
        state.withLock { $0.models[key] as? T }
    }
    func collection<T>(_ key: String, _: T.Type = T.self) -> [T]? {
        state.withLock { $0.collections[key] as? [T] }
    }

    func put(_ model: any SimpleModel, _ key: String? = nil) {
        state.withLock { $0.models[key ?? model.modelIdentifier ?? ""] = model }
    }
    func put(_ collection: [any SimpleModel], _ key: String) {
        state.withLock { $0.collections[key] = collection }
    }
    func fail(_ key: String, _ error: (any Error)?) { state.withLock { $0.errors[key] = error } }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        let (model, error) = state.withLock { state -> (T?, (any Error)?) in
            state.record("get \(cacheKey ?? "nil")", context)
            guard let cacheKey else {
                return ((context as? String).flatMap { state.byContext[$0] as? T }, nil)
            }
            if let error = state.errors[cacheKey] { return (nil, error) }
            return (state.models[cacheKey] as? T, nil)
        }
        completion(model, error)
    }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.record("set \(cacheKey)", context)
            state.models[cacheKey] = model
        }
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        let (collection, error) = state.withLock { state -> ([T]?, (any Error)?) in
            state.record("get all \(cacheKey ?? "nil")", context)
            guard let cacheKey else {
                return (
                    (context as? String).flatMap { state.byContext[$0] as? T }.map { [$0] }, nil
                )
            }
            if let error = state.errors[cacheKey] { return (nil, error) }
            return (state.collections[cacheKey] as? [T], nil)
        }
        completion(collection, error)
    }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        state.withLock { state in
            state.record("set all \(cacheKey)", context)
            state.collections[cacheKey] = collection
        }
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        state.withLock { state in
            state.record("delete \(cacheKey ?? "nil")", context)
            if let cacheKey { state.models[cacheKey] = nil }
        }
    }
}
