/// A listener, held weakly. Only the main actor calls what it holds; other threads ask whether it is alive.
final class WeakListener: @unchecked Sendable {
    // `@unchecked`: a weak reference may be read on any thread, and nobody writes these after `init`.
    private(set) weak var listener: (any ConsistencyManagerListener)?
    private(set) weak var treeListener: (any TreeListener)?
    let identity: ObjectIdentifier

    init(_ listener: any ConsistencyManagerListener) {
        self.listener = listener
        treeListener = listener as? any TreeListener
        identity = ObjectIdentifier(listener)
    }

    var isAlive: Bool { listener != nil }
}
