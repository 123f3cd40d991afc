#if CommandLine
import ArgumentParser
import EspalierInspection
import EspalierStore

/// `espalier stats`: prints the statistics of a cache, once or periodically.
struct StatsCommand: CacheCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Prints the contents and the activity of a cache.",
        discussion: """
            Activity counts cover the whole life of the cache and all processes. A process stores \
            its counts with its commits, or some seconds after a read if it commits nothing; \
            counts not yet stored are missing.

            --watch prints a line after each interval, with the state of the cache and its \
            activity since the line before, until Ctrl-C or --count lines; with --format json each \
            line is an object. Watching changes nothing.
            """)

    @OptionGroup var cache: CacheArgument

    @Flag(
        help:
            """
            Prints the types instead, with their records, share of the nodes, bytes, the age of \
            the oldest record that was written by itself or expires, how many have expired, and \
            misses. Reads the whole cache.
            """
    )
    var byType = false

    @Flag(help: "Prints a line after each interval, until Ctrl-C.")
    var watch = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The seconds between lines (default: 1).", valueName: "seconds"))
    var interval: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ends after this many lines.", valueName: "count"))
    var count: Int?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard watch || interval == nil && count == nil else {
            throw ValidationError("--interval and --count require --watch.")
        }
        guard !watch || !byType else {
            throw ValidationError("--by-type cannot be combined with --watch.")
        }
        guard (0.05...86_400).contains(interval ?? 1) else {
            throw ValidationError("--interval must be from 0.05 to 86400 seconds.")
        }
        guard count ?? 1 >= 1 else { throw ValidationError("--count must be at least 1.") }
    }

    @MainActor
    func run(on cache: NormalizedCache) async throws {
        guard !watch else {
            return try await StatisticsWatch(cache: cache, output: output, count: count)
                .run(Ticks(every: interval ?? 1))
        }
        let statistics = try cache.statistics()
        if byType {
            let contents = try cache.inspect { try $0.contentsByType() }
            try output.print(TypeReport(statistics: statistics, contents: contents))
        } else {
            try output.print(StatisticsReport(statistics: statistics))
        }
    }
}
#endif
