#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("espalier watch")
struct WatchCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Person", input: Self.ada)
    }

    private static let ada = #"{"id": 1, "name": "Ada"}"#

    /// Runs a watch in the background until its first line, then `commands`, and returns what the
    /// watch prints.
    private func watch(_ options: String, while commands: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            "$0" watch c \(options) >out & until [ -s out ]; do sleep 0.05; done; \(commands); \
            wait $!
            """,
            try #require(CommandLineTool.path),
        ]
        process.currentDirectoryURL = tool.folder.url
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let out = try String(
            contentsOf: tool.folder.url.appendingPathComponent("out"), encoding: .utf8)
        return out.split(separator: "\n").map(String.init)
    }

    private static let write =
        #"echo '{"id": 2}' | "$0" import c - --id-key id --root-type Person >/dev/null"#

    @Test("Commits of other processes are printed as they happen, until --count")
    func commits() throws {
        let lines = try watch(
            "--count 2", while: "\(Self.write); \"$0\" delete c Person:2 >/dev/null")
        #expect(lines.count == 3)
        #expect(lines[0].split(separator: " ") == ["commit", "process", "change", "identifier"])
        #expect(lines[1].hasSuffix("written  Person:2"))
        #expect(lines[2].hasSuffix("deleted  Person:2"))
    }

    @Test("--type prints nodes of the type only, and Ctrl-C ends the watch with success")
    func types() throws {
        let note = #"echo '{"id": 9}' | "$0" import c - --id-key id --root-type Note >/dev/null"#
        let lines = try watch(
            "--type Person --format csv",
            while: "\(note); \(Self.write); "
                + "until grep -q Person out; do sleep 0.05; done; kill -s TERM $!")
        #expect(lines.count == 2)
        #expect(lines[1].hasSuffix(",written,Person:2"))
    }

    @Test("The watch ends when the cache is removed")
    func removed() throws {
        let lines = try watch("--format csv", while: "rm -r c")
        #expect(lines.last?.hasSuffix("reset,") == true)
    }

    @Test("A commit is an object in JSON, and a reset says so")
    func json() {
        var changes = CommitReport.Changes(commit: 7, process: 42)
        changes.written = ["Person:1"]
        changes.keys = ["inbox"]
        let expected: JSONValue = [
            "commit": 7, "process": 42, "reset": false, "written": ["Person:1"], "deleted": [],
            "evicted": [], "keys": ["inbox"],
        ]
        #expect(CommitReport(changes).json == expected)
        #expect(CommitReport(changes).lines.map { $0[3] } == ["Person:1", "inbox"])
        let reset = CommitReport(.init(commit: 0, process: nil, isReset: true))
        #expect(reset.lines == [["-", "-", "reset", ""]] && !reset.isEmpty)
        #expect(CommitReport(.init(commit: 1, process: 1)).isEmpty)
        #expect(reset.json["process"] == nil || reset.json["process"] == .some(.null))
    }

    @Test("Wrong counts of watch exit with 64", arguments: ["0", "x"])
    func wrong(count: String) throws {
        let outcome = try tool.run(["watch", "c", "--count", count])
        #expect(outcome.code == 64 && outcome.errors.count { $0 == "\n" } == 1)
    }
}
#endif
