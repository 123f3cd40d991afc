public import ArgumentParser
import Foundation

/// `compare`: measures every contender on the same data in one process.
public struct CompareCommand: ParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Measures Espalier beside what is used today, in one run.",
        subcommands: [CompareRun.self, CompareMemory.self],
        defaultSubcommand: CompareRun.self)

    public init() {}
}

struct CompareRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measures everything and writes a report.",
        discussion: """
            All contenders keep the same feeds and do the same in turns. Writes report.json, \
            report.md and plots. Only a release build means something, on a machine that does \
            nothing else.
            """)

    @Flag(help: "Tiny sizes, everything once: shows that all of it works.")
    var smoke = false

    @Flag(help: "The same data with fewer repetitions: shows what a change does.")
    var quick = false

    @Option(
        help:
            """
            The parts to measure: feeds, power, threads, latency, eviction, budgets, memory, \
            growth; all by default.
            """
    )
    var only: [Contest.Part] = []

    @Option(
        help: ArgumentHelp(
            """
            How far caches grow, from 1000 records to 20000000; 1000000 by default. Sizes beyond \
            a million take minutes more, and only Espalier and the hand-written baseline grow to \
            them.
            """, valueName: "records"))
    var largest: Int?

    @Option(help: ArgumentHelp("Where the report goes.", valueName: "directory"))
    var report = "report"

    @Option(
        help: ArgumentHelp(
            "Where contenders keep their files: on the disk that is to be measured.",
            valueName: "directory"))
    var scratch = NSTemporaryDirectory()

    @Option(
        help: ArgumentHelp(
            "A document whose tables between markers are replaced by those of the report.",
            valueName: "file"))
    var update: [String] = []

    func validate() throws {
        if smoke && quick { throw ValidationError("--smoke and --quick are two scales.") }
        guard let largest else { return }
        guard Scale.largestAllowed.contains(largest) else {
            throw ValidationError(
                """
                --largest is a number of records from \(Scale.largestAllowed.lowerBound) to \
                \(Scale.largestAllowed.upperBound), not \(largest).
                """)
        }
        if smoke || quick {
            throw ValidationError(
                "--smoke and --quick have sizes of their own: leave --largest out.")
        }
        if !only.isEmpty && !only.contains(.growth) {
            throw ValidationError("--largest is for the part growth, which --only leaves out.")
        }
    }

    private var scale: Scale {
        if smoke { return .smoke }
        if quick { return .quick }
        return largest.map(Scale.full.growing) ?? .full
    }

    func run() throws {
        let start = ContinuousClock.now
        let contest = Contest(scale: scale, directory: scratch) { what in
            let seconds = Int((ContinuousClock.now - start).microseconds / 1e6)
            FileHandle.standardError.write(Data("\(seconds) s: \(what)\n".utf8))
        }
        var files: [String] = []
        let report = try contest.run(only.isEmpty ? Contest.Part.allCases : only) { report in
            files = try ReportFiles(report).write(to: self.report)
        }
        for document in update {
            try MarkedDocument.update(document, with: MarkdownReport(report: report))
        }
        print(
            "\(report.outcomes.count) workloads in \(Int((ContinuousClock.now - start).microseconds / 1e6)) s; wrote:"
        )
        for file in files { print("    " + file) }
    }
}

struct CompareMemory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "What this process takes to read all feeds of a contender.",
        shouldDisplay: false)

    @Option var contender: ContenderID
    @Option var directory: String

    /// Reads identifiers of feeds from standard input, one a line.
    func run() throws {
        guard let contestant = Contestant.all.first(where: { $0.id == contender }) else {
            throw ValidationError("Nobody makes a contender '\(contender.rawValue)' by itself.")
        }
        var feeds: [String] = []
        while let line = readLine() { feeds.append(line) }
        let result = try ResidentMemory.measureHere(contestant, in: directory, feeds: feeds)
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }
}

extension Contest.Part: ExpressibleByArgument {}
extension ContenderID: ExpressibleByArgument {}
