#if CommandLine
import Synchronization
import Testing

@testable import EspalierCLI

@Suite("Commands that search run beside a writer")
struct RunningWriterTests {
    /// Repeatedly stores a collection of few or many elements, and stores and deletes nodes.
    private static func write(_ tool: CommandLineTool, isDone: @Sendable () -> Void) throws {
        defer { isDone() }
        for round in 0..<12 {
            let count = round % 2 == 0 ? 700 : 20
            let elements = (0..<count).map {
                #"{"id":\#($0),"round":\#(round),"text":"day","by":{"id":\#($0 % 9)}}"#
            }
            try tool.succeed(
                "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--collection", "k",
                "--budget", "4MiB",
                input: "[\(elements.joined(separator: ","))]")
            if round % 3 == 2 { try tool.succeed("delete", "c", "Post:3") }
        }
    }

    @Test("Each command sees one commit, and the writer continues")
    func together() async throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--budget", "4MiB", "--collection", "k",
            input: "[]")
        let isDone = Mutex(false)
        async let writer: Void = Self.write(tool) { isDone.withLock { $0 = true } }
        var rounds = 0
        repeat {
            rounds += 1
            let rows = try tool.rows("ls", "c")
            let elements = rows.first { $0["kind"] == "collection" }?["children"]?.count ?? -1
            #expect([0, 20, 700].contains(elements))
            #expect(
                rows.allSatisfy {
                    $0["types"] == ["Post"] || $0["types"] == ["by"] || $0["kind"] == "collection"
                })
            for order in ["size", "refs", "age"] { try tool.succeed("top", "c", "--by", order) }
            let references = try tool.rows("refs", "c", "--collection", "k", "--depth", "2")
            let own = references.count { $0["depth"] == 1 && $0["direction"] == "to" }
            #expect([0, 19, 20, 699, 700].contains(own))
            let grep = try tool("grep", "c", "--field", "text", "--value", "day")
            #expect(grep.errors == (grep.code == 0 ? "" : "espalier: c: nothing found\n"))
        } while !isDone.withLock(\.self)
        try await writer
        #expect(rounds > 1)
        try tool.succeed("verify", "c")
    }
}
#endif
