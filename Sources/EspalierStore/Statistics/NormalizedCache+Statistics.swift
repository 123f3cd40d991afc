package import EspalierLMDB
import EspalierRecords

extension NormalizedCache {
    /// Returns what the cache holds and has done.
    ///
    /// - Throws: A ``CacheError``: `closed` when the cache is closed, `storage` or `damaged` when
    ///   it can't be read.
    /// - Complexity: O(*n*) in the shapes, the files, and the groups of some 90 roots: usually some
    ///   hundred microseconds, and about a millisecond for a million roots.
    public func statistics() throws(CacheError) -> CacheStatistics {
        guard !isClosed else { throw .closed }
        if let failure = engine.generations.failure {
            var statistics = CacheStatistics()
            statistics.openingFailure = failure.description
            statistics.add(engine.statistics.pending)
            return statistics
        }
        do {
            return try engine.withTransaction { transaction, generation in
                // Taken before anything is read: a commit may take these counts meanwhile, and the
                // snapshot does not contain them.
                let pending = engine.statistics.pending(
                    asOf: transaction.number, in: generation.name)
                var statistics = try CacheStatistics(transaction, generation)
                var lifetime = try transaction.lifetimeCounters(generation.keyspaces)
                lifetime += pending
                statistics.add(lifetime)
                statistics.blocks = generation.blocks.statistics
                statistics.memory = MemoryStatistics(lifetime.memory, engine.memory)
                let queued = engine.queue.pending
                statistics.pendingWrites = queued.count
                statistics.pendingBytes = ByteCount(queued.byteCount)
                statistics.writerBlockedFor = engine.writerBlockedFor
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
        roots = try transaction.recencyCount(keyspaces)
        shapes = try transaction.statistics(of: keyspaces.shapes).entries
        pins = try transaction.statistics(of: keyspaces.pins).entries
        types = try transaction.types(keyspaces)
        rawBytes = ByteCount(Int(clamping: counters.rawBytes))
        recordBytes = ByteCount(Int(clamping: counters.recordBytes))
        let pages = try transaction.pages()
        pageSize = ByteCount(pages.pageSize)
        pagesUsed = pages.used
        pageCapacity = pages.capacity
        fileBytes = ByteCount(try generation.environment.fileSize)
        budget = generation.budget
        oldestReader = OldestReader(try generation.environment.readers())
        writes = Int(clamping: counters.writes)
        deletes = Int(clamping: counters.deletes)
        recordsWritten = Int(clamping: counters.recordsWritten)
        recordsUnchanged = Int(clamping: counters.recordsUnchanged)
        evictions.detachedRecords = Int(clamping: counters.detachments)
    }

    fileprivate mutating func add(_ lifetime: LifetimeCounters) {
        commits = Int(clamping: lifetime.commits)
        hits = Int(clamping: lifetime.hits)
        misses = lifetime.misses.clamped
        missesByType = lifetime.missesByType.counts.mapValues(\.clamped)
        droppedWrites = lifetime.droppedWrites.clamped
        rejectedWrites = lifetime.rejectedWrites.clamped
        generationsReplaced = lifetime.generationsReplaced.clamped
        mapFullRecoveries = Int(clamping: lifetime.mapFullRecoveries)
        contradictions = Int(clamping: lifetime.contradictions)
        evictions = EvictionStatistics(lifetime, detachedRecords: evictions.detachedRecords)
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

extension ReadableTransaction where Self: ~Copyable {
    /// Returns what the cache has done; zeros where that is not stored, or damaged.
    package func lifetimeCounters(_ keyspaces: Keyspaces) throws -> LifetimeCounters {
        do {
            return try withValue(keyspaces.info, LifetimeCounters.key) { span in
                try ByteReader.reading(span) { try LifetimeCounters(reading: &$0) }
            } ?? LifetimeCounters()
        } catch is FormatError {
            return LifetimeCounters()
        }
    }

    /// Returns the records of each type, as the shapes count them, without damaged shapes.
    func types(_ keyspaces: Keyspaces) throws -> [TypeStatistics] {
        var counts: [Identifier: Int] = [:]
        try forEach(in: keyspaces.shapes) { key, value in
            try? ByteReader.reading(value) { reader in
                let number = try ByteReader.reading(key) { try $0.integer(UInt64.self) }
                let (types, records) = try StoredShape.types(reading: &reader, number: number)
                for type in types { counts[Identifier(type), default: 0] += Int(clamping: records) }
            }
            return true
        }
        return counts.map { TypeStatistics(name: $0.key.string, records: $0.value) }
            .sorted { ($1.records, $0.name) < ($0.records, $1.name) }
    }
}

extension StoredShape {
    /// Reads only the part of an entry that the statistics need: reading the fields would take most
    /// of the time.
    fileprivate static func types(
        reading reader: inout ByteReader, number: UInt64
    ) throws(FormatError) -> (types: [String], records: UInt64) {
        _ = try reader.verifiedEnd(seed: number)
        let records = try reader.varint()
        var types: [String] = []
        for _ in 0..<(try reader.count()) {
            types.append(try reader.string(count: try reader.count()))
        }
        return (types, records)
    }
}
