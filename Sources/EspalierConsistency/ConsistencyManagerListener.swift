public import EspalierModels

/// An object that shows a model which is to be kept consistent: a screen, a view model or a data
/// provider.
///
/// ```swift
/// final class ProfileScreen: ConsistencyManagerListener {
///     var person: Person?
///
///     func show(_ person: Person) {
///         self.person = person
///         consistencyManager.addListener(self)        // whenever it shows another model
///     }
///
///     func currentModel() -> (any ConsistencyManagerModel)? { person }
///
///     func modelUpdated(
///         _ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?
///     ) {
///         person = model as? Person
///     }
/// }
/// ```
///
/// Both functions are called on the main actor. The manager holds listeners weakly, so they need
/// not be removed.
@preconcurrency @MainActor
public protocol ConsistencyManagerListener: AnyObject {
    /// Returns the model that is shown now; `nil` if there is none.
    ///
    /// The manager calls it for every update that may concern the listener. It must return at once,
    /// and return the same model until the listener shows another one.
    func currentModel() -> (any ConsistencyManagerModel)?

    /// Reports that something in the tree of `currentModel` has changed.
    ///
    /// The manager calls it once for each update, in the order in which the updates were submitted.
    /// It already listens to new children of the tree.
    ///
    /// - Parameters:
    ///   - model: The new tree; `nil` if it was deleted.
    ///   - updates: The identifiers of the nodes that changed or were deleted, and of their
    ///     ancestors.
    ///   - context: The context of the update.
    func modelUpdated(_ model: (any ConsistencyManagerModel)?, updates: ModelUpdates, context: Any?)
}

/// The changes of one update in one listener's tree, by identifier.
///
/// A node counts as changed if it was replaced, or if a node below it was. A node counts as deleted
/// if it was deleted, or if it requires a child that was deleted. Nodes that arrived with a
/// replaced parent count as neither.
public struct ModelUpdates: Hashable, Sendable {
    /// The identifiers of the nodes that changed.
    public var changedModelIds: Set<String>
    /// The identifiers of the nodes that were deleted.
    public var deletedModelIds: Set<String>

    /// Creates a set of changes, which is empty by default.
    ///
    /// - Parameters:
    ///   - changedModelIds: The identifiers of the nodes that changed.
    ///   - deletedModelIds: The identifiers of the nodes that were deleted.
    public init(changedModelIds: Set<String> = [], deletedModelIds: Set<String> = []) {
        self.changedModelIds = changedModelIds
        self.deletedModelIds = deletedModelIds
    }

    package var isEmpty: Bool { changedModelIds.isEmpty && deletedModelIds.isEmpty }

    package mutating func formUnion(_ other: ModelUpdates) {
        changedModelIds.formUnion(other.changedModelIds)
        deletedModelIds.formUnion(other.deletedModelIds)
    }
}

/// An object that is notified of every change that passes through a consistency manager, whether or
/// not a listener shows the changed models.
///
/// It serves objects that wait for models which do not exist yet, or that maintain lists by a rule.
@preconcurrency @MainActor
public protocol ConsistencyManagerUpdatesListener: AnyObject {
    /// Reports one update or deletion.
    ///
    /// The manager calls it on the main actor, after the listeners of the models. It must return at
    /// once.
    ///
    /// - Parameters:
    ///   - consistencyManager: The manager.
    ///   - model: The model that was posted or deleted.
    ///   - changes: The change for each identifier in the posted model; for a deletion, the one
    ///     identifier of the model.
    ///   - context: The context of the update.
    func consistencyManager(
        _ consistencyManager: ConsistencyManager, updatedModel model: any ConsistencyManagerModel,
        changes: [String: ModelChange], context: Any?)
}

/// The change of the model with one identifier.
public enum ModelChange: Equatable, Sendable {
    /// The model was posted. The array contains one model for each projection that was posted, and
    /// a single model if there are no projections.
    case updated([any ConsistencyManagerModel])
    /// The model was deleted.
    case deleted

    /// Returns whether both are deletions, or updates with equal models in the same order.
    ///
    /// - Complexity: O(*n*) in the nodes of the models.
    public static func == (a: ModelChange, b: ModelChange) -> Bool {
        switch (a, b) {
        case (.updated(let models), .updated(let others)):
            models.count == others.count && zip(models, others).allSatisfy { $0.isEqualToModel($1) }
        case (.deleted, .deleted): true
        default: false
        }
    }
}
