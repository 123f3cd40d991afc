public import EspalierModels
import EspalierRecords

/// The cache behind data providers. Completions are called on a thread of the cache's, exactly
/// once; a miss completes with neither model nor error, except where the model's type can't be
/// stored or the cache can't be read.
///
/// Reads see the writes submitted before them. Contexts are not used.
extension NormalizedCache: CacheDelegate {
    public func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return completion(nil, nil) }
        outcome(.key(T.self, cacheKey), .latest, .touch, { try $0.model(T.self, forKey: cacheKey) })
        {
            Self.complete($0, completion)
        }
    }

    public func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) {
        guard let cacheKey else { return completion(nil, nil) }
        outcome(
            .collection(T.self, cacheKey), .latest, .touch,
            { try $0.collection(T.self, forKey: cacheKey) }
        ) {
            Self.complete($0, completion)
        }
    }

    private static func complete<Value>(
        _ outcome: ReadOutcome<Value>, _ completion: (Value?, (any Error)?) -> Void
    ) {
        switch outcome {
        case .hit(let hit): completion(hit.value, nil)
        case .miss(let reason): completion(nil, reason.isError ? reason : nil)
        }
    }

    public func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        setModel(model, forKey: cacheKey)
    }

    public func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, context: Any?
    ) {
        edit(cacheKey, collection.map(Self.encoding), .replace, isDroppable: true) { .replace($0) }
    }

    /// What writes a model as an element.
    static func encoding(_ model: any SimpleModel) -> @Sendable (ValueEncoder) throws -> Void {
        { try ModelStorage.encode(model, into: $0) }
    }

    public func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        var entries: [(NameSpace, String)] = []
        if let identifier = model.modelIdentifier, !identifier.isEmpty {
            entries.append((.node, identifier))
        }
        if let cacheKey, !cacheKey.isEmpty { entries.append((.key, cacheKey)) }
        if !entries.isEmpty { _ = delete(entries) }
    }
}

extension MissReason {
    /// Whether a caller should hear of it: what a refetch does not mend.
    fileprivate var isError: Bool {
        switch self {
        case .notStorable, .unavailable: true
        default: false
        }
    }
}
