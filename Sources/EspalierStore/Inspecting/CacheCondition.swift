package import EspalierLMDB

/// How a cache's files, map and reader table are: what `espalier doctor` tells.
package struct CacheCondition: Sendable {
    /// The name of the live generation, a directory in the cache's.
    package var generation: String
    /// How often a generation was switched: the guard's counter.
    package var generationNumber: UInt64
    /// Generations that a switch left behind; the next one removes them.
    package var leftGenerations: [String]
    /// Of the live generation's file.
    package var formatVersion: UInt32
    package var budget: ByteCount
    package var mapSize: ByteCount
    package var pages: PageUsage
    /// How many pages may be used before writes fail; the rest of the capacity is for deletes.
    package var usablePages: Int
    package var directoryBytes: ByteCount
    /// The last commit LMDB made, of any process.
    package var lastTransaction: UInt64
    /// The reader table, this process's own slots and idle ones included. Slots of dead processes
    /// were freed by opening.
    package var readers: [Reader]
    package var readerSlots: Int
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
