/// A cache of so many feeds that knows the future: it evicts the one that will not be asked for for
/// longest, even if that is the one that has just come (L. A. Belady, *A study of replacement
/// algorithms for a virtual-storage computer*, 1966). No cache hits more.
struct OfflineOptimum {
    let capacity: Int

    private static let never = Int.max

    /// Which accesses hit.
    func hits(of trace: FeedTrace) -> [Bool] {
        let next = Self.nextAccesses(of: trace.accesses)
        // When each feed that is there will be asked for.
        var due: [Int: Int] = [:]
        return trace.accesses.enumerated().map { access, feed in
            let isHit = due[feed] != nil
            due[feed] = next[access]
            if due.count > capacity,
                let last = due.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })
            {
                due[last.key] = nil
            }
            return isHit
        }
    }

    private static func nextAccesses(of accesses: [Int]) -> [Int] {
        var next = Array(repeating: never, count: accesses.count)
        var following: [Int: Int] = [:]
        for (access, feed) in accesses.enumerated().reversed() {
            next[access] = following[feed] ?? never
            following[feed] = access
        }
        return next
    }
}
