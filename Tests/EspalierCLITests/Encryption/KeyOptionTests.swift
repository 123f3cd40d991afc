#if CommandLine
import EspalierEncryption
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

#if Encryption
@Suite("The commands on an encrypted cache")
struct KeyOptionTests {
    private static let people = (1...300).map {
        #"{"id":"\#($0)","name":"markedName \#($0)","friend":{"id":"\#($0 % 7)"}}"#
    }.joined(separator: ",")

    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        _ = try tool.folder.write(String(repeating: "0f", count: 32) + "\n", to: "key")
        _ = try tool.folder.write(String(repeating: "a1", count: 32), to: "new")
        _ = try tool.folder.write("[\(Self.people)]", to: "people.json")
    }

    /// Fills an encrypted cache, and one without encryption.
    private func fill() throws {
        for arguments in [["c", "--key-file", "key"], ["plain"]] {
            let outcome = try tool.run(
                ["import", arguments[0], "people.json", "--id-key", "id", "--root-type", "Person"]
                    + arguments.dropFirst())
            #expect(outcome.code == 0, "\(outcome.errors)")
        }
    }

    @Test("Every command that reads prints the same as without encryption")
    func reading() throws {
        try fill()
        for command in [
            ["ls"], ["ls", "--match", "Person:1*"], ["get", "Person:12"], ["refs", "Person:3"],
            ["grep", "markedName 7"], ["export"], ["top"], ["evict", "--dry-run", "--to", "20KB"],
        ] {
            let plain = try tool.run([command[0], "plain"] + command.dropFirst())
            let encrypted = try tool.run(
                [command[0], "c"] + command.dropFirst() + ["--key-file", "key"])
            #expect(encrypted.code == plain.code, "\(command) \(encrypted.errors)")
            // Both caches were filled one after the other, perhaps in different seconds.
            let times = /\d+ s\b/
            let texts = [encrypted, plain].map {
                CommandLineTool.undated($0.text).replacing(times, with: "0 s")
            }
            #expect(texts[0] == texts[1], "\(command)")
        }
        for command in [
            ["verify", "--deep"], ["stats"], ["dictionaries"], ["doctor"], ["compact"],
            ["delete", "Person:9"], ["pin", "Person:8"], ["unpin", "Person:8"],
            ["budget", "100MiB"], ["collect-cycles"],
        ] {
            let outcome = try tool.run(
                [command[0], "c"] + command.dropFirst() + ["--key-file", "key"])
            #expect(outcome.code == 0, "\(command) \(outcome.errors)")
        }
        #expect(try tool.run(["diff", "plain", "c", "--key-file", "key"]).code == 2)
    }

    @Test("A missing or wrong key is an error that names the option")
    func wrongKey() throws {
        try fill()
        for arguments in [["ls", "c"], ["verify", "c", "--key-file", "new"], ["doctor", "c"]] {
            let outcome = try tool.run(arguments)
            #expect(outcome.code == 1, "\(arguments)")
            #expect(outcome.errors.contains("encrypted"), "\(outcome.errors)")
            #expect(outcome.errors.contains("--key-file"), "\(outcome.errors)")
        }
        let plain = try tool.run(["ls", "plain", "--key-file", "key"])
        #expect(plain.code == 1 && plain.errors.contains("not encrypted"))
        _ = try tool.folder.write("short", to: "bad")
        let bad = try tool.run(["ls", "c", "--key-file", "bad"])
        #expect(bad.code == 1 && bad.errors.contains("no key"))
        #expect(try tool.run(["ls", "c", "--key-file", "missing"]).code == 1)
    }

    @Test("A key can come from a pipe, also for a command that opens two caches")
    func pipe() throws {
        try fill()
        for (command, code) in [(["ls", "c"], 0), (["diff", "c", "c"], 0)] as [([String], Int32)] {
            let pipe = tool.folder.url.appendingPathComponent("pipe-\(command[0])").path
            #expect(unsafe mkfifo(pipe, 0o600) == 0)
            Thread.detachNewThread {
                try? Data(repeating: 0x0f, count: 32).write(to: URL(fileURLWithPath: pipe))
            }
            let outcome = try tool.run(command + ["--key-file", pipe])
            #expect(outcome.code == code, "\(command) \(outcome.errors)")
        }
    }

    @Test("`compact` changes the key")
    func rotating() throws {
        try fill()
        let before = try tool.run(["export", "c", "--key-file", "key"]).text
        try tool.succeed("compact", "c", "--key-file", "new", "--key-file", "key")
        #expect(try tool.run(["ls", "c", "--key-file", "key"]).code == 1)
        #expect(try tool.run(["export", "c", "--key-file", "new"]).text == before)
    }

    @Test("The environment names the key of commands without the option")
    func environment() throws {
        var option = KeyOption()
        option.keyFiles = []
        let file = tool.folder.url.appending(path: "key").path
        let encryption = try option.encryption(in: [KeyOption.variable: file])
        #expect(encryption?.key.bytes == [UInt8](repeating: 0x0f, count: 32))
        #expect(try option.encryption(in: [:]) == nil)
    }
}
#else
@Suite("A tool without encryption")
struct UnavailableKeyOptionTests {
    @Test("The option --key-file is an error that names the trait")
    func unavailable() throws {
        let tool = try CommandLineTool()
        _ = try tool.folder.write(String(repeating: "0f", count: 32), to: "key")
        let outcome = try tool.fail(1, "ls", "c", "--key-file", "key")
        #expect(outcome.errors.contains("trait Encryption"))
    }
}
#endif
#endif
