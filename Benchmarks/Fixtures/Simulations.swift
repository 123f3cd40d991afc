// Caches in memory that only count: they are given the identifiers that are asked for, in order,
// and say which of the accesses hit. What is not there is fetched, and so is there afterwards.

/// A cache of a number of entries that evicts the one that was not asked for for longest.
public struct ExactLRU: Sendable {
    private let capacity: Int

    public init(capacity: Int) { self.capacity = capacity }

    /// Returns which accesses hit.
    ///
    /// - Complexity: O(*n*), where *n* is the number of accesses.
    public func hits(of accesses: [Int]) -> [Bool] {
        var lastAccess: [Int: Int] = [:]
        // Oldest first. An entry counts only if it is the last one of its identifier.
        var order: [(identifier: Int, access: Int)] = []
        var oldest = 0
        return accesses.enumerated().map { access, identifier in
            let isHit = lastAccess[identifier] != nil
            lastAccess[identifier] = access
            order.append((identifier, access))
            while lastAccess.count > capacity {
                let (candidate, time) = order[oldest]
                oldest += 1
                if lastAccess[candidate] == time { lastAccess[candidate] = nil }
            }
            return isHit
        }
    }
}

/// A cache of a number of entries that knows the future: it evicts the entry that will not be asked
/// for for longest, even if that is the one that has just come. No cache hits more.
///
/// Source: L. A. Belady, *A study of replacement algorithms for a virtual-storage computer*, 1966.
public struct OfflineOptimum: Sendable {
    private let capacity: Int

    private static let never = Int.max

    public init(capacity: Int) { self.capacity = capacity }

    /// Returns which accesses hit.
    ///
    /// - Complexity: O(*n* · capacity), where *n* is the number of accesses.
    public func hits(of accesses: [Int]) -> [Bool] {
        let next = Self.nextAccesses(of: accesses)
        // When each entry that is there will be asked for.
        var due: [Int: Int] = [:]
        return accesses.enumerated().map { access, identifier in
            let isHit = due[identifier] != nil
            due[identifier] = next[access]
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
        for (access, identifier) in accesses.enumerated().reversed() {
            next[access] = following[identifier] ?? never
            following[identifier] = access
        }
        return next
    }
}
