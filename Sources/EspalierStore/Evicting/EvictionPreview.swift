import EspalierLMDB
package import EspalierRecords

/// What evicting down to a size would take, told without taking it.
///
/// ```swift
/// let preview = try cache.inspect { try $0.evictionPreview(to: .mebibytes(10)) }
/// print("\(preview.trees) trees of \(preview.records) records, the oldest \(preview.oldest?.identifier ?? "none")")
/// ```
///
/// Which records go, and in what order, is exact for the snapshot it was made from; where it stops
/// is an estimate, because only LMDB knows when a page is free. Accesses that no commit has stored
/// yet are not seen.
package struct EvictionPreview: Sendable, Equatable {
    /// What nothing else refers to, and would go before what it refers to: a root, or the records
    /// of a cycle.
    package struct Victim: Sendable, Equatable {
        package let nameSpace: NameSpace
        /// Of records on a cycle, that of one of them.
        package let identifier: String
        package let stamp: Stamp
        /// How long ago it was accessed; nil where that is not known.
        package let age: Duration?
        /// Records that go at once: more than one on a cycle, and with a collection its segments.
        package let records: Int
        /// Whether nothing referred to it before anything was evicted.
        package let isTree: Bool
    }

    /// Trees that lose their root. What they share with others stays.
    package internal(set) var trees = 0
    /// Records of any kind, segments included.
    package internal(set) var records = 0
    /// Of these records, as stored.
    package internal(set) var bytes = ByteCount(0)
    package internal(set) var oldest: Victim?
    package internal(set) var youngest: Victim?
    /// What is in use now, counted as the size to be reached is.
    package internal(set) var bytesInUse = ByteCount(0)
    /// What would be in use: an estimate.
    package internal(set) var bytesLeft = ByteCount(0)
    /// Whether the size is reached: what is pinned stays, and so does what pinned records refer to.
    package internal(set) var isReached = false

    mutating func add(_ victim: Victim) {
        if victim.isTree { trees += 1 }
        oldest = oldest ?? victim
        // Victims come in the order of their last access, apart from cycles that wait for one
        // another.
        if victim.stamp >= youngest?.stamp ?? .never { youngest = victim }
    }
}

extension Inspection {
    /// What `NormalizedCache.evict(to:)` would take now. `visit` is given every victim, in order.
    /// Costs a look at each record that would go, and an entry in memory for each that it refers
    /// to.
    package func evictionPreview(
        to bytes: ByteCount, visit: (EvictionPreview.Victim) throws -> Void = { _ in }
    ) throws -> EvictionPreview {
        let pages = try snapshot.pages()
        var simulation = try EvictionSimulation(self, pages)
        return try simulation.run(
            to: max(0, bytes.bytes - Generation.sideFiles) / pages.pageSize, visit: visit)
    }
}

extension CacheStatistics {
    /// The pages in use and the files beside them: what `NormalizedCache.evict(to:)` brings down.
    /// The file itself stays as long.
    package var bytesInUse: ByteCount { ByteCount(pageBytes.bytes + Generation.sideFiles) }
}
