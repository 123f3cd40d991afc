import ArgumentParser
import EspalierStore

/// `espalier stats`: what a cache holds and has done.
struct StatsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Prints what the cache holds and what was done with it.")

    @OptionGroup var cache: CacheArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        do {
            try output.print(StatisticsReport(statistics: try cache.statistics()))
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}
