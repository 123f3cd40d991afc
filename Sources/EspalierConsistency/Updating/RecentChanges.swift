/// What was posted since the oldest fetch that is still under way.
///
/// A tree read from a cache is as old as the moment it was asked for: what was posted while it was
/// read is caught up with when it has a listener. Empty while nothing is fetched.
///
/// A cache that never answers would have everything kept for ever. Where more than `nodeLimit`
/// nodes were posted, the oldest changes are forgotten: a tree that comes later than that misses
/// them, until its nodes are posted again. The latest three quarters of the limit are always there,
/// and the latest posting is, however large; never more than the limit and one posting.
struct RecentChanges {
    struct CatchUp {
        let changes: PostedChanges
        let context: (any Sendable)?
        let time: ChangeTime
    }

    /// Ten megabytes, and the models.
    static let usualNodeLimit = 65_536

    private let nodeLimit: Int
    private var fetches: [ChangeTime] = []
    private var entries: [CatchUp] = []
    private var nodeCount = 0

    init(nodeLimit: Int = Self.usualNodeLimit) { self.nodeLimit = nodeLimit }

    mutating func begin(_ fetch: ChangeTime) { fetches.append(fetch) }

    mutating func end(_ fetch: ChangeTime) {
        if let position = fetches.firstIndex(of: fetch) { fetches.remove(at: position) }
        guard let oldest = fetches.min() else {
            entries = []
            nodeCount = 0
            return
        }
        entries.removeAll { !$0.time.after(oldest) }
        nodeCount = entries.reduce(0) { $0 + $1.nodeCount }
    }

    mutating func note(_ changes: PostedChanges, _ posting: Posting) {
        guard !fetches.isEmpty else { return }
        let entry = CatchUp(changes: changes, context: posting.context, time: posting.time)
        entries.append(entry)
        nodeCount += entry.nodeCount
        if nodeCount > nodeLimit { forgetOldest() }
    }

    /// Some more than has to be, so that not every posting moves all the others.
    private mutating func forgetOldest() {
        var forgotten = 0
        while forgotten < entries.count - 1,
            nodeCount - entries[forgotten].nodeCount >= nodeLimit / 4 * 3
        {
            nodeCount -= entries[forgotten].nodeCount
            forgotten += 1
        }
        entries.removeFirst(forgotten)
    }

    /// In the order in which they were applied to everything else.
    func changes(since fetch: ChangeTime) -> [CatchUp] { entries.filter { $0.time.after(fetch) } }
}

extension RecentChanges.CatchUp {
    /// A posting without identifiers takes room, too.
    fileprivate var nodeCount: Int { max(changes.byIdentifier.count, 1) }
}
