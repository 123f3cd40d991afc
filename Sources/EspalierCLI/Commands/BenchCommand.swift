#if CommandLine
import ArgumentParser
import EspalierBench

/// `espalier bench`: measures the library on this machine.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract:
            """
            Measures reading, writing, latency, eviction, opening and compression on this machine.
            """,
        discussion: """
            Each suite makes caches in a temporary directory, runs its operations in turn until \
            its time is over, and prints counts, the percentiles of an HdrHistogram, and the ratio \
            of each median to the baseline of the suite. The caches have the default durability. \
            Measure with a release build, and compare only the figures of one run.

            \(Self.suites)
            """)

    private static let suites = BenchSuite.allCases.map { "\($0.rawValue): \($0.about)." }.joined(
        separator: "\n")

    private static let seconds = 0.05...3_600.0

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "The suite to run (default: reading); may be repeated.",
            valueName: "suite"))
    var suite: [SuiteArgument] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The time for each suite, including its setup.", valueName: "seconds"))
    var seconds = 12.0

    @Flag(help: "The same as --format json.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Writes a chart of each suite into this directory.", valueName: "directory"),
        completion: .directory)
    var svg: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Self.seconds.contains(seconds) else {
            throw ValidationError("--seconds must be from 0.05 to 3600.")
        }
        guard svg != "" else { throw ValidationError("--svg needs a directory.") }
        guard !json || output.format != .csv else {
            throw ValidationError("--json cannot be combined with --format csv.")
        }
    }

    func run() throws {
        #if DEBUG
        Console.note(
            "this is a debug build: the figures mean nothing")
        #endif
        try BenchRun(
            suites: SuiteArgument.suites(named: suite), seconds: seconds, output: output,
            format: json ? .json : output.format, charts: svg.map(ChartFolder.init)
        ).run()
    }
}
#endif
