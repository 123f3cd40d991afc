/// A cache of a number of things from which the least recently used goes.
enum ExactLRU {
    static func hitRate(of accesses: [Int], capacity: Int) -> Double {
        var lastUse: [Int: Int] = [:]
        var hits = 0
        for (time, access) in accesses.enumerated() {
            if lastUse[access] != nil {
                hits += 1
            } else if lastUse.count >= capacity,
                let oldest = lastUse.min(by: { $0.value < $1.value })
            {
                lastUse[oldest.key] = nil
            }
            lastUse[access] = time
        }
        return accesses.isEmpty ? 0 : Double(hits) / Double(accesses.count)
    }
}

/// A cache that knows what comes: the one needed last goes, even if it has just come. No cache has
/// more hits (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer",
/// 1966).
enum OfflineOptimal {
    static func hitRate(of accesses: [Int], capacity: Int) -> Double {
        var nextUse = Array(repeating: Int.max, count: accesses.count)
        var following: [Int: Int] = [:]
        for time in accesses.indices.reversed() {
            nextUse[time] = following[accesses[time]] ?? .max
            following[accesses[time]] = time
        }
        var held: [Int: Int] = [:]
        var hits = 0
        for (time, access) in accesses.enumerated() {
            if held[access] != nil { hits += 1 }
            held[access] = nextUse[time]
            if held.count > capacity, let last = held.max(by: { $0.value < $1.value }) {
                held[last.key] = nil
            }
        }
        return accesses.isEmpty ? 0 : Double(hits) / Double(accesses.count)
    }
}
