import ArgumentParser

/// `espalier bench`: what the library measures about itself.
struct BenchVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures reading, eviction or compression on this machine.",
        subcommands: [BenchReadingVerb.self, BenchEvictionVerb.self, BenchCompressionVerb.self],
        defaultSubcommand: BenchReadingVerb.self)
}

/// `espalier bench reading`: reads one feed four ways, in one process, interleaved.
struct BenchReadingVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reading",
        abstract: "Reads a feed by the library, by hand-written Swift over LMDB and by JSONDecoder.",
        discussion: """
            Makes a feed of posts, comments and people in a temporary directory, reads it warm and prints medians. Only the \
            ratios mean something, and only in a release build.
            """)

    @Option(help: "Posts of the feed; each is six nodes with its comments and people.")
    var posts = 100

    @Option(help: "Times each way reads the feed.")
    var rounds = 500

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...20_000).contains(posts) else { throw ValidationError("--posts is from 1 to 20000.") }
        guard (1...1_000_000).contains(rounds) else { throw ValidationError("--rounds is from 1 to 1000000.") }
    }

    func run() throws {
        #if DEBUG
        Console.note("this is a debug build: the figures mean nothing")
        #endif
        do {
            let report = FeedBenchReport(result: try FeedBench(posts: posts, rounds: rounds).run())
            try output.print(report)
            if output.format == .table { try Console.print(report.note) }
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}
