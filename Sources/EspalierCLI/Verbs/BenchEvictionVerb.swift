import ArgumentParser
import EspalierStore

/// `espalier bench eviction`: fills caches several times over and says what eviction did to them.
struct BenchEvictionVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eviction",
        abstract: "Writes feeds into small caches until several budgets have been evicted.",
        discussion: """
            Feeds of 601 nodes, 300 of them people drawn by Zipf from 2,000; after each, three feeds are read, recent ones more \
            often. A watcher looks at the directory a thousand times a second. Then hot trees beside stale ones with and without \
            cycles, and the latency of reads with and without eviction beside them. Takes minutes for large budgets, and only a \
            release build means something.
            """)

    @Option(help: ArgumentHelp("The budgets to try.", valueName: "size"))
    var budget: [SizeArgument] = []

    @Option(help: "Budgets' worth of records to evict.")
    var turnover = 5.0

    @Flag(help: "Leaves out cycles and latencies.")
    var feedsOnly = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0.1...1_000).contains(turnover) else { throw ValidationError("--turnover is from 0.1 to 1000.") }
    }

    func run() throws {
        #if DEBUG
        Console.note("this is a debug build: the figures mean nothing")
        #endif
        do {
            let budgets = budget.isEmpty ? [1, 4, 16, 64].map(ByteCount.mebibytes) : budget.map { ByteCount($0.bytes) }
            let results = try budgets.map { try EvictionBench(budget: $0, turnover: turnover).run() }
            try output.print(EvictionBenchReport(results: results))
            guard !feedsOnly else { return }
            try output.print(CycleBenchReport(budget: .mebibytes(4)))
            try output.print(ReadLatencyBenchReport(small: .mebibytes(16), large: .gibibytes(1)))
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
