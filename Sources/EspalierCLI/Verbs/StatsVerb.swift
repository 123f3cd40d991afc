import ArgumentParser
import EspalierStore

/// `espalier stats`: what a cache holds and has done, once or a line at a time.
struct StatsVerb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Prints what the cache holds and what was done with it.",
        discussion: """
            What was done counts for the cache's whole life and for all processes. A process stores its counts with its \
            commits, or some seconds after a read where it commits nothing; what it has not stored yet is missing.

            With --watch a line follows each interval, of the cache as it stands and of what was done meanwhile, until Ctrl-C \
            or --count lines; --format json makes each an object on a line of its own. Watching changes nothing.
            """)

    @OptionGroup var cache: CacheArgument

    @Flag(
        help:
            """
            The types instead, with their records, their share of the nodes, their bytes, and the misses of reads that asked for \
            them: walks the cache.
            """
    )
    var byType = false

    @Flag(help: "A line for each interval, until Ctrl-C.")
    var watch = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds from line to line; 1 without.", valueName: "seconds"))
    var interval: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ends after this many lines.", valueName: "count"))
    var count: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard watch || interval == nil && count == nil else {
            throw ValidationError("--interval and --count go with --watch.")
        }
        guard !watch || !byType else {
            throw ValidationError("--by-type does not go with --watch.")
        }
        guard (0.05...86_400).contains(interval ?? 1) else {
            throw ValidationError("--interval is from 0.05 to 86400 seconds.")
        }
        guard count ?? 1 >= 1 else { throw ValidationError("--count is at least 1.") }
    }

    @MainActor
    func run() async throws {
        let cache = try cache.openExisting()
        defer { cache.close() }
        do {
            guard !watch else {
                return try await StatisticsWatch(cache: cache, output: output, count: count)
                    .run(Ticks(every: interval ?? 1))
            }
            let statistics = try cache.statistics()
            if byType {
                let bytes = try cache.inspect { try $0.bytesByType() }
                try output.print(TypeReport(statistics: statistics, bytes: bytes))
            } else {
                try output.print(StatisticsReport(statistics: statistics))
            }
        } catch let error as CacheError {
            throw self.cache.failure(error)
        }
    }
}
