/// What a cache holds and has done, from one snapshot.
///
/// ```swift
/// let statistics = try cache.statistics()
/// print("\(statistics.records) records, \(statistics.fill) of the budget, hit rate \(statistics.hitRate ?? 0)")
/// ```
///
/// What was done counts for the whole life of the cache and all processes, unless said otherwise;
/// what other processes have not committed yet is missing.
///
/// Threading: a value. Cost: some hundred words and an entry for each type. Errors: none.
public struct CacheStatistics: Sendable, Hashable, Codable {
    // What there is.
    public var nodes = 0
    public var roots = 0
    public var keys = 0
    public var collections = 0
    /// Runs of a collection's references, each a record of its own.
    public var segments = 0
    /// Deleted records that living ones still refer to.
    public var tombstones = 0
    /// Entries that are never evicted.
    public var pins = 0
    public var shapes = 0
    /// The types of nodes, most records first. Without records that carry their field names
    /// themselves.
    public var types: [TypeStatistics] = []

    // Where it stands.
    /// Bytes of all records before they were compressed.
    public var rawBytes = ByteCount(0)
    /// Bytes of all records as stored.
    public var recordBytes = ByteCount(0)
    public var pageSize = ByteCount(0)
    public var pagesUsed = 0
    public var pageCapacity = 0
    /// Of the file that holds the records, free pages included.
    public var fileBytes = ByteCount(0)
    /// Of all files: what the budget limits.
    public var directoryBytes = ByteCount(0)
    public var budget = ByteCount(0)
    /// Who keeps freed pages from being used again; nil when every read under way sees the last
    /// commit.
    public var oldestReader: OldestReader?

    // What was written since the cache was made or emptied.
    public var writes = 0
    public var deletes = 0
    public var recordsWritten = 0
    /// Records that a write found to say the same already.
    public var recordsUnchanged = 0

    // What was done over its life.
    public var commits = 0
    /// Writes given up, by reason.
    public var droppedWrites: [String: Int] = [:]
    public var evictions = EvictionStatistics()
    /// How often the cache went on with a new generation, by reason.
    public var generationsReplaced: [String: Int] = [:]
    /// Commits that ran out of pages and succeeded after eviction.
    public var mapFullRecoveries = 0
    public var hits = 0
    /// By the name of the reason.
    public var misses: [String: Int] = [:]
    /// By the type that was asked for, then by the name of the reason. As many types as there is
    /// room for, those that missed most; the rest is under `other`.
    public var missesByType: [String: [String: Int]] = [:]
    /// Of reads, hits and misses; without waiting for writes submitted before.
    public var readLatency = LatencySummary()
    /// Of commits, from the beginning of their transaction.
    public var commitLatency = LatencySummary()
    public var readLatencies = LatencyHistogram()
    public var commitLatencies = LatencyHistogram()

    public init() {}

    public var records: Int { nodes + keys + collections + segments }

    /// The share of the pages in use, 0 to 1.
    public var fill: Double { pageCapacity == 0 ? 0 : Double(pagesUsed) / Double(pageCapacity) }

    public var pageBytes: ByteCount { ByteCount(pagesUsed * pageSize.bytes) }

    /// The share of reads that were hits, 0 to 1; nil when nothing was read.
    public var hitRate: Double? {
        let reads = misses.values.reduce(hits, +)
        return reads == 0 ? nil : Double(hits) / Double(reads)
    }
}
