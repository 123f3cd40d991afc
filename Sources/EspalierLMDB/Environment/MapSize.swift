import Synchronization

/// The size of an environment's map, which changes only while no transaction is open.
final class MapSize: Sendable {
    // atomic
    private let size: Atomic<Int>

    init(_ bytes: Int) {
        size = Atomic(bytes)
    }

    var bytes: Int {
        get { size.load(ordering: .acquiring) }
        set { size.store(newValue, ordering: .releasing) }
    }
}
