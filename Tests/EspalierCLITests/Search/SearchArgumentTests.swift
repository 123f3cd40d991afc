#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Commands that search refuse wrong arguments")
struct SearchArgumentTests {
    @Test(
        "Wrong arguments of the commands that search exit with 64",
        arguments: [
            ["ls"], ["ls", "c", "--limit", "0"], ["ls", "c", "--limit", "-1"],
            ["ls", "c", "--limit", "x"],
            ["ls", "c", "--kind", "segment"],
            ["ls", "c", "--match", "["], ["ls", "c", "--match", ""],
            ["ls", "c", "--match", #"a\"#], ["refs", "c"],
            ["refs", "c", ""],
            ["refs", "c", "a", "--key", "b"], ["refs", "c", "a", "--depth", "0"],
            ["refs", "c", "a", "--dot", "--format", "json"],
            ["top", "c", "--by", "name"], ["top", "c", "--limit", "0"], ["grep", "c"],
            ["grep", "c", "--field", ""],
            ["grep", "c", "--value", ""],
            ["grep", "c", "--field", "a..b"], ["grep", "c", "--field", "a", "--ignore-case"],
            ["grep", "c", "--field", "a", "--exact"],
            ["grep", "c", "--value", "a", "--limit", "0"],
        ])
    func usage(arguments: [String]) throws {
        let tool = try CommandLineTool()
        try tool.fail(64, arguments: arguments)
        #expect(!tool.folder.contains("c"))
    }

    @Test(
        "Commands that search never create a cache",
        arguments: [
            ["ls", "c"], ["refs", "c", "a"], ["top", "c"], ["grep", "c", "--value", "a"],
        ])
    func noCache(arguments: [String]) throws {
        let tool = try CommandLineTool()
        try tool.fail(1, arguments: arguments)
        #expect(!tool.folder.contains("c"))
    }

    @Test("Every command that searches explains itself", arguments: ["ls", "refs", "top", "grep"])
    func help(command: String) throws {
        let tool = try CommandLineTool()
        #expect(try tool.succeed(command, "--help").text.contains("USAGE: espalier \(command)"))
        #expect(try tool.succeed("--help").text.contains("\n  \(command) "))
    }
}

extension CommandLineTool {
    fileprivate func fail(_ code: Int32, arguments: [String]) throws {
        let outcome = try run(arguments)
        #expect(outcome.code == code)
        #expect(outcome.output == [])
        #expect(outcome.errors.hasPrefix("espalier: "))
        #expect(outcome.errors.count { $0 == "\n" } == 1, "\(outcome.errors)")
    }
}
#endif
