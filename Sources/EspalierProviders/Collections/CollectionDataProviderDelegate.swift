/// Told when a collection has changed through somebody else. On the main actor.
@preconcurrency @MainActor
public protocol CollectionDataProviderDelegate: AnyObject {
    /// - Parameters:
    ///   - collectionChanges: the steps from what was shown to what is.
    ///   - context: what was passed along with the change.
    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?)
}
