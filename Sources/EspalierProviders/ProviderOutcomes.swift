import EspalierModels
public import EspalierRecords

/// What a fetch has found: the value, or the reason why there is none.
///
/// ```swift
/// switch try await provider.fetchOutcome("Person:1") {
/// case .hit(let person): show(person)
/// case .miss(.incomplete(let fields)?): load(fields)      // never fetched
/// case .miss(let reason): load("Person:1", reason?.description ?? "not in the cache")
/// }
/// ```
public enum FetchOutcome<Value: Sendable>: Sendable {
    /// The value that is shown now.
    case hit(Value)
    /// There is no value. The reason is nil if the cache gives none, because it is no
    /// `SharedCacheDelegate`, or because the key was nil.
    ///
    /// A cache does not remember what it has evicted: an evicted model is `.notFound`, like one
    /// that was never stored.
    case miss(MissReason?)

    /// The value; nil for a miss.
    public var value: Value? {
        if case .hit(let value) = self { value } else { nil }
    }
}

extension DataProvider {
    /// Reads a model from the cache and shows it, like `fetch`, and says why if there is none.
    ///
    /// - Parameters:
    ///   - cacheKey: The identifier of the model, or another key under which it was saved; `nil`
    ///     for a cache that finds the model by `context`.
    ///   - context: A value that is passed to the cache.
    /// - Returns: The model that is shown then, or the reason of the miss.
    /// - Throws: The cache's error, or `DataProviderError.noAnswer`. A model whose type can't be
    ///   stored, and a cache that can't be read, are errors.
    public func fetchOutcome(
        _ cacheKey: String?, context: (any Sendable)? = nil
    ) async throws -> FetchOutcome<T> {
        let outcome = try await awaitReply { reply in
            fetchDataFromCache(withCacheKey: cacheKey, context: context) { model, error in
                let outcome = model.map { FetchOutcome.hit($0) } ?? .miss(self.missReason)
                reply(model == nil && error != nil ? nil : outcome, error)
            }
        }
        return outcome ?? .miss(nil)
    }

    /// Shows `data` like `setData`, and returns when the cache has stored it.
    ///
    /// ```swift
    /// try await provider.save(person)
    /// ```
    ///
    /// - Parameters:
    ///   - data: The new model.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil
    ///     for the manager's policy, or else what the types say.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Throws: The reason why the model is not stored; see `DataModelManager.saving`. It is shown
    ///   all the same.
    public func save(
        _ data: T, policy: WritePolicy? = nil, context: (any Sendable)? = nil
    ) async throws {
        try await dataModelManager.saving { setData(data, policy: policy, context: context) }
    }
}

extension CollectionDataProvider {
    /// Shows the collection under a key, like `fetch`, and says why if there is none.
    ///
    /// - Parameters:
    ///   - cacheKey: The key; `nil` for a cache that finds the collection by `context`.
    ///   - context: A value that is passed to the cache.
    /// - Returns: The elements that are shown then, or the reason of the miss.
    /// - Throws: The cache's error, or `DataProviderError.noAnswer`. Elements whose type can't be
    ///   stored, and a cache that can't be read, are errors.
    public func fetchOutcome(
        _ cacheKey: String?, context: (any Sendable)? = nil
    ) async throws -> FetchOutcome<[T]> {
        let outcome = try await awaitReply { reply in
            fetchDataFromCache(withCacheKey: cacheKey, context: context) { elements, error in
                let outcome = elements.map { FetchOutcome.hit($0) } ?? .miss(self.missReason)
                reply(elements == nil && error != nil ? nil : outcome, error)
            }
        }
        return outcome ?? .miss(nil)
    }

    /// Shows `data` as the collection under `cacheKey` like `setData`, and returns when the cache
    /// has stored it. To wait for an edit, make it in `DataModelManager.saving`.
    ///
    /// - Parameters:
    ///   - data: The elements, in their order.
    ///   - cacheKey: The key.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil
    ///     for the manager's policy, or else what the types say.
    ///   - context: A value that is passed to the delegates and to the cache.
    /// - Throws: The reason why the collection is not stored; see `DataModelManager.saving`. It is
    ///   shown all the same.
    public func save(
        _ data: [T], cacheKey: String, policy: WritePolicy? = nil, context: (any Sendable)? = nil
    ) async throws {
        try await dataModelManager.saving {
            setData(data, cacheKey: cacheKey, policy: policy, context: context)
        }
    }
}
