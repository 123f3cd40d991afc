/// What was posted since the oldest fetch that is still under way.
///
/// A tree read from a cache is as old as the moment it was asked for: what was posted while it was read is caught up with when
/// it has a listener. Empty while nothing is fetched.
struct RecentChanges {
    struct CatchUp {
        let changes: PostedChanges
        let context: (any Sendable)?
        let time: ChangeTime
    }

    private var fetches: [ChangeTime] = []
    private var entries: [CatchUp] = []

    mutating func begin(_ fetch: ChangeTime) { fetches.append(fetch) }

    mutating func end(_ fetch: ChangeTime) {
        if let position = fetches.firstIndex(of: fetch) { fetches.remove(at: position) }
        guard let oldest = fetches.min() else { return entries = [] }
        entries.removeAll { !$0.time.after(oldest) }
    }

    mutating func note(_ changes: PostedChanges, _ posting: Posting) {
        guard !fetches.isEmpty else { return }
        entries.append(CatchUp(changes: changes, context: posting.context, time: posting.time))
    }

    /// In the order in which they were applied to everything else.
    func changes(since fetch: ChangeTime) -> [CatchUp] { entries.filter { $0.time.after(fetch) } }
}
