import EspalierLMDB
import EspalierRecords

extension NormalizedCache {
    /// What the cache holds and has done. Costs a read transaction, a look-up for each shape and a
    /// look at the directory, some hundred microseconds at most; throws when the cache is closed.
    public func statistics() throws(CacheError) -> CacheStatistics {
        guard !isClosed else { throw .closed }
        do {
            return try engine.inspect { transaction, generation in
                // First: what a commit takes from here meanwhile, the snapshot does not have yet.
                let pending = engine.statistics.pending(asOf: transaction.number)
                var statistics = try CacheStatistics(transaction, generation)
                var lifetime = try transaction.lifetimeCounters(generation.keyspaces)
                lifetime += pending
                statistics.add(lifetime)
                statistics.directoryBytes = ByteCount(engine.directory.byteCount())
                return statistics
            }
        } catch {
            throw CacheError(error)
        }
    }
}

extension CacheStatistics {
    fileprivate init(_ transaction: borrowing ReadTransaction, _ generation: Generation) throws {
        let keyspaces = generation.keyspaces
        let counters = try transaction.counters(keyspaces)
        nodes = Int(clamping: counters.nodes)
        keys = Int(clamping: counters.keys)
        collections = Int(clamping: counters.collections)
        segments = Int(clamping: counters.segments)
        tombstones = Int(clamping: counters.tombstones)
        roots = try transaction.statistics(of: keyspaces.recency).entries
        shapes = try transaction.statistics(of: keyspaces.shapes).entries
        pins = try transaction.statistics(of: keyspaces.pins).entries
        types = try transaction.types(keyspaces)
        rawBytes = ByteCount(Int(clamping: counters.rawBytes))
        recordBytes = ByteCount(Int(clamping: counters.recordBytes))
        let pages = try transaction.pages()
        pageSize = ByteCount(pages.pageSize)
        pagesUsed = pages.used
        pageCapacity = pages.capacity
        fileBytes = ByteCount((pages.lastPage + 1) * pages.pageSize)
        budget = generation.budget
        oldestReader = OldestReader(try generation.environment.readers())
        writes = Int(clamping: counters.writes)
        deletes = Int(clamping: counters.deletes)
        recordsWritten = Int(clamping: counters.recordsWritten)
        recordsUnchanged = Int(clamping: counters.recordsUnchanged)
    }

    fileprivate mutating func add(_ lifetime: LifetimeCounters) {
        commits = Int(clamping: lifetime.commits)
        hits = Int(clamping: lifetime.hits)
        misses = lifetime.misses.clamped
        missesByType = lifetime.missesByType.counts.mapValues(\.clamped)
        droppedWrites = lifetime.droppedWrites.clamped
        generationsReplaced = lifetime.generationsReplaced.clamped
        mapFullRecoveries = Int(clamping: lifetime.mapFullRecoveries)
        evictions = EvictionStatistics(lifetime)
        readLatencies = lifetime.readLatency
        commitLatencies = lifetime.commitLatency
        readLatency = LatencySummary(readLatencies)
        commitLatency = LatencySummary(commitLatencies)
    }
}

extension OldestReader {
    fileprivate init?(_ readers: [Reader]) {
        guard let oldest = readers.max(by: { ($0.lag ?? 0) < ($1.lag ?? 0) }), let lag = oldest.lag,
            lag > 0
        else {
            return nil
        }
        self.init(
            processIdentifier: Int(oldest.processIdentifier), commitsBehind: Int(clamping: lag))
    }
}

extension ReasonCounts {
    fileprivate var clamped: [String: Int] { counts.mapValues { Int(clamping: $0) } }
}
