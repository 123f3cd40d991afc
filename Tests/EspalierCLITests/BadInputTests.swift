#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Bad input is one clear line and leaves the cache as it was")
struct BadInputTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test(
        "A document that is not JSON is refused with its position",
        arguments: [
            ("", "line 1, column 1"), (#"{"id":"#, "the end of the input"),
            ("[1,]", "line 1, column 4"),
            (String(repeating: "[", count: 100_000), "more than 512 levels"),
            (String(repeating: #"{"a":"#, count: 100_000), "more than 512 levels"),
        ])
    func notJSON(input: String, part: String) throws {
        let outcome = try tool.fail(1, "import", "c", "-", "--id-key", "id", input: input)
        #expect(outcome.errors.contains("standard input: "))
        #expect(outcome.errors.contains(part))
        #expect(outcome.errors.utf8.count < 200)
        #expect(!tool.folder.contains("c"))
    }

    @Test("Models without an identity are refused together, unless they go into a collection")
    func noIdentity() throws {
        let input = #"[{"id":1},{"id":null},{"id":{}},{"id":1.5},{"id":""},{"id":true},{"no":1},7]"#
        let outcome = try tool.fail(1, "import", "c", "-", "--id-key", "id", input: input)
        #expect(
            outcome.errors.contains(
                "7 of 8 models have no identity under id, the first at index 1: an identity is a "
                    + "whole number, or a string that is not empty."))
        let missing = try tool.fail(
            1, "import", "c", "-", "--id-key", "id", input: #"[{"id":1},{"no":1}]"#)
        #expect(missing.errors.contains("the first at index 1. Nothing"))
        #expect(outcome.errors.contains("--collection"))
        #expect(!tool.folder.contains("c"))
        try tool.fail(1, "set", "c", "-", "--id-key", "id", input: #"{"no":1}"#)
        try tool.fail(1, "set", "c", "-", "--id-key", "id", input: #"[{"id":1}]"#)
        try tool.fail(1, "set", "c", "-", "--id-key", "id", "--key", "k", input: "7")
        #expect(!tool.folder.contains("c"))
    }

    @Test("One bad file among several stores nothing")
    func allOrNothing() throws {
        try tool.folder.write(#"[{"id":1}]"#, to: "good.json")
        try tool.folder.write(#"[{"id":1.5}]"#, to: "bad.json")
        let bad = try tool.fail(1, "import", "c", "good.json", "bad.json", "--id-key", "id")
        #expect(bad.errors.contains("bad.json"))
        let missing = try tool.fail(1, "import", "c", "good.json", "missing.json", "--id-key", "id")
        #expect(missing.errors == "espalier: missing.json: no such file\n")
        let folder = try tool.fail(1, "import", "c", ".", "--id-key", "id")
        #expect(folder.errors == "espalier: .: is a directory\n")
        try tool.fail(1, "import", "c", "good.json", "--id-key", "id", "--path", "a.b")
        #expect(!tool.folder.contains("c"))
    }

    @Test(
        "Commands that read or delete create no cache",
        arguments: [["get", "c", "x"], ["stats", "c"], ["verify", "c"], ["delete", "c", "x"]])
    func noCache(arguments: [String]) throws {
        let outcome = try tool.run(arguments)
        #expect(outcome.code == 1)
        #expect(outcome.output == [])
        #expect(outcome.errors.hasPrefix("espalier: c: "))
        #expect(!tool.folder.contains("c"))
        try FileManager.default.createDirectory(
            at: tool.folder.url.appendingPathComponent("c"), withIntermediateDirectories: false)
        #expect(try tool.run(arguments).code == 1)
        let made = try FileManager.default.contentsOfDirectory(
            atPath: tool.folder.url.appendingPathComponent("c").path)
        #expect(made == [])
    }

    @Test("A file or a symbolic link is refused as the directory of a cache")
    func badPaths() throws {
        try tool.folder.write("text", to: "file")
        try tool.succeed("set", "real", "-", "--id-key", "id", input: #"{"id":1}"#)
        try FileManager.default.createSymbolicLink(
            at: tool.folder.url.appendingPathComponent("link"),
            withDestinationURL: tool.folder.url.appendingPathComponent("real"))
        for path in ["file", "link", "missing/c"] {
            try tool.fail(1, "import", path, "-", "--id-key", "id", input: #"{"id":1}"#)
            try tool.fail(1, "get", path, "root:1")
            try tool.fail(1, "stats", path)
        }
        #expect(
            try String(contentsOf: tool.folder.url.appendingPathComponent("file"), encoding: .utf8)
                == "text")
    }

    @Test("Wrong arguments exit with 64 and one line")
    func usage() throws {
        let wrong = [
            [], ["frob"], ["get"], ["get", "c"], ["get", "c", "a", "--key", "b"], ["get", "c", ""],
            ["get", "c", "a", "b"],
            ["get", "c", "a", "--frob"], ["stats"], ["stats", "c", "--format", "xml"],
            ["delete", "c"],
            ["import", "c"],
            ["import", "c", "f"], ["import", "c", "f", "--id-key", ""],
            ["import", "c", "-", "-", "--id-key", "id"],
            ["import", "c", "f", "--id-key", "id", "--type", "x"],
            ["import", "c", "f", "--id-key", "id", "--path", "a.."],
            ["import", "c", "f", "--id-key", "id", "--type", "x=A", "--type", "x=B"],
            ["import", "c", "f", "--id-key", "id", "--root-type", ""],
            ["import", "c", "f", "--id-key", "id", "--collection", ""],
            ["set", "c", "f", "--id-key", "id", "--key", ""],
            ["import", "c", "f", "--id-key", "id", "--budget", "5M"],
            ["set", "c", "f", "--id-key", "id", "--budget", "1KiB"],
            ["import", "c", "f", "--id-key", "id", "--budget", "65GiB"], ["set", "c", "f"],
        ]
        for arguments in wrong {
            let outcome = try tool.run(arguments)
            #expect(outcome.code == 64, "\(arguments)")
            #expect(outcome.output == [], "\(arguments)")
            #expect(outcome.errors.hasPrefix("espalier: "), "\(arguments)")
            #expect(outcome.errors.count { $0 == "\n" } == 1, "\(arguments)")
        }
        #expect(!tool.folder.contains("c"))
    }

    @Test("Help and the version succeed")
    func help() throws {
        #expect(try tool.succeed("--version").text.hasPrefix("espalier \(Version.number)"))
        for command in ["import", "set", "get", "delete", "stats", "verify"] {
            #expect(try tool.succeed(command, "--help").text.contains("USAGE: espalier \(command)"))
        }
    }

    @Test("A miss names its reason, and control characters never reach the terminal")
    func misses() throws {
        try tool.succeed("set", "c", "-", "--id-key", "id", input: #"{"id":1}"#)
        #expect(try tool.fail(2, "get", "c", "root:2").errors == "espalier: root:2: not found\n")
        #expect(
            try tool.fail(2, "get", "c", "--collection", "k").errors
                == "espalier: collection k: not found\n")
        #expect(try tool.fail(2, "get", "c", "a\u{1B}[2J").errors == "espalier: a␛[2J: not found\n")
    }

    @Test("A document deeper or larger than a write may be is refused, and the cache stays intact")
    func limits() throws {
        let levels = JSONParser.defaultMaximumDepth - 1
        let deep =
            String(repeating: #"{"id":1,"a":["#, count: levels / 2)
            + String(repeating: "]}", count: levels / 2)
        try tool.succeed(
            "import", "c", "-", "--id-key", "key", "--budget", "1MiB", "--collection", "deep",
            input: deep)
        let read = try tool.succeed("get", "c", "--collection", "deep").json()
        #expect(try read == .array([JSONParser.parse(Array(deep.utf8))]).reordered)
        let large = #"{"id":1,"text":"\#(String(repeating: "x", count: 200_000))"}"#
        #expect(
            try tool.fail(1, "import", "c", "-", "--id-key", "id", input: large).errors.contains(
                "budget"))
        try tool.succeed("get", "c", "--collection", "deep")
        try tool.succeed("verify", "c")
    }
}

extension JSONValue {
    /// The value with members in the order of their names.
    fileprivate var reordered: JSONValue { (try? JSONParser.parse(Array(sorted.utf8))) ?? nil }
}
#endif
