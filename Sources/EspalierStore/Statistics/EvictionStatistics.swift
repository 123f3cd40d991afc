import EspalierRecords

/// What a cache has evicted over its life.
///
/// ```swift
/// let evictions = try cache.statistics().evictions
/// print("\(evictions.records) records, at most \(evictions.longestPause) in a commit")
/// ```
public struct EvictionStatistics: Sendable, Hashable, Codable {
    /// An amount of evicted records.
    public struct Amount: Sendable, Hashable, Codable {
        /// The number of trees: records to which none referred before the eviction began.
        public var trees = 0
        /// The number of records.
        public var records = 0
        /// The bytes of the records as stored.
        public var bytes = ByteCount(0)

        /// Creates an amount of nothing.
        public init() {}
    }

    /// What was evicted to stay within the budget.
    public var forBudget = Amount()
    /// What was evicted at the caller's request.
    public var explicit = Amount()
    /// The number of trees in both amounts that were cycles.
    public var groups = 0
    /// The number of records that were detached, since the cache was created or emptied: they are
    /// on cycles of records that are too large to be evicted as one, and have lost their
    /// references. Includes long records, which are evicted instead.
    public var detachedRecords = 0
    /// The number of transactions in which something was evicted.
    public var runs = 0
    /// The number of searches for cycles that no read and no write had found.
    public var cycleCollections = 0
    /// The number of records that these searches found.
    public var cycleRecordsFound = 0
    /// The shortest time, in whole seconds, between a tree's last access and its eviction; nil when
    /// none is known.
    public var youngestAge: Duration?
    /// The longest time, in whole seconds, between a tree's last access and its eviction; nil when
    /// none is known.
    public var oldestAge: Duration?
    /// The time that all evictions took.
    public var timeSpent = Duration.zero
    /// The longest time that eviction took in one commit.
    public var longestPause = Duration.zero

    /// Creates the statistics of a cache that has evicted nothing.
    public init() {}

    /// The number of trees evicted, for the budget and at the caller's request.
    public var trees: Int { forBudget.trees + explicit.trees }
    /// The number of records evicted, for the budget and at the caller's request.
    public var records: Int { forBudget.records + explicit.records }
    /// The bytes evicted, for the budget and at the caller's request.
    public var bytes: ByteCount { ByteCount(forBudget.bytes.bytes + explicit.bytes.bytes) }
}

extension EvictionStatistics {
    init(_ lifetime: LifetimeCounters, detachedRecords: Int = 0) {
        forBudget = Amount(lifetime.evicted)
        explicit = Amount(lifetime.explicitlyEvicted)
        groups = Int(clamping: lifetime.evictedGroups)
        self.detachedRecords = detachedRecords
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

/// What one run of the evictor evicted.
struct EvictionCounts: Hashable, Sendable {
    private(set) var trees: UInt64 = 0
    private(set) var records: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    /// Victims that were cycles.
    private(set) var groups: UInt64 = 0
    private(set) var youngest: Stamp?
    private(set) var oldest: Stamp?
    var spent = Duration.zero

    var isEmpty: Bool { records == 0 }

    /// Counts a record to which none referred before the run began.
    mutating func addTree() { trees += 1 }

    /// Counts a victim: a record, or the records of a cycle.
    mutating func add(records: Int, bytes: Int, accessedAt stamp: Stamp, isGroup: Bool = false) {
        if isGroup { groups += 1 }
        self.records += UInt64(records)
        self.bytes += UInt64(bytes)
        // Records whose removal is pending have no time of access.
        guard stamp > .never else { return }
        youngest = max(youngest ?? stamp, stamp)
        oldest = min(oldest ?? stamp, stamp)
    }
}

extension Timeline {
    /// Returns the ages in seconds of the youngest and the oldest victim.
    func ages(of counts: EvictionCounts, at second: Int64) -> ClosedRange<UInt64>? {
        guard let youngest = counts.youngest, let oldest = counts.oldest,
            let least = age(of: youngest, at: second), let most = age(of: oldest, at: second)
        else { return nil }
        return least...max(least, most)
    }
}

/// The records that were evicted in one step: a root, or the records of a cycle. Or the one that
/// was detached from its children.
struct Victim: Hashable, Sendable {
    /// The time of their last access.
    let stamp: Stamp
    let reason: Eviction.Reason
    /// Their names. Segments have none.
    private(set) var names: [RecordName] = []
    /// How many of them are gone.
    private(set) var recordCount = 0
    private(set) var bytes = 0

    init(stamp: Stamp, reason: Eviction.Reason) {
        self.stamp = stamp
        self.reason = reason
    }

    mutating func add(_ record: Record) {
        recordCount += 1
        bytes += record.storedByteCount
        addName(of: record)
    }

    /// Adds the name of a record that stays, without its references.
    mutating func addDetached(_ record: Record) { addName(of: record) }

    private mutating func addName(of record: Record) {
        guard record.nameSpace != .segment else { return }
        names.append(RecordName(record.nameSpace, record.identifier))
    }
}
