/// What a cache has evicted over its life.
///
/// ```swift
/// let evictions = try cache.statistics().evictions
/// print("\(evictions.records) records, at worst \(evictions.longestPause) in a commit")
/// ```
///
/// Threading: a value. Cost: a few words. Errors: none.
public struct EvictionStatistics: Sendable, Hashable, Codable {
    /// Trees, records and their bytes as stored.
    public struct Amount: Sendable, Hashable, Codable {
        public var trees = 0
        public var records = 0
        public var bytes = ByteCount(0)

        public init() {}
    }

    /// For the budget.
    public var forBudget = Amount()
    /// Because the caller said so.
    public var explicit = Amount()
    /// Trees among both whose records held one another on a cycle.
    public var groups = 0
    /// Transactions in which something was evicted.
    public var runs = 0
    /// Searches for cycles that nobody had flagged, and the records they found.
    public var cycleCollections = 0
    public var cycleRecordsFound = 0
    /// How long the youngest and the oldest tree had not been accessed when it went, to the second;
    /// nil when none did.
    public var youngestAge: Duration?
    public var oldestAge: Duration?
    public var timeSpent = Duration.zero
    /// The longest that one commit spent on evicting.
    public var longestPause = Duration.zero

    public init() {}

    public var trees: Int { forBudget.trees + explicit.trees }
    public var records: Int { forBudget.records + explicit.records }
    public var bytes: ByteCount { ByteCount(forBudget.bytes.bytes + explicit.bytes.bytes) }
}

extension EvictionStatistics {
    init(_ lifetime: LifetimeCounters) {
        forBudget = Amount(lifetime.evicted)
        explicit = Amount(lifetime.explicitlyEvicted)
        groups = Int(clamping: lifetime.evictedGroups)
        runs = Int(clamping: lifetime.evictionRuns)
        cycleCollections = Int(clamping: lifetime.cycleCollections)
        cycleRecordsFound = Int(clamping: lifetime.cycleRecordsFound)
        youngestAge = lifetime.victimAges.map { .seconds(Int64(clamping: $0.lowerBound)) }
        oldestAge = lifetime.victimAges.map { .seconds(Int64(clamping: $0.upperBound)) }
        timeSpent = .nanoseconds(Int64(clamping: lifetime.evictionNanoseconds))
        longestPause = .nanoseconds(Int64(clamping: lifetime.longestEvictionNanoseconds))
    }
}

extension EvictionStatistics.Amount {
    fileprivate init(_ evicted: LifetimeCounters.Evicted) {
        trees = Int(clamping: evicted.trees)
        records = Int(clamping: evicted.records)
        bytes = ByteCount(Int(clamping: evicted.bytes))
    }
}
