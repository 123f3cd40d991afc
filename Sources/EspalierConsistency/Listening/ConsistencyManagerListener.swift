public import EspalierModels

/// Shows a model that is to be kept consistent: a screen, a view model, a data provider.
///
/// ```swift
/// final class ProfileScreen: ConsistencyManagerListener {
///     var person: Person?
///
///     func show(_ person: Person) {
///         self.person = person
///         consistencyManager.addListener(self)        // whenever the model is another one
///     }
///
///     func currentModel() -> (any ConsistencyManagerModel)? { person }
///
///     func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?) {
///         person = model as? Person
///     }
/// }
/// ```
///
/// Both are called on the main actor. The manager holds listeners weakly: nothing has to be removed
/// by hand.
@preconcurrency @MainActor
public protocol ConsistencyManagerListener: AnyObject {
    /// What is shown now; nil for nothing. Called at every update that may touch it: to be answered
    /// at once, and the same until it changes.
    func currentModel() -> (any ConsistencyManagerModel)?

    /// Something in the tree that `currentModel` returned has changed; `model` is the new tree, nil
    /// if it was deleted.
    ///
    /// The new tree's children are listened to already. Called once for an update, whatever it
    /// changes, in the order in which updates were submitted.
    ///
    /// - Parameters:
    ///   - updates: the identifiers of what changed or was deleted, and of the nodes above it.
    ///   - context: what was passed along with the update.
    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
}
