/// What one run of the evictor took.
struct EvictionCounts: Hashable, Sendable {
    private(set) var trees: UInt64 = 0
    private(set) var records: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    /// Trees whose records held one another on a cycle.
    private(set) var groups: UInt64 = 0
    private(set) var youngest: Stamp?
    private(set) var oldest: Stamp?
    var spent = Duration.zero

    var isEmpty: Bool { records == 0 }

    /// Counts a root that was one before the run began.
    mutating func addTree() { trees += 1 }

    /// Counts a victim: a record, or those of a cycle.
    mutating func add(records: Int, bytes: Int, accessedAt stamp: Stamp, isGroup: Bool = false) {
        if isGroup { groups += 1 }
        self.records += UInt64(records)
        self.bytes += UInt64(bytes)
        // Dying records stand under no time of their own.
        guard stamp > .never else { return }
        youngest = max(youngest ?? stamp, stamp)
        oldest = min(oldest ?? stamp, stamp)
    }
}

extension Timeline {
    /// The ages in seconds of the youngest and the oldest victim.
    func ages(of tally: EvictionCounts, at second: Int64) -> ClosedRange<UInt64>? {
        guard let youngest = tally.youngest, let oldest = tally.oldest,
            let least = age(of: youngest, at: second), let most = age(of: oldest, at: second)
        else { return nil }
        return least...max(least, most)
    }
}
