import EspalierConsistency
import EspalierProviders

@MainActor
final class Delegate: DataProviderDelegate, CollectionDataProviderDelegate, BatchDataProviderListenerDelegate {
    var contexts: [String?] = []
    var changes: [CollectionChange] = []
    var touched: [[ObjectIdentifier]] = []

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        contexts.append(context as? String)
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, context: Any?
    ) {
        contexts.append(context as? String)
        changes.append(collectionChanges)
    }

    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?
    ) {
        contexts.append(context as? String)
        touched.append(dataProviders.map { ObjectIdentifier($0) })
    }
}
