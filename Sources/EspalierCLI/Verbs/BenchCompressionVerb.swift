import ArgumentParser
import EspalierStore

/// `espalier bench compression`: what compression saves and what it costs.
struct BenchCompressionVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compression",
        abstract: "Fills a cache with and without compression, and times both.",
        discussion: """
            The feeds of 'bench eviction' into two caches, until the budget has been evicted some times over: how many bytes a \
            record takes, raw and stored, and how many feeds fit. Then one feed read from a raw and from a compressed cache, turn \
            by turn, and its records compressed one by one beside copying and checking them. Only a release build means something.
            """)

    @Option(help: ArgumentHelp("The budget.", valueName: "size"))
    var budget: SizeArgument?

    @Option(help: "Budgets' worth of records to evict.")
    var turnover = 1.5

    @Option(help: "Times each cache reads the feed.")
    var rounds = 200

    @Flag(help: "Leaves the full caches out.")
    var timesOnly = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0.1...1_000).contains(turnover) else { throw ValidationError("--turnover is from 0.1 to 1000.") }
        guard (1...1_000_000).contains(rounds) else { throw ValidationError("--rounds is from 1 to 1000000.") }
    }

    func run() throws {
        #if DEBUG
        Console.note("this is a debug build: the figures mean nothing")
        #endif
        do {
            let budget = budget.map { ByteCount($0.bytes) } ?? .mebibytes(64)
            let bench = CompressionBench(budget: budget, turnover: turnover, rounds: rounds)
            if !timesOnly {
                let space = try bench.space()
                try output.print(CompressionSpaceReport(space: space))
                try output.print(TypeSizesReport(sizes: space.compressed.sizes))
            }
            try output.print(CompressionTimeReport(time: try bench.time()))
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
