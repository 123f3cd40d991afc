#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Trees larger than their records")
struct LogicalSizeTests {
    private let tool: CommandLineTool

    /// A cache in which each of 41 records refers twice to the next: 2^41 - 1 nodes as a tree.
    init() throws {
        tool = try CommandLineTool()
        for level in (0..<40).reversed() {
            let below = #"{"id":"\#(level + 1)"}"#
            try tool.succeed(
                "set", "c", "-", "--id-key", "id", "--root-type", "N", "--type", "l=N", "--type",
                "r=N", "--merge", input: #"{"id":"\#(level)","l":\#(below),"r":\#(below)}"#)
        }
        let list = #"[{"id":"0"}]"#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "N", "--merge", "--collection",
            "k", input: list)
    }

    @Test(
        "A tree of 2^41 nodes is a miss in every form in which `get` prints it",
        arguments: [
            ["N:0"], ["N:0", "--compact"], ["N:0", "--format", "csv"],
            ["N:0", "--format", "table"],
            ["--collection", "k"],
        ])
    func get(arguments: [String]) throws {
        let outcome = try tool.run(["get", "c"] + arguments)
        #expect(outcome.code == 2 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("tooLarge") || outcome.errors.contains("too large"))
    }

    @Test("Explanations, exports, searches and checks of such a tree take a moment")
    func others() throws {
        #expect(try tool("get", "c", "N:0", "--explain").code == 2)
        #expect(try tool.succeed("get", "c", "N:30", "--compact").text.utf8.count > 10_000)
        let exported = try tool.succeed("export", "c").text
        try tool.succeed("import", "d", "-", "--records", input: exported)
        try tool.succeed("diff", "c", "d")
        try tool.succeed("verify", "c", "--deep")
        try tool.succeed("refs", "c", "N:0", "--depth", "40")
        try tool.succeed("evict", "c", "--to", "1KiB")
    }
}
#endif
