import EspalierModels
public import EspalierRecords

// Edits without a provider: the collection is loaded, edited and saved. Providers that show it are
// updated as by an edit of another provider. Edits of the same collection run one after the other,
// in the order of the calls.
extension CollectionDataProvider {
    /// Sets the collection under a key, saves it, and updates all providers that show its elements:
    /// at once, unless earlier static edits of it wait for the cache. `DataModelManager.saving`
    /// does not wait for a static edit that waits.
    ///
    /// - Parameters:
    ///   - data: The elements, in their order.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - policy: As for the function of the same name of a provider.
    ///   - context: A value that is passed to the delegates and to the cache.
    public static func setData(
        _ data: [T], cacheKey: String, dataModelManager: DataModelManager,
        policy: WritePolicy? = nil, context: (any Sendable)? = nil
    ) {
        dataModelManager.sharedCollections.enqueueEdit(of: cacheKey, T.self) { done in
            CollectionDataProvider(dataModelManager: dataModelManager).setData(
                data, cacheKey: cacheKey, policy: policy, context: context)
            done()
        }
    }

    /// Inserts elements into the collection under a key.
    ///
    /// ```swift
    /// CollectionDataProvider.insert(
    ///     [message], at: { _ in 0 }, cacheKey: "inbox", dataModelManager: .shared)
    /// ```
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - index: Returns the index in `0 ... count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - policy: As for the function of the same name of a provider.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: Called on the main actor, with `nil` when the elements are inserted, even if
    ///     they are not saved yet. Otherwise called with the cache's error, or with
    ///     `DataProviderError.notFound` or `.outOfRange`; the collection is then unchanged.
    public static func insert(
        _ newData: [T], at index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil, completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, at: index, mayBeCount: true, dataModelManager, context, completion) {
            $0.insert(newData, at: $1, policy: policy, context: context)
        }
    }

    /// Appends elements to the collection under a key, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - newData: The new elements, in their order.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - policy: As for the function of the same name of a provider.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: Called on the main actor, with `nil` when the elements are appended, even if
    ///     they are not saved yet; or with the cache's error, or a `MissReason` if the collection
    ///     is too large to be read. After an error nothing is appended, because the key may hold a
    ///     collection that could not be read. One that has expired is read all the same.
    public static func append(
        _ newData: [T], cacheKey: String, dataModelManager: DataModelManager,
        policy: WritePolicy? = nil, context: (any Sendable)? = nil,
        completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        load(cacheKey, dataModelManager, context) { provider, _, error in
            if error == nil { provider.append(newData, policy: policy, context: context) }
            completion?(error)
        }
    }

    /// Puts an element in place of another in the collection under a key.
    ///
    /// - Parameters:
    ///   - element: The new element.
    ///   - index: Returns the index in `0 ..< count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - policy: As for the function of the same name of a provider.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: As for `insert`.
    public static func update(
        _ element: T, at index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, policy: WritePolicy? = nil,
        context: (any Sendable)? = nil, completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, at: index, dataModelManager, context, completion) {
            $0.update(element, at: $1, policy: policy, context: context)
        }
    }

    /// Removes an element from the collection under a key. The model is not deleted.
    ///
    /// - Parameters:
    ///   - index: Returns the index in `0 ..< count`, given the elements of the collection.
    ///   - cacheKey: The key of the collection.
    ///   - dataModelManager: The manager.
    ///   - context: A value that is passed to the delegates and to the cache.
    ///   - completion: As for `insert`.
    public static func removeAtIndex(
        _ index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager,
        context: (any Sendable)? = nil, completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, at: index, dataModelManager, context, completion) {
            $0.remove(at: $1, context: context)
        }
    }

    private static func edit(
        _ cacheKey: String, at index: @escaping @MainActor ([T]) -> Int, mayBeCount: Bool = false,
        _ manager: DataModelManager, _ context: (any Sendable)?,
        _ completion: (@MainActor ((any Error)?) -> Void)?,
        _ edit: @escaping @MainActor (CollectionDataProvider, Int) -> Void
    ) {
        load(cacheKey, manager, context) { provider, elements, error in
            guard elements != nil else {
                completion?(error ?? DataProviderError.notFound)
                return
            }
            let index = index(provider.data)
            let isInside = index >= 0 && index < provider.count + (mayBeCount ? 1 : 0)
            if isInside { edit(provider, index) }
            completion?(isInside ? nil : DataProviderError.outOfRange)
        }
    }

    private static func load(
        _ cacheKey: String, _ manager: DataModelManager, _ context: (any Sendable)?,
        _ body: @escaping @MainActor (CollectionDataProvider, [T]?, (any Error)?) -> Void
    ) {
        manager.sharedCollections.enqueueEdit(of: cacheKey, T.self) { done in
            let provider = CollectionDataProvider(dataModelManager: manager)
            // An edit of a collection that has expired does not lose its other elements.
            let record = MissRecord(acceptsExpired: true)
            provider.readCache(cacheKey, context, record) { elements, error in
                // Elements may have been set since.
                body(provider, elements, elements == nil ? error ?? record.reasonOfStored : nil)
                done()
            }
        }
    }
}
