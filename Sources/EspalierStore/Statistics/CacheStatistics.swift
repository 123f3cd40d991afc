/// What a cache holds and has done, from one snapshot.
///
/// Counters of writing are the cache's own and survive reopening; hits and misses are this process's.
public struct CacheStatistics: Sendable, Hashable, Codable {
    // What there is.
    public var nodes = 0
    public var roots = 0
    public var keys = 0
    public var collections = 0
    public var segments = 0
    /// Deleted records that living ones still refer to.
    public var tombstones = 0
    public var shapes = 0
    /// Bytes of all records as stored.
    public var recordBytes = ByteCount(0)
    // Where it stands.
    public var pageSize = ByteCount(0)
    public var pagesUsed = 0
    public var pageCapacity = 0
    public var directoryBytes = ByteCount(0)
    public var budget = ByteCount(0)
    // What was done since the cache was made or emptied.
    public var commits = 0
    public var writes = 0
    public var deletes = 0
    public var recordsWritten = 0
    /// Records that a write found to say the same already.
    public var recordsUnchanged = 0
    // What this process has read.
    public var hits = 0
    public var misses: [String: Int] = [:]

    /// The share of the pages in use, 0 to 1.
    public var fill: Double { pageCapacity == 0 ? 0 : Double(pagesUsed) / Double(pageCapacity) }
}
