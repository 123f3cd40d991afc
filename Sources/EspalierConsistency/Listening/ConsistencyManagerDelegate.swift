public import EspalierModels

/// Hears of mistakes in models and of each replacement, to assert and to log. Called on the main
/// actor.
@preconcurrency @MainActor
public protocol ConsistencyManagerDelegate: AnyObject {
    /// A model does not keep its promises: `error` is the raw value of a `CriticalError`. What was
    /// asked was not done for that model.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String)

    /// A listener's node is about to be replaced.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager,
        willReplaceModel model: any ConsistencyManagerModel,
        withModel newModel: any ConsistencyManagerModel, context: Any?)
}

extension ConsistencyManagerDelegate {
    public func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String
    ) {}

    public func consistencyManager(
        _ consistencyManager: ConsistencyManager,
        willReplaceModel model: any ConsistencyManagerModel,
        withModel newModel: any ConsistencyManagerModel, context: Any?
    ) {}
}

/// What a `ConsistencyManagerDelegate` is told of: mistakes in the app's models.
public enum CriticalError: String, Error, Sendable {
    /// A model without identifier was to be deleted: nobody can tell which.
    case DeleteIDFailure
    /// `map` returned a model of another type than its own.
    case WrongMapClass
}
