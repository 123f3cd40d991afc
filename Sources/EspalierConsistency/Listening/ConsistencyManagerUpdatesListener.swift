public import EspalierModels

/// Hears of every change that passes through a consistency manager, whoever shows what it changes.
///
/// For whoever waits for models that do not exist yet, or keeps lists by a rule. Called on the main
/// actor once for each update, after the listeners: to be answered at once.
@preconcurrency @MainActor
public protocol ConsistencyManagerUpdatesListener: AnyObject {
    /// - Parameters:
    ///   - model: what was posted, or deleted.
    ///   - changes: each identifier in it, and what became of it; one identifier for a deletion.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?)
}
