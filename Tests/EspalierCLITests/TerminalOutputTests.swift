#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("What a terminal would obey")
struct TerminalOutputTests {
    /// An escape sequence that clears the screen, a C1 control that begins one, DEL, an override of
    /// the direction, an isolate, and three invisible marks.
    private static let hostile =
        "a\u{1B}[2J\u{9B}31m\u{7F}\u{202E}b\u{2066}\u{200F}\u{200E}\u{61C}c"
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        let name = JSONWriter().string(from: .string(Self.hostile))
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "T", "--collection", "k",
            input: #"[{"id":"1","text":\#(name),\#(name):"line\nline"},{"id":\#(name)}]"#)
    }

    @Test(
        "Nothing stored reaches a terminal unescaped, whatever the command and its format",
        arguments: [
            ["get", "c", "T:1"], ["get", "c", "T:1", "--compact"],
            ["get", "c", "T:1", "--format", "csv"], ["get", "c", "T:1", "--format", "table"],
            ["get", "c", "T:1", "--explain"], ["get", "c", "T:1", "--raw"],
            ["get", "c", "T:1", "--raw", "--format", "json"],
            ["get", "c", "--collection", "k"], ["export", "c"],
            ["export", "c", "--format", "csv"], ["export", "c", "--format", "table"], ["ls", "c"],
            ["ls", "c", "--format", "csv"], ["ls", "c", "--format", "json"],
            ["refs", "c", "--collection", "k"],
            ["refs", "c", "--collection", "k", "--format", "json"],
            ["refs", "c", "--collection", "k", "--dot"], ["grep", "c", "--value", "line"],
            ["grep", "c", "--value", "line", "--format", "json"],
            ["grep", "c", "--value", "line", "--format", "csv"],
            ["top", "c"], ["stats", "c", "--by-type"],
        ])
    func terminal(arguments: [String]) throws {
        let output = try tool.outputOnTerminal(arguments)
        let text = try #require(String(validating: output, as: UTF8.self))
        // Colors are the tool's own.
        let plain = text.replacing(/\x{1B}\[[0-9]+m/, with: "").replacing("\r\n", with: "\n")
        #expect(!plain.isEmpty)
        let unprintable = plain.unicodeScalars.filter { $0.isUnprintable && $0 != "\n" }
        #expect(unprintable.isEmpty, "\(unprintable.map { String($0.value, radix: 16) })")
    }

    @Test("JSON on a terminal says the same as in a pipe")
    func sameJSON() throws {
        let screen = try tool.outputOnTerminal(["get", "c", "T:1"])
        #expect(
            try JSONParser.parse(screen.filter { $0 != UInt8(ascii: "\r") })
                == tool.succeed("get", "c", "T:1").json())
    }

    @Test("A pipe or a file gets the text as it is stored")
    func file() throws {
        for format in ["json", "csv"] {
            let text = try tool.succeed("get", "c", "T:1", "--format", format).text
            #expect(
                text.unicodeScalars.contains("\u{202E}") && text.unicodeScalars.contains("\u{9B}"))
        }
        #expect(try tool.succeed("export", "c").text.unicodeScalars.contains("\u{200F}"))
    }
}
#endif
