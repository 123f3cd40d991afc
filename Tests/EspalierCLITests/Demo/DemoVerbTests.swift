#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `demo`")
struct DemoVerbTests {
    private let tool: CommandLineTool

    /// One demonstration for all tests that look at its text: each takes ten seconds.
    private static let shown = Result {
        try CommandLineTool().run(["demo", "--messages", "500"])
    }

    init() throws { tool = try CommandLineTool() }

    private func demo(_ arguments: String...) throws -> CommandLineTool.Outcome {
        try tool.run(["demo", "--messages", "500"] + arguments)
    }

    @Test("`espalier demo` prints plain text of at most 80 columns into a pipe")
    func plain() throws {
        let outcome = try Self.shown.get()
        #expect(outcome.code == 0)
        #expect(outcome.errors == "")
        #expect(!outcome.text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        for line in outcome.text.split(separator: "\n") {
            #expect(String(line).terminalColumns <= 80, "\(line)")
            #expect(line.last != " ", "\(line)")
        }
        #expect(outcome.text.split(separator: "\n").count { $0.contains("of 500 messages") } == 1)
    }

    @Test("`espalier demo` prints its claims with check marks")
    func claims() throws {
        let text = try Self.shown.get().text
        let claims = text.split(separator: "\n").filter { $0.hasPrefix("   ✓ ") }
        #expect(claims.count == 17)
        for claim in [
            "different models are a record each", "equal to what went in", "5 models are 5 records",
            "1 record was written", "all of them with the new name", "nothing else is different",
            "those with the attachment without it", "went with their sender",
            "Message:2 is a miss: .deleted",
            "Person:2 is a miss: .notFound", "equal to what was read before", "no problem",
            "Feed:1 is read whole", "Feed:2, which nobody read, is a miss: .notFound",
            "each feed is whole or gone",
            "never took more than its budget",
        ] { #expect(claims.contains { $0.contains(claim) }, "\(claim)") }
        for shown in ["→ Person:1", "Ada Byron  Ada Lovelace", "王小明", "ليلى حداد", "tombstones"] {
            #expect(text.contains(shown), "\(shown)")
        }
        #expect(!text.contains("✗"))
    }

    @Test(
        "`espalier demo` prints the same twice but for times, sizes and what a full cache evicted"
    )
    func reproducible() throws {
        let texts = try [Self.shown.get(), demo(), demo("--seed", "2")].map { outcome in
            outcome.text.replacing(/\s+[0-9.,]+ ms/, with: " ms").replacing(
                /\s+time/, with: " time"
            )
            .replacing(/\s+[0-9]+ s to [0-9]+ s/, with: " ages")
            // The second dictionary is trained in the background: its time decides which records
            // it compresses.
            .replacing(/\s+[0-9]+ bytes\s+[0-9.]+ KiB/, with: " sizes")
            .replacing(/bytes of records\s+[0-9.]+ KiB/, with: "bytes of records")
            // Evictions in the background decide how much a full cache holds at the end.
            .replacing(/records (written|evicted|there are)\s+[0-9,]+/, with: "records")
            .replacing(/after [0-9,]+ records were written/, with: "written")
            .replacing(/(fill|that were hits)\s+[0-9.]+ %/, with: "share")
            // Columns are as wide as their figures.
            .replacing(/[ ]+/, with: " ")
        }
        // Comparing the texts in the macro would take minutes where they differ.
        let (isSame, isOther) = (texts[0] == texts[1], texts[0] != texts[2])
        #expect(isSame)
        #expect(isOther)
    }

    @Test("`espalier demo` prints colours if asked for; NO_COLOR is for terminals")
    func color() throws {
        let colored = try demo("--color", "always").text
        #expect(colored.contains("\u{1B}[32m✓ \u{1B}[0m"))
        #expect(!colored.contains("\r"))
        let painted = colored.replacing(/\u{1B}\[[0-9]*m/, with: "").split(separator: "\n")
        #expect(painted.allSatisfy { String($0).terminalColumns <= 80 })
    }

    @Test("A cache that the demo keeps is whole, and the commands that the demo names work on it")
    func kept() throws {
        let outcome = try demo("--keep", "my cache")
        #expect(outcome.code == 0)
        try tool.succeed("verify", "my cache")
        let commands = outcome.text.split(separator: "\n").filter { $0.hasPrefix("   espalier ") }
        #expect(commands.count == 4)
        for command in commands {
            let words = command.replacing("'my cache'", with: "my_cache").split(separator: "  ")[0]
                .split(
                    separator: " ")
            let code = try tool.run(
                words.dropFirst().map { $0 == "my_cache" ? "my cache" : String($0) }
            ).code
            #expect(code == 0, "\(command)")
        }
        let message = try tool.succeed("get", "my cache", "Message:1").json()
        #expect(message["attachment"] == .null)
        #expect(message["sender"]?["name"] == "Ada Lovelace")
    }

    @Test("`espalier demo` replaces no file of the user")
    func occupied() throws {
        try tool.folder.write("mine", to: "file")
        try tool.fail(1, "demo", "--keep", "file")
        try tool.fail(1, "demo", "--keep", ".")
        let link = tool.folder.url.appendingPathComponent("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
        try tool.fail(1, "demo", "--keep", "link")
        try tool.fail(64, "demo", "--keep", "")
        try tool.fail(64, "demo", "--messages", "99")
        #expect(!tool.folder.contains("nowhere"))
        let empty = tool.folder.url.appendingPathComponent("empty").path
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
        #expect(try demo("--keep", "empty").code == 0)
        try tool.fail(1, "demo", "--keep", "empty")
        try tool.succeed("verify", "empty")
    }

    @Test("`espalier demo` leaves no temporary files, even without a reader or after a signal")
    func temporary() throws {
        let path = try #require(CommandLineTool.path)
        let endings = [
            "\"$0\" demo --messages 500 >/dev/null",
            "\"$0\" demo --messages 500 2>/dev/null | head -n 3 >/dev/null",
            "\"$0\" demo --messages 50000 >/dev/null & sleep 0.5; kill -s TERM $!; wait $!; "
                + "test $? = 143",
        ]
        for ending in endings {
            let folder = try ScratchFolder()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", ending, path]
            process.environment = ["TMPDIR": folder.url.path, "PATH": "/usr/bin:/bin"]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(ending)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [],
                "\(ending)")
        }
    }
}
#endif
