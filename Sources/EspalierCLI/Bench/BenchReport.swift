#if CommandLine
import ArgumentParser
import EspalierBench
import EspalierFixtures
import EspalierStore
import Foundation

/// The times of a suite as rows: the count, percentiles, and the ratio of the median to the
/// baseline's.
struct SuiteReport: Printable {
    let result: SuiteResult

    static let percentiles: [(name: String, title: String, percentile: Double)] = [
        ("p50", "p50", 50), ("p90", "p90", 90), ("p99", "p99", 99), ("p999", "p99.9", 99.9),
        ("max", "max", 100),
    ]

    static let columns: [TableColumn] =
        [.left("name"), .left("unit"), .right("count")]
        + percentiles.map { .right($0.name, $0.title) } + [.right("ratio")]

    var report: Report {
        Report(.list, columns: Self.columns, rows: result.timings.map(cells))
    }

    func cells(of timing: Timing) -> [Cell] {
        [.text(timing.name), .text(Timing.unit), .count(timing.latencies.count)]
            + Self.percentiles.map { Self.cell(timing.latencies.microseconds(at: $0.percentile)) }
            + [result.ratio(of: timing).map { .real($0, decimals: 2) } ?? .nothing]
    }

    /// Shows three digits: the histogram has no more.
    private static func cell(_ microseconds: Double?) -> Cell {
        guard let microseconds else { return .nothing }
        return .real(microseconds, decimals: microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0)
    }
}

extension SuiteFigure {
    var fact: Report.Fact {
        let cell: Cell =
            switch value {
            case .count(let count): .count(count)
            case .bytes(let bytes): .size(bytes)
            case .share(let share): .share(share)
            case .number(let number, let decimals): .real(number, decimals: decimals)
            case .nanoseconds(let nanoseconds): .nanoseconds(nanoseconds)
            case .flag(let flag): .flag(flag)
            }
        return (name, title, cell)
    }
}

/// The results of a run, for programs.
struct BenchDocument {
    let environment: BenchEnvironment
    let seconds: Double
    /// Results, and the files of their charts if the user asked for charts.
    let results: [(result: SuiteResult, chart: String?)]

    var json: JSONValue {
        [
            "environment": environment.json, "secondsPerSuite": .number(.double(seconds)),
            "suites": .array(results.map { json(of: $0.result, $0.chart) }),
        ]
    }

    private func json(of result: SuiteResult, _ chart: String?) -> JSONValue {
        var json: JSONValue = [
            "suite": .string(result.suite.rawValue), "about": .string(result.suite.about),
            "baseline": .string(result.baseline), "timings": SuiteReport(result: result).json,
        ]
        if !result.figures.isEmpty {
            json = json + ["figures": Report(facts: result.figures.map(\.fact)).json]
        }
        return chart.map { json + ["chart": .string($0)] } ?? json
    }

    /// Times and figures as rows of one table. Figures have a value only.
    var csv: String {
        let columns = ["suite"] + SuiteReport.columns.map(\.name) + ["value"]
        let empty = Array(repeating: Cell.nothing, count: SuiteReport.columns.count - 1)
        let rows = results.flatMap { result, _ in
            let times = SuiteReport(result: result)
            return
                (result.timings.map { times.cells(of: $0) + [.nothing] }
                + result.figures.map { [.text($0.name)] + empty + [$0.fact.cell] })
                .map { [.text(result.suite.rawValue)] + $0 }
        }
        return Report(.list, columns: columns.map { .left($0) }, rows: rows).csv
    }
}

/// The machine and the libraries that were measured: times of different surroundings must not be
/// compared.
struct BenchEnvironment: Sendable {
    var surroundings: Surroundings
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var durability = Configuration().durability
    var date = Date()

    #if DEBUG
    static let build = "debug"
    #else
    static let build = "release"
    #endif

    /// - Parameter path: Where the caches are made.
    init(of path: String) { surroundings = Surroundings(of: path) }

    var json: JSONValue {
        [
            "espalier": .string(surroundings.tool), "build": .string(Self.build),
            "system": .string(surroundings.system), "lmdb": .string(surroundings.lmdb),
            "zstd": .string(surroundings.zstd),
            "fileSystem": .string(surroundings.disk?.mount?.type ?? "unknown"),
            "durability": .string(durability.rawValue),
            "date": .string(date.formatted(.iso8601)), "processors": .number(processors),
        ]
    }

    /// The same as one line, for a person.
    var line: String {
        let parts = [
            "espalier \(surroundings.tool), \(Self.build)", surroundings.system,
            processors == 1 ? "1 processor" : "\(processors) processors",
            "LMDB \(surroundings.lmdb), zstd \(surroundings.zstd)",
            "durability .\(durability.rawValue)"
                + (surroundings.disk?.mount.map { " on \($0.type)" } ?? ""),
            date.formatted(.iso8601.year().month().day()),
        ]
        return parts.joined(separator: "; ")
    }
}

/// A suite as the command line names it, or `all`.
struct SuiteArgument: ExpressibleByArgument {
    let suites: [BenchSuite]

    private static let all = "all"

    init?(argument: String) {
        if argument == Self.all {
            suites = BenchSuite.allCases
        } else if let suite = BenchSuite(rawValue: argument) {
            suites = [suite]
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] { BenchSuite.allCases.map(\.rawValue) + [all] }

    /// Returns each suite once, in the order in which they run; reading if none is named.
    static func suites(named arguments: [SuiteArgument]) -> [BenchSuite] {
        let named = arguments.flatMap(\.suites)
        return named.isEmpty ? [.reading] : BenchSuite.allCases.filter(named.contains)
    }
}
#endif
