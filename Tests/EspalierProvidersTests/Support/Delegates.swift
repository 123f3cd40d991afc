import EspalierConsistency
import EspalierProviders

/// A delegate of every kind, which records its calls and runs a closure of the test.
@MainActor
final class Delegate: DataProviderDelegate, CollectionDataProviderDelegate,
    BatchDataProviderListenerDelegate
{
    var contexts: [String?] = []
    var changes: [CollectionChange] = []
    var touched: [[ObjectIdentifier]] = []
    /// Runs after each call.
    var onCall: () -> Void = {}

    var calls: Int { contexts.count }

    init(_ onCall: @escaping () -> Void = {}) { self.onCall = onCall }

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        contexts.append(context as? String)
        onCall()
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        contexts.append(context as? String)
        changes.append(collectionChanges)
        onCall()
    }

    func batchDataProviderListener(
        _ batchListener: BatchDataProviderListener,
        hasUpdatedDataProviders dataProviders: [any ConsistencyManagerListener], context: Any?
    ) {
        contexts.append(context as? String)
        touched.append(dataProviders.map { ObjectIdentifier($0) })
        onCall()
    }
}

/// A delegate that shows a collection by the steps that it gets, as a table does.
@MainActor
final class MirrorDelegate<Element>: CollectionDataProviderDelegate {
    var elements: [Element] = []

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) {
        guard let new = dataProvider.data as? [Element] else { return }
        guard case .changes(let changes) = collectionChanges else { return elements = new }
        var inserted: [Int] = []
        for change in changes {
            switch change {
            case .update(let index): inserted.append(index)
            case .delete(let index): elements.remove(at: index)
            case .insert(let index):
                elements.insert(new[index], at: index)
                inserted.append(index)
            }
        }
        for index in inserted where elements.indices.contains(index) {
            elements[index] = new[index]
        }
    }
}
