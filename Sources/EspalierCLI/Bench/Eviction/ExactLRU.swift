/// A cache of so many feeds that evicts the one that was not asked for for longest: a simulation,
/// in memory.
struct ExactLRU {
    let capacity: Int

    /// Which accesses hit.
    func hits(of trace: FeedTrace) -> [Bool] {
        var lastAccess: [Int: Int] = [:]
        // Oldest first; an entry counts only if it is the last of its feed.
        var order: [(feed: Int, access: Int)] = []
        var oldest = 0
        return trace.accesses.enumerated().map { access, feed in
            let isHit = lastAccess[feed] != nil
            lastAccess[feed] = access
            order.append((feed, access))
            while lastAccess.count > capacity {
                let (candidate, time) = order[oldest]
                oldest += 1
                if lastAccess[candidate] == time { lastAccess[candidate] = nil }
            }
            return isHit
        }
    }
}
