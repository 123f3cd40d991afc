import ArgumentParser
import EspalierBench

/// `espalier bench`: what the library measures about itself.
struct BenchVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract:
            "Measures reading, writing, latency, eviction, opening and compression on this machine.",
        discussion: """
            Each suite makes caches in a temporary directory, does its things turn by turn until its time is over, and prints how \
            often, the percentiles of an HdrHistogram, and the ratio of each median to the suite's baseline. Caches are as \
            durable as they are without options. Only a release build means something, and only what one run printed is to be \
            compared.

            \(Self.suites)
            """)

    private static let suites = BenchSuite.allCases.map { "\($0.rawValue): \($0.about)." }.joined(
        separator: "\n")

    private static let seconds = 0.05...3_600.0

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "What is measured; reading without. Given more than once, all of them.",
            valueName: "suite"))
    var suite: [SuiteArgument] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The time of each suite, what it sets up included.", valueName: "seconds"))
    var seconds = 12.0

    @Flag(help: "The same as --format json.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Writes a chart of each suite into a directory.", valueName: "directory"),
        completion: .directory)
    var svg: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard Self.seconds.contains(seconds) else {
            throw ValidationError("--seconds is from 0.05 to 3600.")
        }
        guard svg != "" else { throw ValidationError("--svg needs a directory.") }
        guard !json || output.format != .csv else {
            throw ValidationError("--json is not --format csv.")
        }
    }

    func run() throws {
        #if DEBUG
        Console.note("this is a debug build: the figures mean nothing")
        #endif
        try BenchRun(
            suites: SuiteArgument.suites(named: suite), seconds: seconds, output: output,
            format: json ? .json : output.format, charts: svg.map(ChartFolder.init)
        ).run()
    }
}
