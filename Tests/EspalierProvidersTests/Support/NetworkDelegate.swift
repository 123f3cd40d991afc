import EspalierProviders
import EspalierTestSupport

/// A delegate that records what it is told of the network.
@MainActor
final class NetworkDelegate: DataProviderDelegate, CollectionDataProviderDelegate {
    var outcomes: [String] = []
    var failures: [SaveFailure] = []
    var updates = 0
    var changes: [CollectionChange] = []
    let fetched = Counter()

    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
        updates += 1
    }

    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?
    ) { changes.append(collectionChanges) }

    func dataProvider<T>(_ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure) {
        failures.append(failure)
    }

    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, failedToSave failure: SaveFailure
    ) { failures.append(failure) }

    func dataProvider<T>(_ dataProvider: DataProvider<T>, fetched outcome: NetworkOutcome) {
        record(outcome)
    }

    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, fetched outcome: NetworkOutcome
    ) { record(outcome) }

    private func record(_ outcome: NetworkOutcome) {
        switch outcome {
        case .shown: outcomes.append("shown")
        case .outOfDate: outcomes.append("out of date")
        case .failed(let error): outcomes.append("failed: \(error is NetworkFailure)")
        }
        fetched.add()
    }
}
