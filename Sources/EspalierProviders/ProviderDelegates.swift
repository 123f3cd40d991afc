/// Is notified when the model of a data provider was changed by others, and when a write of the
/// provider could not be stored.
///
/// ```swift
/// extension Screen: DataProviderDelegate {
///     func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?) {
///         draw()
///     }
///
///     func dataProvider<T>(_ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure) {
///         show(failure.error)
///     }
/// }
/// ```
@preconcurrency @MainActor
public protocol DataProviderDelegate: AnyObject {
    /// Reports that the model has changed. Called on the main actor, once for each update.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - context: The context of the update.
    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?)

    /// Reports what has changed. Called on the main actor, directly before
    /// `dataProviderHasUpdatedData`. Does nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - change: The change, with the model before and the identifiers of the changed nodes.
    func dataProvider<T>(_ dataProvider: DataProvider<T>, didChange change: DataChange<T>)

    /// Reports that a write of this provider could not be stored. The provider goes on showing what
    /// it shows. Called on the main actor, once for each call of the provider that failed. Does
    /// nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - failure: What could not be stored, and why: as `DataModelManager.failures` tells.
    func dataProvider<T>(_ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure)

    /// Reports what has become of the network's answer to a fetch with a policy. Called on the main
    /// actor, once for each fetch of this provider that has asked the network, also if it asked
    /// behind the answer of the cache; not for a caller who was cancelled. Does nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - outcome: What has become of the answer.
    func dataProvider<T>(_ dataProvider: DataProvider<T>, fetched outcome: NetworkOutcome)
}

extension DataProviderDelegate {
    /// Does nothing.
    public func dataProvider<T>(_ dataProvider: DataProvider<T>, didChange change: DataChange<T>) {}

    /// Does nothing.
    public func dataProvider<T>(
        _ dataProvider: DataProvider<T>, failedToSave failure: SaveFailure
    ) {}

    /// Does nothing.
    public func dataProvider<T>(
        _ dataProvider: DataProvider<T>, fetched outcome: NetworkOutcome
    ) {}
}

/// Is notified when the collection of a data provider was changed by others, and when a write of
/// the provider could not be stored.
@preconcurrency @MainActor
public protocol CollectionDataProviderDelegate: AnyObject {
    /// Reports that the collection has changed. Called on the main actor.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - collectionChanges: The steps from the elements that were shown to those that are shown
    ///     now.
    ///   - context: The context of the change.
    func collectionDataProviderHasUpdatedData<T>(
        _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange,
        context: Any?)

    /// Reports which nodes have changed. Called on the main actor, directly before
    /// `collectionDataProviderHasUpdatedData`. Does nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - identifiers: See `CollectionDataChange.changedIdentifiers`; the union, if several
    ///     changes are reported as one.
    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, didChange identifiers: Set<String>)

    /// Reports that a write of this provider could not be stored. All providers of the collection
    /// go on showing what they show. Called on the main actor, once for each call of the provider
    /// that failed. Does nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - failure: What could not be stored, and why: as `DataModelManager.failures` tells.
    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, failedToSave failure: SaveFailure)

    /// Reports what has become of the network's answer to a fetch with a policy. Called as
    /// `DataProviderDelegate.dataProvider(_:fetched:)` is. Does nothing by default.
    ///
    /// - Parameters:
    ///   - dataProvider: The provider; compare by `===` if the delegate has several.
    ///   - outcome: What has become of the answer.
    func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, fetched outcome: NetworkOutcome)
}

extension CollectionDataProviderDelegate {
    /// Does nothing.
    public func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, didChange identifiers: Set<String>
    ) {}

    /// Does nothing.
    public func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, failedToSave failure: SaveFailure
    ) {}

    /// Does nothing.
    public func collectionDataProvider<T>(
        _ dataProvider: CollectionDataProvider<T>, fetched outcome: NetworkOutcome
    ) {}
}
