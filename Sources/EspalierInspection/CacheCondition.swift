package import EspalierLMDB
package import EspalierStore

/// The state of a cache's files, map and reader table, which `espalier doctor` shows.
package struct CacheCondition: Sendable {
    /// The name of the live generation, a directory inside the cache's directory.
    package var generation: String
    /// How often the generation was switched, as the guard file counts it.
    package var generationNumber: UInt64
    /// Generations that a switch left behind. The next switch removes them.
    package var leftGenerations: [String]
    /// The format of the live generation's file.
    package var formatVersion: UInt32
    package var budget: ByteCount
    package var mapSize: ByteCount
    package var pages: PageUsage
    /// The number of pages that may be in use before commits evict. Commits need the rest for
    /// copies and for eviction.
    package var usablePages: Int
    package var directoryBytes: ByteCount
    /// The number of the last LMDB transaction of all processes.
    package var lastTransaction: UInt64
    /// The reader table, with idle slots and the slots of this process. Opening a cache frees the
    /// slots of processes that have ended.
    package var readers: [Reader]
    package var readerSlots: Int
    /// Whether somebody else kept the lock of the writer for as long as ``condition(waiting:)`` has
    /// waited for it.
    package var isWriterBlocked = false
}

extension CacheCondition {
    init(
        _ transaction: borrowing ReadTransaction, _ generation: Generation,
        in directory: CacheDirectory
    ) throws {
        let environment = generation.environment
        self.generation = generation.name
        generationNumber = generation.number
        leftGenerations = directory.generations().filter { $0 != generation.name }.sorted()
        formatVersion = generation.format
        budget = generation.budget
        mapSize = ByteCount(environment.mapSize)
        pages = try transaction.pages()
        usablePages = PagePlan(capacity: pages.capacity).high
        directoryBytes = ByteCount(directory.byteCount())
        lastTransaction = try environment.lastTransaction
        readers = try environment.readers()
        readerSlots = environment.options.maximumReaders
    }
}

extension NormalizedCache {
    /// Returns the state of the files, the map and the reader table.
    ///
    /// - Parameter limit: How long to wait for the lock of the writer, to find out whether it is
    ///   blocked; nil to leave that out.
    package func condition(waiting limit: Duration? = nil) throws(CacheError) -> CacheCondition {
        do {
            return try withTransaction(.snapshot) { transaction, generation in
                var condition = try CacheCondition(transaction, generation, in: directory)
                if let limit, !generation.environment.options.isReadOnly {
                    condition.isWriterBlocked = try generation.environment.isWriterBlocked(
                        for: limit)
                }
                return condition
            }
        } catch {
            throw CacheError(error)
        }
    }
}

extension EspalierLMDB.Environment {
    /// Returns whether somebody else keeps the lock of the writer for `limit`.
    fileprivate func isWriterBlocked(for limit: Duration) throws(LMDBError) -> Bool {
        do throws(LMDBError) {
            try beginWrite(deadline: limit).abort()
            return false
        } catch {
            guard error.code == .busy else { throw error }
            return true
        }
    }
}
