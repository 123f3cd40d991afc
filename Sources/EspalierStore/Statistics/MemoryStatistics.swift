import EspalierConfinement
import Synchronization

/// What the memory for decoded trees holds, and how often trees were found in it.
///
/// ```swift
/// let memory = try cache.statistics().memory
/// print("\(memory.trees) trees, \(memory.hits) times found, \(memory.staleReads) times changed")
/// ```
///
/// The counts cover the whole life of the cache and all processes. ``repeatedWrites``, ``trees``
/// and ``bytes`` are those of this process.
public struct MemoryStatistics: Sendable, Hashable, Codable {
    /// How often a read found its tree, unchanged.
    public var hits = 0
    /// How often a read did not find its tree.
    public var misses = 0
    /// How often a read found its tree, but a record of it may have changed. It then decoded what
    /// had changed.
    public var staleReads = 0
    /// How many trees were removed to make room for others.
    public var removals = 0
    /// The number of writes whose records were not looked at, because memory knew that they are
    /// stored. Such a write only sets the date of its entry. Of this process, since it opened the
    /// cache.
    public var repeatedWrites = 0
    /// The trees in memory, of this process.
    public var trees = 0
    /// An estimate of the memory that the trees take, of this process.
    public var bytes = ByteCount(0)

    /// Creates the statistics of an empty memory.
    public init() {}

    /// Decodes statistics, also those of a version that did not count all of this.
    ///
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        hits = try values.decode(Int.self, forKey: .hits)
        misses = try values.decode(Int.self, forKey: .misses)
        staleReads = try values.decode(Int.self, forKey: .staleReads)
        removals = try values.decode(Int.self, forKey: .removals)
        repeatedWrites = try values.decodeIfPresent(Int.self, forKey: .repeatedWrites) ?? 0
        trees = try values.decode(Int.self, forKey: .trees)
        bytes = try values.decode(ByteCount.self, forKey: .bytes)
    }

    init(_ counts: MemoryCounts, _ memory: MemoryTier?) {
        hits = Int(clamping: counts.hits)
        misses = Int(clamping: counts.misses)
        staleReads = Int(clamping: counts.staleReads)
        removals = Int(clamping: counts.removals)
        guard let memory else { return }
        repeatedWrites = Int(clamping: memory.repeatedWrites)
        (trees, bytes) = memory.contents
    }
}

/// The counts of the memory for trees.
struct MemoryCounts: Hashable, Sendable {
    var hits: UInt64 = 0
    var misses: UInt64 = 0
    var staleReads: UInt64 = 0
    var removals: UInt64 = 0

    init() {}

    /// Reads four counts in the order of `fields`.
    init(_ fields: ArraySlice<UInt64>) {
        let first = fields.startIndex
        hits = fields[first]
        misses = fields[first + 1]
        staleReads = fields[first + 2]
        removals = fields[first + 3]
    }

    /// The counts in the order in which they are stored.
    var fields: [UInt64] { [hits, misses, staleReads, removals] }

    static func += (counts: inout MemoryCounts, delta: MemoryCounts) {
        counts = MemoryCounts(zip(counts.fields, delta.fields).map { $0.addingClamped($1) }[...])
    }

    /// Returns what was counted since `earlier`.
    static func - (counts: MemoryCounts, earlier: MemoryCounts) -> MemoryCounts {
        MemoryCounts(zip(counts.fields, earlier.fields).map { $0 &- $1 }[...])
    }
}

/// Counts what the memory for trees does, since the cache was opened. All threads may use it.
final class MemoryCounter: Sendable {
    /// Reads of different trees rarely count in the same part.
    let parts = (0..<partCount).map { _ in Part() }
    /// A power of two. With 16, eight trees that four threads read often had the same part.
    static let partCount = 64
    let removals = Atomic<UInt64>(0)
    let repeatedWrites = Atomic<UInt64>(0)

    final class Part: Sendable {
        let hits = Atomic<UInt64>(0)
        let misses = Atomic<UInt64>(0)
        let staleReads = Atomic<UInt64>(0)
        private let padding = CacheLinePadding()
    }

    var counts: MemoryCounts {
        var counts = MemoryCounts()
        for part in parts {
            counts.hits += part.hits.load(ordering: .relaxed)
            counts.misses += part.misses.load(ordering: .relaxed)
            counts.staleReads += part.staleReads.load(ordering: .relaxed)
        }
        counts.removals = removals.load(ordering: .relaxed)
        return counts
    }
}
