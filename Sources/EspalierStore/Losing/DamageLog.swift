import EspalierRecords
import Synchronization

/// Records that reads could not make out, until a commit has looked at them again.
///
/// Where no commit comes, the writer makes one some time after the first: a read stops at the first
/// damage it meets, so what else is damaged in a tree comes up read by read, and each commit that
/// finds a record lost counts the whole cache anew.
///
/// Threading: safe from every thread. Cost: nothing for reads that meet no damage.
final class DamageLog: Sendable {
    /// The longest that a damaged record waits for a commit.
    static let delay = Duration.seconds(5)
    /// Beyond this, what is found is found again later.
    static let limit = 4_096

    // protected by `state`
    private struct State {
        var generation = ""
        var waiting: Set<Handle> = []
        /// Looked at by a commit, and whole as far as that can tell: no reason for a commit of
        /// their own, or a reader that finds fault with one again and again would keep the writer
        /// busy.
        var whole: Set<Handle> = []
        var since: ContinuousClock.Instant?
    }
    private let state = Mutex(State())

    /// Takes note of what a read could not make out. Returns whether the writer has to hear of it.
    func note(_ handles: [Handle], in generation: String) -> Bool {
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

    /// What waits, `count` of it at most; first what no commit has looked at.
    func waiting(atMost count: Int, in generation: String) -> [Handle] {
        state.withLock { state in
            // What was found in a generation left behind is gone with it.
            if state.generation != generation { state = State(generation: generation) }
            guard !state.waiting.isEmpty else { return [] }
            let fresh = state.waiting.subtracting(state.whole).sorted()
            return Array((fresh + state.waiting.intersection(state.whole).sorted()).prefix(count))
        }
    }

    /// A commit has looked at `handles` and found that those of `lost` are.
    func settle(_ handles: [Handle], lost: Set<Handle>, in generation: String) {
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

    /// The commit that looked at them has failed. Not at once again: what failed now will most
    /// likely fail again.
    func postpone() {
        state.withLock { state in
            if state.since != nil { state.since = .now }
        }
    }

    /// When a commit is due for what waits, if anything does.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in state.since.map { $0 + Self.delay } }
    }
}
