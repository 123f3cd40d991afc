import EspalierConsistency
import EspalierModels

/// Records the calls of a manager's delegate.
@MainActor
final class DelegateRecorder: ConsistencyManagerDelegate {
    private(set) var errors: [String] = []
    private(set) var replacements: [(old: Child, new: Child, context: Any?)] = []
    var whenReplacing: (() -> Void)?

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, failedWithCriticalError error: String
    ) {
        errors.append(error)
    }

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, willReplaceModel model: Child,
        withModel newModel: Child,
        context: Any?
    ) {
        replacements.append((model, newModel, context))
        whenReplacing?()
    }
}

/// Records every change.
@MainActor
final class ChangeRecorder: ConsistencyManagerUpdatesListener {
    private(set) var calls: [(model: Child, changes: [String: ModelChange], context: Any?)] = []
    var whenCalled: (() -> Void)?

    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: Child,
        changes: [String: ModelChange],
        context: Any?
    ) {
        calls.append((model, changes, context))
        whenCalled?()
    }
}

/// Records the calls of a batch listener's delegate.
@MainActor
final class BatchRecorder: BatchListenerDelegate {
    private(set) var calls:
        [(listeners: [ObjectIdentifier], updates: ModelUpdates, context: Any?)] = []

    func batchListener(
        _ batchListener: BatchListener,
        hasUpdatedListeners listeners: [any ConsistencyManagerListener],
        updates: ModelUpdates, context: Any?
    ) {
        calls.append((listeners.map { ObjectIdentifier($0) }, updates, context))
    }
}
