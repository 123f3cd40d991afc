import EspalierLMDB

extension NormalizedCache {
    /// What the cache holds and has done. Costs a read transaction and some look-ups; throws when the cache is closed.
    public func statistics() throws(CacheError) -> CacheStatistics {
        guard !isClosed else { throw .closed }
        do {
            var statistics = try engine.inspect { transaction, generation in
                try CacheStatistics(transaction, generation)
            }
            statistics.directoryBytes = ByteCount(engine.directory.byteCount())
            let (hits, misses) = engine.statistics.snapshot
            statistics.hits = Int(clamping: hits)
            statistics.misses = misses.mapValues { Int(clamping: $0) }
            return statistics
        } catch {
            throw CacheError(error)
        }
    }
}

extension CacheStatistics {
    fileprivate init(_ transaction: borrowing ReadTransaction, _ generation: Generation) throws {
        let counters = try transaction.counters(generation.keyspaces)
        nodes = Int(clamping: counters.nodes)
        keys = Int(clamping: counters.keys)
        collections = Int(clamping: counters.collections)
        segments = Int(clamping: counters.segments)
        tombstones = Int(clamping: counters.tombstones)
        roots = try transaction.statistics(of: generation.keyspaces.recency).entries
        shapes = try transaction.statistics(of: generation.keyspaces.shapes).entries
        recordBytes = ByteCount(Int(clamping: counters.recordBytes))
        let pages = try transaction.pages()
        pageSize = ByteCount(pages.pageSize)
        pagesUsed = pages.used
        pageCapacity = pages.capacity
        budget = generation.budget
        commits = Int(clamping: counters.stamp)
        writes = Int(clamping: counters.writes)
        deletes = Int(clamping: counters.deletes)
        recordsWritten = Int(clamping: counters.recordsWritten)
        recordsUnchanged = Int(clamping: counters.recordsUnchanged)
    }
}
