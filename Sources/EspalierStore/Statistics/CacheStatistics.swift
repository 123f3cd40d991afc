/// What a cache holds and has done, read from one snapshot.
///
/// ```swift
/// let statistics = try cache.statistics()
/// print("\(statistics.records) records, \(statistics.fill) of the budget")
/// print("hit rate \(statistics.hitRate ?? 0)")
/// ```
///
/// The counters of what was done cover the whole life of the cache and all processes, unless their
/// comment says otherwise. What other processes have not committed yet is missing.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// Why the cache could not be opened and misses always, which ``FailurePolicy/missAlways``
    /// allows; nil for every other cache. The other figures are then those of this object.
    public var openingFailure: String?

    // MARK: - Contents

    /// The number of nodes.
    public var nodes = 0
    /// The number of records that eviction may take by themselves: those to which no other record
    /// refers, and those on a cycle, or that a search for cycles could not rule out.
    public var roots = 0
    /// The number of keys that have an entry of their own.
    public var keys = 0
    /// The number of collections.
    public var collections = 0
    /// The number of segments: records that contain a part of a collection's references.
    public var segments = 0
    /// The number of deleted records to which others still refer.
    public var tombstones = 0
    /// The number of pinned nodes and collections.
    public var pins = 0
    /// The number of shapes: sets of field names that records share.
    public var shapes = 0
    /// The types of nodes, those with most records first. Records that contain their field names
    /// themselves are missing.
    public var types: [TypeStatistics] = []

    // MARK: - Space

    /// The bytes of all records before compression.
    public var rawBytes = ByteCount(0)
    /// The bytes of all records as stored.
    public var recordBytes = ByteCount(0)
    /// The size of a page of the file.
    public var pageSize = ByteCount(0)
    /// The number of pages in use.
    public var pagesUsed = 0
    /// The number of pages that the budget allows.
    public var pageCapacity = 0
    /// The bytes of the file that holds the records, free pages included.
    public var fileBytes = ByteCount(0)
    /// The bytes of all files in the directory, which the budget limits.
    public var directoryBytes = ByteCount(0)
    /// The current budget.
    public var budget = ByteCount(0)
    /// The read that keeps freed pages from being used again; nil when every read sees the last
    /// commit.
    public var oldestReader: OldestReader?

    // MARK: - Writes, since the cache was created or emptied

    /// The number of committed writes of nodes, keys and collections.
    public var writes = 0
    /// The number of nodes, keys and collections that callers deleted.
    public var deletes = 0
    /// The number of records written.
    public var recordsWritten = 0
    /// The number of records that a write found unchanged.
    public var recordsUnchanged = 0

    // MARK: - Activity, over the life of the cache

    /// The number of times that a node occurred again in one write that replaces it, with other
    /// content than the first time. The record has the content of the first occurrence, so each
    /// of these stands for content that was not stored. ``WriteTicket/contradictions`` has those of
    /// one write.
    public var contradictions = 0

    /// The number of commits.
    public var commits = 0
    /// The number of writes that the cache gave up, by reason, for example `full` and `queueFull`.
    public var droppedWrites: [String: Int] = [:]
    /// The number of writes that failed because of what their caller asked for, by the code of the
    /// error, for example `noIdentifier` and `notFlattened`.
    ///
    /// Every ticket that fails counts here or in ``droppedWrites``, except a ticket of a cache that
    /// is closed already, or that was opened before a fork. If there are more codes than the
    /// statistics have room for, `other` is the sum of the rest.
    public var rejectedWrites: [String: Int] = [:]
    /// What the cache has evicted.
    public var evictions = EvictionStatistics()
    /// How often an empty generation replaced the cache's contents, by reason.
    public var generationsReplaced: [String: Int] = [:]
    /// The number of commits that ran out of pages and succeeded after eviction.
    public var mapFullRecoveries = 0
    /// The number of reads that were hits.
    public var hits = 0
    /// The number of reads that missed, by the name of the reason.
    public var misses: [String: Int] = [:]
    /// The number of reads that missed, by the type that they asked for, then by the name of the
    /// reason. There is room for a bounded number of types; those with most misses stay, and
    /// `other` counts the rest.
    public var missesByType: [String: [String: Int]] = [:]
    /// How long reads took, hits and misses, without the wait for earlier writes.
    public var readLatency = LatencySummary()
    /// How long commits took, from the beginning of their transaction.
    public var commitLatency = LatencySummary()
    /// The histogram behind ``readLatency``.
    public var readLatencies = LatencyHistogram()
    /// The histogram behind ``commitLatency``.
    public var commitLatencies = LatencyHistogram()

    // MARK: - The queue of writes, of this process

    /// The number of writes that were submitted and are neither committed nor failed.
    public var pendingWrites = 0
    /// The bytes of the writes that wait to be committed. ``Configuration/queueLimit`` is their
    /// limit.
    public var pendingBytes = ByteCount(0)
    /// How long the commit under way has lasted; nil while there is none.
    ///
    /// A commit takes milliseconds. If this is more than a second, another process holds the lock
    /// of the writer, or the disk does not answer. ``Configuration/writeDeadline`` ends the wait
    /// for the lock.
    public var writerBlockedFor: Duration?

    // MARK: - Memory

    /// What the memory for decompressed records holds and has done since the cache was opened, in
    /// this process. ``Configuration/blockCache`` is its limit.
    public var blocks = BlockStatistics()
    /// What the memory for decoded trees has done over the life of the cache, and what that of this
    /// process holds. ``Configuration/memoryBudget`` is its limit. Its hits are among ``hits``.
    public var memory = MemoryStatistics()

    /// Creates the statistics of a cache that is empty and has done nothing.
    public init() {}

    // MARK: - Derived figures

    /// The number of all records.
    public var records: Int { nodes + keys + collections + segments }

    /// The share of the pages in use, from 0 to 1.
    public var fill: Double { pageCapacity == 0 ? 0 : Double(pagesUsed) / Double(pageCapacity) }

    /// The bytes of the pages in use.
    public var pageBytes: ByteCount { ByteCount(pagesUsed * pageSize.bytes) }

    /// The share of reads that were hits, from 0 to 1; nil when there were no reads.
    public var hitRate: Double? {
        let reads = misses.values.reduce(hits, +)
        return reads == 0 ? nil : Double(hits) / Double(reads)
    }
}

/// The number of records of one type.
///
/// ```swift
/// for type in try cache.statistics().types { print(type.name, type.records) }
/// ```
///
/// A node that several types have written, as projections, counts for each of them.
public struct TypeStatistics: Sendable, Hashable, Codable {
    /// The name of the type.
    public var name: String
    /// The number of nodes that the type has written.
    public var records: Int

    /// Creates the count of a type's records.
    ///
    /// - Parameters:
    ///   - name: The name of the type.
    ///   - records: The number of nodes that the type has written.
    public init(name: String, records: Int) {
        self.name = name
        self.records = records
    }
}

/// The read with the oldest snapshot. Until it ends, the cache can't use any page again that was
/// freed since.
///
/// ```swift
/// if let reader = try cache.statistics().oldestReader, reader.commitsBehind > 1_000 {
///     report(reader.processIdentifier)
/// }
/// ```
///
/// The read may have ended when the value is returned.
public struct OldestReader: Sendable, Hashable, Codable {
    /// The process of the read.
    public var processIdentifier: Int
    /// The number of commits since the read's snapshot.
    public var commitsBehind: Int

    /// Creates the description of a read.
    ///
    /// - Parameters:
    ///   - processIdentifier: The process of the read.
    ///   - commitsBehind: The number of commits since the read's snapshot.
    public init(processIdentifier: Int, commitsBehind: Int) {
        self.processIdentifier = processIdentifier
        self.commitsBehind = commitsBehind
    }
}
