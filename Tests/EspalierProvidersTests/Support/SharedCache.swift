import EspalierModels
import EspalierRecords

/// A cache that tells outcomes and reasons, as the engine does. A test says how it replies.
final class SharedCache: SharedCacheDelegate {
    /// How the cache replies to a write.
    enum Reply: Sendable {
        case success, twice, never
        case failure(CacheFailure)
    }

    private struct State {
        /// How the writes of a name are answered; `success` for other names.
        var replies: [String: Reply] = [:]
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var misses: [String: MissReason] = [:]
        /// What has expired, until it is written again.
        var expired: Set<String> = []
        var policies: [WritePolicy?] = []
        var handler: (@Sendable (CacheChanges) -> Void)?
        var collectionReads = 0
    }
    private let state = Guarded(State())
    /// What is stored.
    let inner = EditingCache()

    var policies: [WritePolicy?] { state.withLock { $0.policies } }
    var collectionReads: Int { state.withLock { $0.collectionReads } }
    var isHolding: Bool {
        get { state.withLock { $0.isHolding } }
        set { state.withLock { $0.isHolding = newValue } }
    }
    func reply(_ reply: Reply, to name: String) { state.withLock { $0.replies[name] = reply } }
    func miss(_ name: String, _ reason: MissReason) {
        inner.state.withLock { $0.models[name] = nil }
        state.withLock { $0.misses[name] = reason }
    }
    func expire(_ name: String) { state.withLock { _ = $0.expired.insert(name) } }
    private func isExpired(_ name: String) -> Bool {
        state.withLock { $0.expired.contains(name) }
    }
    func send(_ changes: CacheChanges) { state.withLock { $0.handler }?(changes) }

    /// Replies to all writes that are held.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    /// Makes a write, unless it fails, and replies to it.
    private func write(
        _ names: [String], _ policy: WritePolicy?, _ body: () -> Void,
        _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let (reply, isHolding) = state.withLock { state in
            state.policies.append(policy)
            state.expired.subtract(names)
            return (names.compactMap { state.replies[$0] }.first ?? .success, state.isHolding)
        }
        let answer: @Sendable () -> Void
        switch reply {
        case .success: answer = { completion(nil) }
        case .failure(let error): answer = { completion(error) }
        case .never: return
        case .twice:
            answer = {
                completion(nil)
                completion(CacheFailure(number: 2))
            }
        }
        if case .failure = reply {} else { body() }
        if isHolding { state.withLock { $0.held.append(answer) } } else { answer() }
    }

    func setModels(
        _ models: [any SimpleModel], options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let names = models.compactMap(\.modelIdentifier)
        write(
            names, options.policy,
            {
                for (name, model) in zip(names, models) {
                    setModel(model, forKey: name, context: nil)
                }
            }, completion)
    }

    func setModel(
        _ model: any SimpleModel, forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        write(
            [cacheKey], options.policy, { setModel(model, forKey: cacheKey, context: nil) },
            completion)
    }

    func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        write(
            [cacheKey], options.policy,
            { setCollection(collection, forKey: cacheKey, context: nil) }, completion)
    }

    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        state.withLock { $0.policies.append(options.policy) }
        editCollection(
            edit, forKey: cacheKey, expecting: neighbours, context: nil, completion: completion)
    }

    func moveElement(
        from source: Int, to destination: Int, inCollection cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        inner.move(
            from: source, to: destination, inCollection: cacheKey, expecting: neighbours,
            completion: completion)
    }

    func deleteModel(
        _ model: any SimpleModel, forKey cacheKey: String?,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        write(
            [cacheKey ?? ""], nil, { deleteModel(model, forKey: cacheKey, context: nil) },
            completion)
    }

    func readModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        if isExpired(cacheKey) {
            return completion(.failure(.expired(path: cacheKey, age: .seconds(60))))
        }
        if let model = inner.model(cacheKey, type) { return completion(.success(model)) }
        completion(.failure(state.withLock { $0.misses[cacheKey] } ?? .notFound))
    }

    func readCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<[T], MissReason>) -> Void
    ) {
        state.withLock { $0.collectionReads += 1 }
        if isExpired(cacheKey) {
            return completion(.failure(.expired(path: cacheKey, age: .seconds(60))))
        }
        if let list = inner.collection(cacheKey, type) { return completion(.success(list)) }
        completion(.failure(state.withLock { $0.misses[cacheKey] } ?? .notFound))
    }

    func readStaleModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<T>, MissReason>) -> Void
    ) {
        guard isExpired(cacheKey), let model = inner.model(cacheKey, type) else {
            return readModel(type, forKey: cacheKey) {
                completion($0.map { StaleRead($0, isExpired: false) })
            }
        }
        completion(.success(StaleRead(model, isExpired: true)))
    }

    func readStaleCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<[T]>, MissReason>) -> Void
    ) {
        guard isExpired(cacheKey), let list = inner.collection(cacheKey, type) else {
            return readCollection(of: type, forKey: cacheKey) {
                completion($0.map { StaleRead($0, isExpired: false) })
            }
        }
        completion(.success(StaleRead(list, isExpired: true)))
    }

    func currentModel<T: SimpleModel>(
        _ type: T.Type, identifier: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void
    ) {
        readStaleModel(type, forKey: identifier) { completion($0.map(\.value)) }
    }

    func updateModel<T: SimpleModel>(
        _ type: T.Type, identifier: String, _ change: @escaping @Sendable (T) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        guard let model = inner.model(identifier, type) else {
            return completion(.failure(MissReason.notFound))
        }
        let result = Result { try change(model) }
        write(
            [identifier], nil,
            {
                if let new = try? result.get() { setModel(new, forKey: identifier, context: nil) }
            }, { error in completion(error.map { .failure($0) } ?? result) })
    }

    func followChanges(
        notBy source: Int, _ handler: @escaping @Sendable (CacheChanges) -> Void
    ) -> CacheObservation {
        state.withLock { $0.handler = handler }
        return CacheObservation {}
    }

    func flush() async throws {}

    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, context: Any?,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void
    ) {
        inner.editCollection(
            edit, forKey: cacheKey, expecting: neighbours, context: context, completion: completion)
    }

    func modelForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) { inner.modelForKey(cacheKey, context: context, completion: completion) }

    func setModel(_ model: any SimpleModel, forKey cacheKey: String, context: Any?) {
        inner.setModel(model, forKey: cacheKey, context: context)
    }

    func collectionForKey<T: SimpleModel>(
        _ cacheKey: String?, context: Any?,
        completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
    ) { inner.collectionForKey(cacheKey, context: context, completion: completion) }

    func setCollection(_ collection: [any SimpleModel], forKey cacheKey: String, context: Any?) {
        inner.setCollection(collection, forKey: cacheKey, context: context)
    }

    func deleteModel(_ model: any SimpleModel, forKey cacheKey: String?, context: Any?) {
        inner.deleteModel(model, forKey: cacheKey, context: context)
    }
}
