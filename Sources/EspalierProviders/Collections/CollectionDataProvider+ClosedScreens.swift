import EspalierModels

// Edits of collections that nobody shows, or that may be shown by somebody: they are loaded, edited
// and saved.
extension CollectionDataProvider {
    /// Sets the collection under a key.
    public static func setData(
        _ data: [T], cacheKey: String, dataModelManager: DataModelManager,
        context: (any Sendable)? = nil
    ) {
        CollectionDataProvider(dataModelManager: dataModelManager).setData(
            data, cacheKey: cacheKey, context: context)
    }

    /// Inserts into the collection under a key.
    ///
    /// - Parameters: - index: where, given the elements that are there. - completion: called on the
    ///   main actor once it is inserted, though it may not be saved yet: with nil, or with why not.
    ///     `DataProviderError.notFound` where there is no collection.
    public static func insert(
        _ newData: [T], at index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, context: (any Sendable)? = nil,
        completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, dataModelManager, context, completion) { provider in
            let index = index(provider.data)
            guard index >= 0, index <= provider.count else { return .outOfRange }
            provider.insert(newData, at: index, context: context)
            return nil
        }
    }

    /// Appends to the collection under a key; makes it where there is none. Where the cache reports
    /// an error, nothing is appended: what it could not read may be there.
    public static func append(
        _ newData: [T], cacheKey: String, dataModelManager: DataModelManager,
        context: (any Sendable)? = nil,
        completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        load(cacheKey, dataModelManager, context) { provider, _, error in
            if error == nil { provider.append(newData, context: context) }
            completion?(error)
        }
    }

    /// Updates an element of the collection under a key.
    public static func update(
        _ element: T, at index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager, context: (any Sendable)? = nil,
        completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, dataModelManager, context, completion) { provider in
            let index = index(provider.data)
            guard provider.data.indices.contains(index) else { return .outOfRange }
            provider.update(element, at: index, context: context)
            return nil
        }
    }

    /// Takes an element out of the collection under a key.
    public static func removeAtIndex(
        _ index: @escaping @MainActor ([T]) -> Int, cacheKey: String,
        dataModelManager: DataModelManager,
        context: (any Sendable)? = nil, completion: (@MainActor ((any Error)?) -> Void)? = nil
    ) {
        edit(cacheKey, dataModelManager, context, completion) { provider in
            let index = index(provider.data)
            guard provider.data.indices.contains(index) else { return .outOfRange }
            provider.remove(at: index, context: context)
            return nil
        }
    }

    private static func edit(
        _ cacheKey: String, _ manager: DataModelManager, _ context: (any Sendable)?,
        _ completion: (@MainActor ((any Error)?) -> Void)?,
        _ edit: @escaping @MainActor (CollectionDataProvider) -> DataProviderError?
    ) {
        load(cacheKey, manager, context) { provider, elements, error in
            guard elements != nil else {
                completion?(error ?? DataProviderError.notFound)
                return
            }
            let failure = edit(provider)
            completion?(failure)
        }
    }

    private static func load(
        _ cacheKey: String, _ manager: DataModelManager, _ context: (any Sendable)?,
        _ body: @escaping @MainActor (CollectionDataProvider, [T]?, (any Error)?) -> Void
    ) {
        manager.sharedCollections.inTurn(cacheKey, of: T.self) { done in
            let provider = CollectionDataProvider(dataModelManager: manager)
            provider.fetchDataFromCache(withCacheKey: cacheKey, context: context) {
                elements, error in
                body(provider, elements, error)
                done()
            }
        }
    }
}
