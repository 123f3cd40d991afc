public import EspalierRecords

/// A cache that merges partial models, answers each write, and tells what others have changed in
/// it: other managers, the app's own calls of the cache, other processes.
///
/// A `DataModelManager` made by `init(cache:)` follows such a cache, so that its screens show what
/// the cache has, whichever caller wrote it. `NormalizedCache` conforms.
///
/// The functions may be called on any thread, also concurrently, and take effect in the order of
/// the calls, together with those of `CacheDelegate`. Each completion is called exactly once, on
/// any thread.
public protocol SharedCacheDelegate: CollectionCacheDelegate {
    /// Stores models in one step: all of them, or none.
    ///
    /// - Parameters:
    ///   - models: The models. Each must have an identifier.
    ///   - options: The policy, and who writes.
    ///   - completion: Receives nil once the models are stored, or the reason why they are not.
    func setModels(
        _ models: [any SimpleModel], options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Stores a model under a key.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - cacheKey: The identifier of the model, or another key.
    ///   - options: The policy, and who writes.
    ///   - completion: Receives nil once the model is stored, or the reason why it is not.
    func setModel(
        _ model: any SimpleModel, forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Stores a collection, in place of any that is there.
    ///
    /// - Parameters:
    ///   - collection: The elements in their order.
    ///   - cacheKey: The key of the collection.
    ///   - options: The policy, and who writes.
    ///   - completion: Receives nil once the collection is stored, or the reason why it is not.
    func setCollection(
        _ collection: [any SimpleModel], forKey cacheKey: String, options: CacheWriteOptions,
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Applies an edit, as `editCollection(_:forKey:expecting:context:completion:)` does.
    ///
    /// - Parameters:
    ///   - edit: The edit.
    ///   - cacheKey: The key of the collection.
    ///   - neighbours: The sender's elements around the first index of the edit, before the edit.
    ///   - options: The policy, and who writes.
    ///   - completion: Receives the outcome.
    func editCollection(
        _ edit: CollectionEdit<any SimpleModel>, forKey cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void)

    /// Moves an element of a collection. Its model stays as the cache has it.
    ///
    /// - Parameters:
    ///   - source: The index of the element.
    ///   - destination: The index of the element after the move.
    ///   - cacheKey: The key of the collection.
    ///   - neighbours: The sender's elements around `source`, before the move.
    ///   - options: Who writes.
    ///   - completion: Receives the outcome.
    func moveElement(
        from source: Int, to destination: Int, inCollection cacheKey: String,
        expecting neighbours: CollectionNeighbours, options: CacheWriteOptions,
        completion: @escaping @Sendable (CollectionEditOutcome) -> Void)

    /// Deletes a model, as `deleteModel(_:forKey:context:)` does.
    ///
    /// - Parameters:
    ///   - model: The model to delete.
    ///   - cacheKey: The key of the model, besides its identifier.
    ///   - completion: Receives nil once the model is deleted, or the reason why it is not.
    func deleteModel(
        _ model: any SimpleModel, forKey cacheKey: String?,
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Reads the model under a key, together with all writes submitted before.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - cacheKey: The identifier of the model, or another key.
    ///   - completion: Receives the model, or the reason why the read is a miss.
    func readModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void)

    /// Reads the collection under a key, together with all writes submitted before.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - cacheKey: The key of the collection.
    ///   - completion: Receives the elements in their order, or the reason why the read is a miss.
    func readCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<[T], MissReason>) -> Void)

    /// Reads the model under a key like `readModel`, also if it has expired, and tells whether it
    /// has. By default, `readModel` answers and nothing expires.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - cacheKey: The identifier of the model, or another key.
    ///   - completion: Receives the model, or the reason why the read is a miss.
    func readStaleModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<T>, MissReason>) -> Void)

    /// Reads the collection under a key like `readCollection`, also if it has expired, and tells
    /// whether it has. By default, `readCollection` answers and nothing expires.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - cacheKey: The key of the collection.
    ///   - completion: Receives the elements in their order, or the reason why the read is a miss.
    func readStaleCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<[T]>, MissReason>) -> Void)

    /// Reads the model with an identifier, together with all writes submitted before.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - identifier: The identifier.
    ///   - completion: Receives the model, or the reason why the read is a miss.
    func currentModel<T: SimpleModel>(
        _ type: T.Type, identifier: String,
        completion: @escaping @Sendable (Result<T, MissReason>) -> Void)

    /// Changes a stored model in one step: no other write comes between the reading and the
    /// writing.
    ///
    /// - Parameters:
    ///   - type: The type as which the model is read.
    ///   - identifier: The identifier of the model.
    ///   - change: Returns the new model for the stored one. Called on any thread, perhaps more
    ///     than once; the last call counts.
    ///   - completion: Receives the new model once it is stored; or the error of `change`, or the
    ///     reason why there is no such model or it is not stored.
    func updateModel<T: SimpleModel>(
        _ type: T.Type, identifier: String, _ change: @escaping @Sendable (T) throws -> T,
        completion: @escaping @Sendable (Result<T, any Error>) -> Void)

    /// Calls `handler` with the changes of each commit from now on, in the order of the commits.
    ///
    /// - Parameters:
    ///   - source: The source whose writes are left out; see `CacheWriteOptions`.
    ///   - handler: Called on any thread, one call after the other.
    /// - Returns: The observation, which ends when it is released.
    func followChanges(
        notBy source: Int, _ handler: @escaping @Sendable (CacheChanges) -> Void
    ) -> CacheObservation
}

extension SharedCacheDelegate {
    /// Reads by `readModel`: nothing expires.
    public func readStaleModel<T: SimpleModel>(
        _ type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<T>, MissReason>) -> Void
    ) {
        readModel(type, forKey: cacheKey) { completion($0.map { StaleRead($0, isExpired: false) }) }
    }

    /// Reads by `readCollection`: nothing expires.
    public func readStaleCollection<T: SimpleModel>(
        of type: T.Type, forKey cacheKey: String,
        completion: @escaping @Sendable (Result<StaleRead<[T]>, MissReason>) -> Void
    ) {
        readCollection(of: type, forKey: cacheKey) {
            completion($0.map { StaleRead($0, isExpired: false) })
        }
    }
}

/// What a cache has, and whether it has expired.
public struct StaleRead<Value: Sendable>: Sendable {
    /// The model, or the elements.
    public var value: Value
    /// Whether a record of it is older than it may be.
    public var isExpired: Bool

    /// Makes an answer.
    ///
    /// - Parameters:
    ///   - value: The model, or the elements.
    ///   - isExpired: Whether a record of it is older than it may be.
    public init(_ value: Value, isExpired: Bool) {
        self.value = value
        self.isExpired = isExpired
    }
}

/// How a cache treats a write.
public struct CacheWriteOptions: Sendable, Hashable {
    /// What becomes of fields that are nil, and of those that other types declare. With nil, nodes
    /// whose types merge are merged, and all nodes if the type of the first model merges.
    public var policy: WritePolicy?
    /// A number for who writes, so that a follower of the changes can leave out its own; 0 stands
    /// for no writer. A cache reports a write in which it has merged a node with 0: the writer does
    /// not know the merged node.
    public var source: Int
    /// Whether models that the cache can read stay as they are; only `setCollection` heeds it. A
    /// manager sets it when it sends a collection again, because an edit of it was out of date: the
    /// elements may have changed in the cache, and the manager may not know yet.
    public var keepsModels: Bool

    /// Makes options.
    ///
    /// - Parameters:
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - source: A number for who writes; 0 stands for no writer.
    ///   - keepsModels: Whether models that the cache can read stay as they are.
    public init(policy: WritePolicy? = nil, source: Int = 0, keepsModels: Bool = false) {
        self.policy = policy
        self.source = source
        self.keepsModels = keepsModels
    }
}

/// What a commit has changed in a cache, by identifier.
public struct CacheChanges: Sendable, Hashable {
    /// The models whose stored content changed.
    public var written: [String]
    /// The models that were deleted.
    public var deleted: [String]
    /// The keys whose model or collection changed or was removed.
    public var keys: [String]
    /// Whether anything may have changed: the cache was emptied, or the changes are not known.
    public var isReset: Bool
    /// Whether the cache was emptied. Models that can't be read any more then leave the screens.
    /// After any other reset they stay, because they may have been evicted.
    public var isEmptied: Bool

    /// Makes a list of changes.
    ///
    /// - Parameters:
    ///   - written: The models whose stored content changed.
    ///   - deleted: The models that were deleted.
    ///   - keys: The keys whose model or collection changed or was removed.
    ///   - isReset: Whether anything may have changed. An emptied cache is reset in any case.
    ///   - isEmptied: Whether the cache was emptied.
    public init(
        written: [String] = [], deleted: [String] = [], keys: [String] = [], isReset: Bool = false,
        isEmptied: Bool = false
    ) {
        self.written = written
        self.deleted = deleted
        self.keys = keys
        self.isReset = isReset || isEmptied
        self.isEmptied = isEmptied
    }

    /// Whether nothing changed.
    public var isEmpty: Bool { written.isEmpty && deleted.isEmpty && keys.isEmpty && !isReset }
}

/// An observation of a cache. It ends when the last reference to it is released.
public final class CacheObservation: Sendable {
    private let onFlush: @Sendable () async -> Void
    private let onEnd: @Sendable () -> Void

    /// Makes an observation.
    ///
    /// - Parameters:
    ///   - onEnd: Called once, when the observation is released.
    ///   - onFlush: Returns when the handler has returned from every change that had arrived before
    ///     the call. The default returns at once.
    public init(
        onEnd: @escaping @Sendable () -> Void, onFlush: @escaping @Sendable () async -> Void = {}
    ) {
        self.onFlush = onFlush
        self.onEnd = onEnd
    }

    /// Waits until the observer has handled every change that has arrived. All earlier commits of
    /// this process have; a commit of another process or host may arrive later.
    ///
    /// Returns at once for an observation of one node or list, for a cache that does not support
    /// it, and after the cache was closed.
    public func flush() async { await onFlush() }

    deinit { onEnd() }
}
