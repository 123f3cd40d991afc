import EspalierModels
import Synchronization

/// A listener as the main actor knows it: held weakly, perhaps paused. One for each, as long as it
/// is known.
///
/// Only the main actor looks at the listener, if only to see whether it is there: whoever looks
/// holds it for a moment, and the last to let go of an object runs its `deinit`.
@MainActor
final class WeakListener {
    private(set) weak var listener: (any ConsistencyManagerListener)?
    private weak var tree: (any TreeListener)?
    nonisolated let identity: ObjectIdentifier
    /// What is gathered for it while it is paused.
    var paused: PausedListener?
    /// How often it has to catch up, as it stands in the queue. Until it has, updates pass it by:
    /// it gets them then, each after the ones that it missed.
    var catchUps = 0
    /// Removed, and not added since; the index hears of it in the order of work.
    var isRemoved = false

    private nonisolated let forgotten = Atomic<Bool>(false)

    /// The listener is gone, and so is what it took: work for it that stands in the queue is in
    /// vain.
    nonisolated var isForgotten: Bool { forgotten.load(ordering: .relaxed) }

    init(_ listener: any ConsistencyManagerListener) {
        self.listener = listener
        tree = listener as? any TreeListener
        identity = ObjectIdentifier(listener)
    }

    func forget() { forgotten.store(true, ordering: .relaxed) }

    /// What the listener shows.
    var base: ListenerBase? {
        if let tree { return tree.base }
        return listener?.currentModel().map { ListenerBase(model: $0, revision: nil) }
    }

    func tell(_ delivery: Delivery) {
        if let tree {
            tree.take(delivery)
        } else {
            listener?.modelUpdated(
                delivery.model, updates: delivery.updates, context: delivery.context)
        }
    }
}
