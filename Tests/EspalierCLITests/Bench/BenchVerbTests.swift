#if CommandLine
import EspalierBench
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `bench`")
struct BenchVerbTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func bench(_ arguments: String...) throws -> CommandLineTool.Outcome {
        let outcome = try tool.run(["bench", "--seconds", "0.05"] + arguments)
        #expect(outcome.code == 0, "\(outcome.errors)")
        return outcome
    }

    private func array(_ value: JSONValue?) throws -> [JSONValue] {
        guard case .array(let values)? = value else {
            throw CommandFailure("no array")
        }
        return values
    }

    @Test("`espalier bench --suite all` prints percentiles and writes a chart for every suite")
    func everything() throws {
        let charts = tool.folder.url.appendingPathComponent("charts/new").path
        let document = try bench("--suite", "all", "--json", "--svg", charts).json()
        for name in [
            "espalier", "build", "system", "lmdb", "zstd", "fileSystem", "durability", "date",
            "processors",
        ] {
            #expect(document["environment"]?[name] != nil, "\(name)")
        }
        let suites = try array(document["suites"])
        #expect(suites.map { $0["suite"] } == BenchSuite.allCases.map { .string($0.rawValue) })
        for suite in suites {
            let timings = try array(suite["timings"])
            #expect(timings.contains { $0["name"] == suite["baseline"] })
            for timing in timings {
                #expect(timing["unit"] == "us")
                for name in ["count", "p50", "p90", "p99", "p999", "max", "ratio"] {
                    guard case .number? = timing[name] else {
                        Issue.record("\(suite["suite"]!): \(name)")  // named above
                        continue
                    }
                }
            }
            guard case .string(let path)? = suite["chart"] else {
                Issue.record("no chart")
                continue
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("<svg "))
        }
        let eviction = suites.first { $0["suite"] == "eviction" }?["figures"]
        #expect(eviction?["isClean"] == true && eviction?["brokenReads"] == 0)
    }

    @Test("`espalier bench` prints a table of reading, and a note that a debug build means nothing")
    func table() throws {
        let outcome = try bench()
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("espalier \(Version.number), "))
        #expect(lines[1] == "reading: \(BenchSuite.reading.about)")
        #expect(
            lines[2].split(separator: " ").joined(separator: " ")
                == "name unit count p50 p90 p99 p99.9 max ratio")
        #expect(lines.contains("ratio: of medians, to 'hand-written baseline over LMDB'"))
        #if DEBUG
        #expect(
            outcome.errors == "espalier: note: this is a debug build: the figures mean nothing\n")
        #endif
    }

    @Test("`espalier bench` refuses wrong arguments before it measures anything")
    func arguments() throws {
        for seconds in ["0", "-1", "nan", "3601", "x"] {
            try tool.fail(64, "bench", "--seconds", seconds)
        }
        let unknown = try tool.fail(64, "bench", "--suite", "speed")
        #expect(unknown.errors.contains("compression") && unknown.errors.contains("all"))
        try tool.fail(64, "bench", "--json", "--format", "csv")
        try tool.fail(64, "bench", "--svg", "")
    }

    @Test("`espalier bench` fails at once if it cannot write to the directory for charts")
    func badDirectory() throws {
        let file = try tool.folder.write("", to: "file").path
        for path in [file, file + "/inside"] {
            let outcome = try tool.run(["bench", "--svg", path])
            #expect(outcome.code == 1 && outcome.output == [])
            #expect(
                outcome.errors.split(separator: "\n").last?.hasPrefix("espalier: --svg \(path): ")
                    == true)
        }
    }

    @Test("Each suite runs once, in one order; only reading runs if none is named")
    func suites() throws {
        func suites(_ names: String...) throws -> [BenchSuite] {
            SuiteArgument.suites(named: try names.map { try #require(SuiteArgument(argument: $0)) })
        }
        #expect(try suites() == [.reading])
        #expect(try suites("opening", "writing", "opening") == [.writing, .opening])
        #expect(try suites("latency", "all") == BenchSuite.allCases)
        #expect(SuiteArgument(argument: "Reading") == nil)
    }

    @Test(
        "A scratch directory is removed at its end, and an error names one that cannot be created")
    func scratch() throws {
        let ignored = [SIGINT, SIGTERM, SIGHUP].map(Terminal.isIgnored)
        let scratch = try ScratchDirectory(for: "test")
        let folder = try scratch.makeDirectory("inside")
        #expect(FileManager.default.fileExists(atPath: folder))
        #expect(throws: CommandFailure.self) { try scratch.makeDirectory("inside") }
        scratch.end()
        #expect(!FileManager.default.fileExists(atPath: scratch.path))
        #expect(throws: CommandFailure.self) { try scratch.makeDirectory("again") }
        #expect([SIGINT, SIGTERM, SIGHUP].map(Terminal.isIgnored) == ignored)
    }
}
#endif
