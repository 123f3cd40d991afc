import ArgumentParser
import EspalierStore

/// `espalier sweep`: finds what eviction could not find by itself.
struct CollectCyclesVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Finds cycles that nobody has noticed, and names that lead nowhere.",
        discussion: """
            Records that refer to one another in a circle are never without a reference. Writes and reads notice such circles; \
            what they missed a sweep finds. The cache sweeps by itself, a little with each commit, once for every budget's \
            worth of bytes written. It evicts nothing: what it finds goes when its time comes.
            """)

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        do {
            let before = try cache.statistics()
            try await cache.collectCycles().committed
            try output.print(CycleCollectionSummary(before: before, after: cache.statistics()))
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}
