import EspalierStore

/// Runs suites one after the other, each in a folder that goes afterwards, and prints what they
/// come to.
struct BenchRun {
    let suites: [BenchSuite]
    let seconds: Double
    let output: any OutputChoice
    let format: Format
    let charts: ChartFolder?

    func run() throws {
        let scratch = try ScratchDirectory(for: "bench")
        defer { scratch.end() }
        let environment = BenchEnvironment(of: scratch.path)
        let progress = BenchProgress(suites: suites.count, seconds: seconds)
        defer { progress?.end() }
        if format == .table { try Console.print(output.palette.paint(environment.line, .faint)) }
        var results: [(result: SuiteResult, chart: String?)] = []
        for suite in suites {
            progress?.begin(suite)
            let result = try measure(suite, in: scratch)
            let chart = try charts?.write(result, note: environment.line)
            progress?.finish()
            if format == .table { try show(result, chart) }
            results.append((result, chart))
        }
        let document = BenchDocument(environment: environment, seconds: seconds, results: results)
        switch format {
        case .table: break
        case .json: try Console.print(document.json)
        case .csv:
            try Console.print(document.csv)
            for chart in results.compactMap(\.chart) { Console.note("wrote \(chart)") }
        }
    }

    private func measure(_ suite: BenchSuite, in scratch: ScratchDirectory) throws -> SuiteResult {
        let folder = try scratch.makeDirectory(suite.rawValue)
        defer { scratch.remove(suite.rawValue) }
        do {
            return try suite.run(in: folder, for: Allotment(seconds: seconds))
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as CacheError {
            throw CommandFailure("\(suite.rawValue): \(error.message)")
        } catch {
            throw CommandFailure("\(suite.rawValue): \(error)")
        }
    }

    private func show(_ result: SuiteResult, _ chart: String?) throws {
        try Console.print("")
        try Console.print(
            output.palette.paint("\(result.suite.rawValue): \(result.suite.about)", .title))
        try Console.print("")
        try output.print(SuiteReport(result: result), as: .table)
        try Console.print("")
        try Console.print("ratio: of medians, to '\(result.baseline)'")
        if !result.figures.isEmpty {
            try Console.print("")
            try output.print(Report(facts: result.figures), as: .table)
        }
        if let chart { try Console.print("\nwrote \(chart)") }
    }
}
