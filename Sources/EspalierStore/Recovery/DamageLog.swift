import EspalierRecords
import Synchronization

/// The records that reads found damaged, until a commit has checked them.
///
/// If no write comes, the writer commits five seconds after the first record. The delay collects
/// records: a read stops at the first damage that it meets, so the damaged records of a tree are
/// found one read at a time, and each commit that makes records lost recounts all references.
///
/// Safe to use from every thread. A read that meets no damage does not use the log.
final class DamageLog: Sendable {
    /// The longest that a damaged record waits for a commit.
    static let delay = Duration.seconds(5)
    /// The most records that wait. Reads find further ones again later.
    static let limit = 4_096

    private struct State {
        var generation = ""
        var waiting: Set<Handle> = []
        /// Records in which a commit has found no damage. They ask for no further commit: a read
        /// that reports one of them again and again would keep the writer busy.
        var foundIntact: Set<Handle> = []
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
            guard state.since == nil, !state.waiting.isSubset(of: state.foundIntact) else {
                return false
            }
            state.since = .now
            return true
        }
    }

    /// Returns at most `count` records, beginning with those that no commit has checked.
    func waiting(atMost count: Int, in generation: String) -> [Handle] {
        state.withLock { state in
            // An old generation was removed, and its damage with it.
            if state.generation != generation { state = State(generation: generation) }
            guard !state.waiting.isEmpty else { return [] }
            let fresh = state.waiting.subtracting(state.foundIntact).sorted()
            let known = state.waiting.intersection(state.foundIntact).sorted()
            return Array((fresh + known).prefix(count))
        }
    }

    /// Notes that a commit has checked `handles`, and has made those in `lost` lost.
    func finish(_ handles: [Handle], lost: Set<Handle>, in generation: String) {
        guard !handles.isEmpty else { return }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.waiting.subtract(handles)
            if state.foundIntact.count > Self.limit { state.foundIntact.removeAll() }
            state.foundIntact.formUnion(handles)
            state.foundIntact.subtract(lost)
            state.since = state.waiting.isSubset(of: state.foundIntact) ? nil : .now
        }
    }

    /// Notes that a commit has failed, and delays the next one: it would most likely fail again at
    /// once.
    func postpone() {
        state.withLock { state in
            if state.since != nil { state.since = .now }
        }
    }

    /// When a commit is due; nil if no record asks for one.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in state.since.map { $0 + Self.delay } }
    }
}
