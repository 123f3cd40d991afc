import EspalierRecords
import Synchronization

/// The touches of reads that no commit has stored yet: records, in the order of their last touch.
///
/// A touch costs one entry in memory, even after a read of a large tree. Each commit takes the
/// waiting touches and stamps their records before its operations. If no commit comes, the writer
/// makes one, ``flushDelay`` after the first touch or at ``flushCount`` records.
///
/// Threading: safe from every thread.
final class AccessLog: Sendable {
    /// The number of touched records at which a flush is due.
    static let flushCount = 4_096
    /// The longest that a touch waits for a commit.
    static let flushDelay = Duration.seconds(5)
    /// The most touched records that wait. Beyond it, touches of further records are not logged.
    private static let limit = 1 << 18

    /// Touched records.
    struct Touches: Sendable {
        fileprivate var order: [Handle: UInt64] = [:]

        /// The records in the order of their last touches.
        var handles: [Handle] { order.sorted { $0.value < $1.value }.map(\.key) }

        var isEmpty: Bool { order.isEmpty }
    }

    /// What the writer has to do after a touch was logged.
    enum Demand { case nothing, flushLater, flushNow }

    // protected by `state`
    private struct State {
        /// The generation of the handles.
        var generation = ""
        var touches = Touches()
        /// The number of the last touch.
        var number: UInt64 = 0
        /// When the first of the waiting touches came.
        var since: ContinuousClock.Instant?
        /// Whether so many touches wait that a flush is due now.
        var isDue = false

        mutating func clear() {
            touches = Touches()
            since = nil
            isDue = false
        }
    }
    private let state = Mutex(State())

    /// Logs a touch. Drops the waiting touches of any other generation.
    func touch(_ handle: Handle, in generation: String) -> Demand {
        state.withLock { state in
            if state.generation != generation {
                state.clear()
                state.generation = generation
            }
            state.number += 1
            if state.touches.order[handle] == nil {
                guard state.touches.order.count < Self.limit else { return .nothing }
            }
            state.touches.order[handle] = state.number
            if state.touches.order.count == Self.flushCount {
                state.isDue = true
                return .flushNow
            }
            guard state.since == nil else { return .nothing }
            state.since = .now
            return .flushLater
        }
    }

    /// Removes and returns the oldest touches, at most `count`.
    func take(atMost count: Int = .max, in generation: String) -> Touches {
        state.withLock { state in
            guard state.generation == generation, state.touches.order.count > count else {
                // Touches of a generation that is not live any more are dropped, too.
                defer { state.clear() }
                return state.generation == generation ? state.touches : Touches()
            }
            var taken = Touches()
            for handle in state.touches.handles.prefix(count) {
                taken.order[handle] = state.touches.order.removeValue(forKey: handle)
            }
            return taken
        }
    }

    /// Returns whether a touch of the record waits.
    func contains(_ handle: Handle, in generation: String) -> Bool {
        state.withLock { $0.generation == generation && $0.touches.order[handle] != nil }
    }

    /// Puts back the touches that a failed commit took. Later touches of the same records remain.
    func putBack(_ touches: Touches, in generation: String) {
        guard !touches.isEmpty else { return }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.touches.order.merge(touches.order) { later, _ in later }
            state.since = state.since ?? .now
        }
    }

    /// Begins the delay anew, because a commit has failed.
    func postpone() {
        state.withLock { state in
            guard state.since != nil else { return }
            state.since = .now
            state.isDue = false
        }
    }

    /// The time at which a flush is due; nil if no touch waits.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in
            guard let since = state.since else { return nil }
            return state.isDue ? since : since + Self.flushDelay
        }
    }
}
