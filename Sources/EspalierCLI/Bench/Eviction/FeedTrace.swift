/// The feeds that were asked for, in order; who asks for one that is not there fetches it, so that
/// it is there afterwards.
struct FeedTrace: Sendable {
    var accesses: [Int] = []
    /// Hits are counted from this access on, when the cache is full; nil while it is not.
    var firstCounted: Int?

    /// Whether each access is one that a cache can hit: nothing can have what is asked for the
    /// first time.
    private var isRepeated: [Bool] {
        var seen: Set<Int> = []
        return accesses.map { !seen.insert($0).inserted }
    }

    /// The share of hits, given which accesses hit.
    func hitRate(_ isHit: [Bool]) -> Double {
        let counted = zip(isRepeated, isHit).dropFirst(firstCounted ?? 0).filter(\.0)
        return Double(counted.count(where: \.1)) / Double(max(1, counted.count))
    }
}
