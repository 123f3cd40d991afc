package import EspalierLMDB

/// How a cache's files, map and reader table are: what `espalier doctor` tells.
package struct CacheCondition: Sendable {
    /// The name of the live generation, a directory in the cache's.
    package let generation: String
    /// How often a generation was switched: the guard's counter.
    package let generationNumber: UInt64
    /// Generations that a switch left behind; the next one removes them.
    package let leftGenerations: [String]
    package let formatVersion: UInt32
    package let budget: ByteCount
    package let mapSize: ByteCount
    package let pages: PageUsage
    package let directoryBytes: ByteCount
    /// The last commit LMDB made, of any process.
    package let lastTransaction: UInt64
    /// The reader table, this process's own slots and idle ones included. Slots of dead processes were freed by opening.
    package let readers: [Reader]
    package let readerSlots: Int
}

extension CacheCondition {
    init(_ transaction: borrowing ReadTransaction, _ generation: Generation, in directory: CacheDirectory) throws {
        let environment = generation.environment
        self.generation = generation.name
        generationNumber = generation.number
        leftGenerations = directory.generations().filter { $0 != generation.name }.sorted()
        formatVersion = Generation.formatVersion
        budget = generation.budget
        mapSize = ByteCount(environment.mapSize)
        pages = try transaction.pages()
        directoryBytes = ByteCount(directory.byteCount())
        lastTransaction = try environment.lastTransaction
        readers = try environment.readers()
        readerSlots = environment.options.maximumReaders
    }
}
