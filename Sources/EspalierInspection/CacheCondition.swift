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
    /// Whether another thread or process held the lock of the writer during the whole wait of
    /// ``condition(waiting:)``; nil if that has not tried the lock, or could not.
    package var isWriterBlocked: Bool?
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
        usablePages = PagePlan(capacity: pages.capacity).highWatermark
        directoryBytes = ByteCount(directory.byteCount())
        lastTransaction = try environment.lastTransaction
        readers = try environment.readers()
        readerSlots = environment.options.maximumReaders
    }
}

extension NormalizedCache {
    /// Returns the state of the files, the map and the reader table.
    ///
    /// - Parameter limit: How long to wait for the lock of the writer. With nil, the lock is not
    ///   tried.
    package func condition(waiting limit: Duration? = nil) throws(CacheError) -> CacheCondition {
        do {
            var (condition, environment) = try withTransaction(.snapshot) {
                transaction, generation in
                let condition = try CacheCondition(transaction, generation, in: directory)
                return (condition, generation.environment)
            }
            condition.isWriterBlocked = limit.flatMap { environment.isWriterBlocked(for: $0) }
            return condition
        } catch {
            throw CacheError(error)
        }
    }
}

extension EspalierLMDB.Environment {
    /// Returns whether another thread or process holds the lock of the writer for `limit`; nil if
    /// the environment can't be written.
    fileprivate func isWriterBlocked(for limit: Duration) -> Bool? {
        do throws(LMDBError) {
            try beginWrite(deadline: limit).abort()
            return false
        } catch {
            return error.code == .busy ? true : nil
        }
    }
}
