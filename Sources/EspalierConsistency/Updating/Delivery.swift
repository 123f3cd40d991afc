package import EspalierModels

/// One listener's share of an update.
package struct Delivery: Sendable {
    let listener: WeakListener
    /// What the update was applied to.
    package let base: ListenerBase
    /// Nil when the whole tree was deleted.
    package let model: (any ConsistencyManagerModel)?
    package let updates: ModelUpdates
    /// What happened to the children of the base's root, by their place; empty when the root was
    /// replaced as a whole.
    package let childUpdates: [Int: ChildUpdate]
    package let context: (any Sendable)?
    /// When the update was submitted.
    package let time: ChangeTime
    /// What a listener that numbers its trees has to number the new one.
    package let revision: ChangeTime

    package struct ChildUpdate: Sendable {
        package var updates: ModelUpdates
        package var isDeleted: Bool
    }
}

/// A listener that takes whole deliveries: with time and places, and without asking twice.
@MainActor
package protocol TreeListener: ConsistencyManagerListener {
    /// What is shown, numbered; nil for nothing.
    var base: ListenerBase? { get }
    func take(_ delivery: Delivery)
}

extension TreeListener {
    package var base: ListenerBase? {
        currentModel().map { ListenerBase(model: $0, revision: nil) }
    }
}

/// Waits for models that nobody shows yet, and asks when they were posted.
@MainActor
package protocol WaitingListener: ConsistencyManagerUpdatesListener, TreeListener {
    /// Whether one of them is what it waited for: then it is listened to before the next update is
    /// applied.
    func take(_ changes: [String: ModelChange], context: (any Sendable)?, time: ChangeTime) -> Bool
}
