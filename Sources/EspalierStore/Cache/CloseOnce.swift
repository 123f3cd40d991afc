import Synchronization

/// Something that is done once.
final class CloseOnce: Sendable {
    private let done = Atomic<Bool>(false)

    /// Whether this is the first call.
    func first() -> Bool { !done.exchange(true, ordering: .acquiringAndReleasing) }

    var isDone: Bool { done.load(ordering: .acquiring) }
}
