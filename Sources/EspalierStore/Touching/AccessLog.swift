import EspalierRecords
import Synchronization

/// Touches of reads that no commit has taken yet: a record and its place in the order of touches.
///
/// A touch costs one entry in memory, however large the tree. Commits take what is there; where
/// there are no commits, the writer flushes it after a time or a number.
final class AccessLog: Sendable {
    /// Touched records at which a flush is due.
    static let flushCount = 4_096
    /// The longest that a touch waits for a commit.
    static let flushDelay = Duration.seconds(5)
    /// Beyond this, while no commit comes about, touches are not noted.
    private static let limit = 1 << 18

    struct Touches: Sendable {
        fileprivate var order: [Handle: UInt64] = [:]

        /// In the order of their last touches.
        var handles: [Handle] { order.sorted { $0.value < $1.value }.map(\.key) }

        var isEmpty: Bool { order.isEmpty }
    }

    // protected by `state`
    private struct State {
        var generation = ""
        var touches = Touches()
        var next: UInt64 = 0
        var since: ContinuousClock.Instant?
        /// So many are waiting that they are not to wait any longer.
        var isDue = false
    }
    private let state = Mutex(State())

    /// What a touch asks of the writer.
    enum Demand { case nothing, flushLater, flushNow }

    func touch(_ handle: Handle, in generation: String) -> Demand {
        state.withLock { state in
            if state.generation != generation {
                state.generation = generation
                state.touches = Touches()
                state.since = nil
                state.isDue = false
            }
            state.next += 1
            if state.touches.order[handle] == nil {
                guard state.touches.order.count < Self.limit else { return .nothing }
            }
            state.touches.order[handle] = state.next
            if state.touches.order.count == Self.flushCount {
                state.isDue = true
                return .flushNow
            }
            guard state.since == nil else { return .nothing }
            state.since = .now
            return .flushLater
        }
    }

    /// The oldest `count` of them, at most.
    func take(atMost count: Int = .max, in generation: String) -> Touches {
        state.withLock { state in
            guard state.generation == generation, state.touches.order.count > count else {
                // Those of a generation left behind go, too.
                defer {
                    state.touches = Touches()
                    state.since = nil
                    state.isDue = false
                }
                return state.generation == generation ? state.touches : Touches()
            }
            var taken = Touches()
            for handle in state.touches.handles.prefix(count) {
                taken.order[handle] = state.touches.order.removeValue(forKey: handle)
            }
            return taken
        }
    }

    /// Whether a touch of the record waits.
    func contains(_ handle: Handle, in generation: String) -> Bool {
        state.withLock { $0.generation == generation && $0.touches.order[handle] != nil }
    }

    /// The commit that took them has failed. Later touches of the same records stand.
    func putBack(_ touches: Touches, in generation: String) {
        guard !touches.isEmpty else { return }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.touches.order.merge(touches.order) { later, _ in later }
            // Not at once: what failed now will most likely fail again.
            state.since = .now
            state.isDue = false
        }
    }

    /// When a flush is due, if there is anything to flush.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in
            guard let since = state.since else { return nil }
            return state.isDue ? since : since + Self.flushDelay
        }
    }
}
