#if CommandLine
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The commands `doctor` and `completions`")
struct DoctorCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", input: #"{"id": 1}"#)
    }

    @Test("`doctor` prints its facts as a table, as JSON and as CSV")
    func facts() throws {
        let json = try tool.succeed("doctor", "c", "--format", "json").json()
        #expect(json["format"] == 3)
        #expect(json["budget"] == 52_428_800)
        #expect(json["pageSize"] == 4_096)
        let table = try tool.succeed("doctor", "c").text
        #expect(table.contains("LMDB"))
        let csv = try tool.succeed("doctor", "c", "--format", "csv").text.split(separator: "\n")
        #expect(csv.count == 2)
        #expect(csv[0].hasPrefix("espalier,lmdb,zstd,system,"))
    }

    @Test("A process that keeps the lock of the writer is a warning, as long as it does")
    func blockedWriter() throws {
        let path = tool.folder.url.appendingPathComponent("c").path
        let cache = try NormalizedCache.existing(directory: path)
        defer { cache.close() }
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? cache.transaction { _ in
                began.signal()
                ended.wait()
            }
            isDone.signal()
        }
        began.wait()
        let blocked = try tool.succeed("doctor", "c").text
        let csv = try tool.succeed("doctor", "c", "--format", "csv").text
        ended.signal()
        isDone.wait()
        #expect(blocked.components(separatedBy: "warning: writer").count == 2)
        #expect(csv.contains("warning: writer"))
        #expect(try tool.succeed("doctor", "c", "--format", "json").json()["writer"] == "free")
    }

    @Test("`doctor` says once that other users could open the directory")
    func permissions() throws {
        let path = tool.folder.url.path + "/c"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        // The table breaks lines.
        let first = try tool.succeed("doctor", "c").text.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(first.contains("its mode was 755, it is now 700"))
        let second = try tool.succeed("doctor", "c").text
        #expect(!second.contains("permissions"))
    }

    @Test("`doctor --repair` says how many problems it found and left")
    func repair() throws {
        let text = "a text to be damaged"
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", "--compression", "none",
            input: #"{"id": 2, "text": "\#(text)"}"#)
        try tool.folder.damage(text, in: "c")
        #expect(
            try tool.succeed("doctor", "c", "--format", "json").json()["problemsAfterRepair"] == nil
        )
        let json = try tool.succeed("doctor", "c", "--repair", "--format", "json").json()
        #expect(try #require(json["problemsBeforeRepair"]?.count) > 0)
        #expect(json["problemsAfterRepair"] == 0)
        #expect(try tool.succeed("verify", "c", "--format", "json").json()["isClean"] == true)
        #expect(try tool.fail(2, "get", "c", "User:2").errors.contains("lost"))
        let again = try tool.succeed("doctor", "c", "--repair").text
        #expect(again.contains("problems before the repair") && again.contains("no problems found"))
    }

    @Test("`doctor` without a cache describes the system")
    func system() throws {
        let json = try tool.succeed("doctor", "--format", "json").json()
        #expect(json["lmdb"] != nil)
        #expect(json["budget"] == nil)
    }

    @Test("A missing cache is one line; a cache that cannot be opened is a problem among the facts")
    func broken() throws {
        try tool.fail(1, "doctor", "nothing")
        try tool.fail(1, "doctor", tool.folder.write("", to: "file").path)
        let folder = tool.folder.url.appendingPathComponent("c")
        let generation = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first {
                $0.hasPrefix("g-")
            })
        try Data(repeating: 7, count: 100).write(
            to: folder.appendingPathComponent(generation).appendingPathComponent("data.mdb"))
        let outcome = try tool("doctor", "c")
        #expect(outcome.code == 2)
        #expect(outcome.text.contains("problem: cache"))
        #expect(outcome.errors.count { $0 == "\n" } == 1)
    }

    @Test(
        "Every shell gets its completion script, which bash can read",
        arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let script = try tool.succeed("completions", shell).text
        for command in ["import", "get", "doctor"] { #expect(script.contains(command)) }
        guard shell == "bash" else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-n", try tool.folder.write(script, to: "script").path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("An unknown shell exits with 64") func unknownShell() throws {
        try tool.fail(64, "completions", "tcsh")
    }
}
#endif
