import EspalierRecords
import Synchronization

/// The records that reads found damaged, until a commit has looked at them again.
///
/// Where no write comes, the writer commits some seconds after the first record. A read stops at
/// the first damage it meets, so the other damaged records of a tree come up read by read, and each
/// commit that loses records counts all references anew.
///
/// Safe to use from every thread. Reads that meet no damage do not come here.
final class DamageLog: Sendable {
    /// The longest that a damaged record waits for a commit.
    static let delay = Duration.seconds(5)
    /// The most records that wait. Further ones are found again later.
    static let limit = 4_096

    private struct State {
        var generation = ""
        var waiting: Set<Handle> = []
        /// Records in which a commit has found no damage. They ask for no further commit: a reader
        /// that reports one again and again would keep the writer busy.
        var whole: Set<Handle> = []
        var since: ContinuousClock.Instant?
    }
    private let state = Mutex(State())

    /// Adds records that a read found damaged. Returns whether the writer has to be woken.
    func add(_ handles: [Handle], in generation: String) -> Bool {
        guard !handles.isEmpty else { return false }
        return state.withLock { state in
            if state.generation != generation { state = State(generation: generation) }
            for handle in handles where state.waiting.count < Self.limit {
                state.waiting.insert(handle)
            }
            guard state.since == nil, !state.waiting.isSubset(of: state.whole) else { return false }
            state.since = .now
            return true
        }
    }

    /// Returns `count` records at most, those first in which no commit has looked.
    func waiting(atMost count: Int, in generation: String) -> [Handle] {
        state.withLock { state in
            // The damage of an old generation went with it.
            if state.generation != generation { state = State(generation: generation) }
            guard !state.waiting.isEmpty else { return [] }
            let fresh = state.waiting.subtracting(state.whole).sorted()
            let known = state.waiting.intersection(state.whole).sorted()
            return Array((fresh + known).prefix(count))
        }
    }

    /// Notes that a commit has looked at `handles` and has lost those of `lost`.
    func finish(_ handles: [Handle], lost: Set<Handle>, in generation: String) {
        guard !handles.isEmpty else { return }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.waiting.subtract(handles)
            if state.whole.count > Self.limit { state.whole.removeAll() }
            state.whole.formUnion(handles)
            state.whole.subtract(lost)
            state.since = state.waiting.isSubset(of: state.whole) ? nil : .now
        }
    }

    /// Notes that a commit has failed. The next one does not follow at once: what failed now will
    /// most likely fail again.
    func postpone() {
        state.withLock { state in
            if state.since != nil { state.since = .now }
        }
    }

    /// When a commit is due, if any record waits.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in state.since.map { $0 + Self.delay } }
    }
}
