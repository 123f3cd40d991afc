/// Told when a data provider's model has changed through somebody else. On the main actor.
@preconcurrency @MainActor
public protocol DataProviderDelegate: AnyObject {
    /// - Parameters:
    ///   - dataProvider: which one; compare by `===` where there are several.
    ///   - context: what was passed along with the change.
    func dataProviderHasUpdatedData<T>(_ dataProvider: DataProvider<T>, context: Any?)
}
