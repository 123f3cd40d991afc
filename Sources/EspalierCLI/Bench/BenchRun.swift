#if CommandLine
import Dispatch
import EspalierBench
import EspalierStore
import Foundation
import Synchronization

/// Runs suites one after the other, each in a folder that is removed afterwards, and prints their
/// results.
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
            try output.print(Report(facts: result.figures.map(\.fact)), as: .table)
        }
        if let chart { try Console.print("\nwrote \(chart)") }
    }
}

/// A bar on standard error that shows how much of the time of all suites has passed.
final class BenchProgress {
    private let bar: ProgressBar
    private let seconds: Double
    private let timer: any DispatchSourceTimer
    private let state: Mutex<State>

    private struct State {
        var finished = 0
        var current: (suite: BenchSuite, start: ContinuousClock.Instant)?
    }

    /// Returns nil unless standard error is a terminal.
    init?(suites: Int, seconds: Double) {
        guard Terminal.isError else { return nil }
        self.seconds = seconds
        bar = ProgressBar(total: Int((Double(suites) * seconds).rounded(.up)), unit: "seconds")
        state = Mutex(State())
        timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "progress", qos: .utility))
        // Seldom, because a thread that wakes up disturbs what is measured.
        timer.schedule(deadline: .now(), repeating: 0.5)
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.resume()
    }

    func begin(_ suite: BenchSuite) { state.withLock { $0.current = (suite, .now) } }

    /// Ends the current suite, and clears the line for its result.
    func finish() {
        state.withLock { state in
            guard state.current != nil else { return }
            state.current = nil
            state.finished += 1
            Console.draw("\r\u{1B}[K")
        }
    }

    func end() {
        timer.cancel()
        finish()
    }

    private func draw() {
        // Draws under the lock: a bar that came after the line was cleared would stand in the
        // result.
        state.withLock { state in
            guard let (suite, start) = state.current else { return }
            // The bar waits at the end of a suite that takes longer than it was given.
            let passed = min((ContinuousClock.now - start) / .seconds(1), seconds)
            let done = Int(Double(state.finished) * seconds + passed)
            let name = "  " + TableColumn.Alignment.left.pad(suite.rawValue, to: 11)
            Console.draw(
                "\r" + bar.text(done: done, width: max(20, (Terminal.width ?? 80) - 14)) + name)
        }
    }
}

/// The folder to which charts are written, a file for each suite.
struct ChartFolder {
    let path: String

    /// Creates the folder if it does not exist. Fails before anything is measured if nothing could
    /// be written later.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch CocoaError.fileWriteFileExists {
            throw CommandFailure("--svg \(path): is a file. Name a directory.")
        } catch {
            throw CommandFailure("--svg \(path): \(InputFile.reason(error))")
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw CommandFailure("--svg \(path): can't be written")
        }
    }

    /// Writes the chart of a suite, and returns the path of the file.
    func write(_ result: SuiteResult, note: String) throws(CommandFailure) -> String {
        let file = URL(fileURLWithPath: path).appendingPathComponent("\(result.suite.rawValue).svg")
            .relativePath
        try CommandFailure.naming(file) {
            try Data(result.chart.svg(note: note).utf8).write(
                to: URL(fileURLWithPath: file), options: .atomic)
        }
        return file
    }
}
#endif
