import EspalierModels
import EspalierProviders
import Testing

/// A manager over a cache, and its providers.
@MainActor
struct Rig<Cache: CacheDelegate> {
    let cache: Cache
    let manager: DataModelManager

    init(_ cache: Cache) {
        self.cache = cache
        manager = DataModelManager(cacheDelegate: cache)
    }

    func single<T: SimpleModel>(_ type: T.Type = ParentModel.self, _ delegate: Delegate? = nil)
        -> DataProvider<T>
    {
        let provider = DataProvider<T>(dataModelManager: manager)
        provider.delegate = delegate
        return provider
    }

    /// Returns a provider that has fetched the collection under `key`.
    func collection<T: SimpleModel>(
        _ key: String? = nil, of type: T.Type = ParentModel.self,
        _ delegate: (any CollectionDataProviderDelegate)? = nil
    ) async -> CollectionDataProvider<T> {
        let provider = CollectionDataProvider<T>(dataModelManager: manager)
        if let key { _ = try? await provider.fetch(key) }
        provider.delegate = delegate
        return provider
    }

    func flush() async { await manager.flush() }
}

extension Rig where Cache == MemoryCache {
    init() { self.init(MemoryCache()) }
}

/// Waits until `condition` holds; records an issue if that takes too long.
@MainActor
func until(
    _ condition: @MainActor () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let start = ContinuousClock.now
    while !condition() {
        guard ContinuousClock.now - start < .seconds(10) else {
            Issue.record(
                "The condition did not become true within 10 seconds.",
                sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(1))
    }
}

struct CacheFailure: Error, Equatable {
    var number = 0
}
