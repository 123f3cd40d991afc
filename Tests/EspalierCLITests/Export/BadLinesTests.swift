#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Imports of lines that cannot be stored")
struct BadLinesTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private static let good = #"{"kind":"node","identifier":"a","types":["T"],"fields":{"x":1}}"#

    @Test(
        "A bad line anywhere in an import stores nothing",
        arguments: [
            ("{", "line 2, column 2: expected"), ("[1,]", "line 2, column 4: expected a value"),
            (
                #"{"kind":"key","identifier":"k","value":"\#("\u{1}")"}"#,
                "line 2, column 41: a control character"
            ),
            ("7", "line 2: a record is an object"),
            (#"{"kind":"leaf","identifier":"x"}"#, "line 2: the kind leaf is none of"),
            (
                #"{"kind":"node","identifier":"b","types":"T","fields":{}}"#,
                "line 2: types is an array of names"
            ),
            (
                #"{"kind":"node","identifier":"b","types":["T"],"fields":{"x":{"$nix":1}}}"#,
                "line 2: field x: $nix is not a mark"
            ),
            (
                #"{"kind":"collection","identifier":"b","elements":[1,{"$ref":7}]}"#,
                "line 2: element 1: $ref takes"
            ),
            (
                #"{"kind":"node","identifier":"b","types":["T"],"fields":{"x":1,"x":2}}"#,
                "line 2, column 63: an object has two members of this name"
            ),
            (good, "line 2: there is another line of the node a"),
            (
                #"{"kind":"key","identifier":"k","value":{"$ref":"b"}}"#,
                "line 2: the node b is neither in the file nor in the cache\n"
            ),
            (
                #"{"kind":"collection","identifier":"k","elements":[{"$ref":"b"},{"$ref":"c"},"#
                    + #"{"$ref":"a"}]}"#,
                "is neither in the file nor in the cache, nor is another that is referred to\n"
            ),
        ])
    func oneBad(line: String, message: String) throws {
        let file =
            "\(Self.good)\n\(line)\n\(Self.good.replacingOccurrences(of: #""a""#, with: #""z""#))\n"
        try tool.folder.write(file, to: "lines")
        for (arguments, name) in [(["lines"], "lines"), (["-"], "standard input")] {
            let outcome = try tool.run(["import", "c"] + arguments + ["--records"], input: file)
            #expect(outcome.code == 1)
            #expect(outcome.output == [])
            #expect(outcome.errors.hasPrefix("espalier: \(name): line 2"), "\(outcome.errors)")
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
            #expect(outcome.errors.count { $0 == "\n" } == 1)
        }
        #expect(!tool.folder.contains("c"))
        // An existing cache stays unchanged.
        try tool.succeed(
            "import", "c", "-", "--records",
            input: Self.good.replacingOccurrences(of: ":1}", with: ":2}"))
        let before = try tool.succeed("stats", "c").text
        try tool.fail(1, "import", "c", "lines", "--records")
        #expect(try tool.succeed("stats", "c").text == before)
    }

    @Test("A document is refused as an export")
    func document() throws {
        let outcome = try tool.fail(
            1, "import", "c", "-", "--records", input: "[\n  {\"id\": 1}\n]\n")
        #expect(outcome.errors.contains("line 1, column 2"))
        #expect(outcome.errors.hasSuffix("To import a document, leave out --records\n"))
        let export = try tool.fail(
            1, "import", "c", "-", "--id-key", "id", input: "\(Self.good)\n\(Self.good)\n")
        #expect(export.errors.hasSuffix("To import an export, add --records.\n"))
        #expect(!tool.folder.contains("c"))
    }

    @Test("The target of a reference may be in the cache, in a later line, or in another file")
    func targets() throws {
        let key = #"{"kind":"key","identifier":"k","value":{"$ref":"a"}}"#
        try tool.folder.write(Self.good, to: "node")
        try tool.folder.write("\n\(key)\n\n", to: "key")
        try tool.fail(1, "import", "c", "key", "--records")
        try tool.succeed("import", "c", "key", "node", "--records")
        try tool.succeed("import", "d", "node", "--records")
        try tool.succeed("import", "d", "key", "--records")
        #expect(try tool.succeed("diff", "c", "d", "--format", "json").text == "[]\n")
        try tool.fail(1, "import", "c", "key", "key", "--records")
        try tool.fail(1, "import", "c", "key", "missing", "--records")
        try tool.fail(1, "import", "c", ".", "--records")
        try tool.succeed("verify", "c")
    }

    @Test(
        "A record too large for a write is refused before anything is stored; a collection is split"
    )
    func large() throws {
        let text = String(repeating: "x", count: 200_000)
        let large = #"{"kind":"node","identifier":"b","types":["T"],"fields":{"x":"\#(text)"}}"#
        let outcome = try tool.fail(
            1, "import", "c", "-", "--records", "--budget", "1MiB",
            input: "\(Self.good)\n\(large)\n")
        #expect(
            outcome.errors.contains(
                "line 2: a record of 195.3 KiB is larger than one write may be, 128.0 KiB"))
        #expect(!tool.folder.contains("c"))
        try tool.succeed("import", "c", "-", "--records", input: "\(Self.good)\n\(large)\n")

        let wide = #"{"kind":"collection","identifier":"all","elements":[1,"\#(text)"]}"#
        let other = try tool.fail(
            1, "import", "w", "-", "--records", "--budget", "1MiB", input: "\(Self.good)\n\(wide)\n"
        )
        #expect(
            other.errors.contains("line 2: an element of 195.3 KiB is larger than one write may be")
        )
        #expect(!tool.folder.contains("w"))

        let elements = (0..<2_000).map {
            $0 % 2 == 0 ? #"{"$ref":"a"}"# : #"{"n":\#($0),"text":"\#(text.prefix(100))"}"#
        }
        let collection =
            #"{"kind":"collection","identifier":"all","#
            + #""elements":[\#(elements.joined(separator: ","))]}"#
        let summary = try tool.succeed(
            "import", "d", "-", "--records", "--budget", "1MiB", "--format", "json",
            input: "\(collection)\n\(Self.good)\n")
        #expect(try summary.json() == ["records": 2, "recordsWritten": 2, "recordsUnchanged": 0])
        try tool.succeed("verify", "d")
        #expect(
            Set(try tool.lines(of: "d").map(CommandLineTool.undated)) == [collection, Self.good])
    }

    @Test("Values are imported as deep as the tool reads them")
    func depth() throws {
        func line(_ levels: Int) -> String {
            let value =
                String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
            return #"{"kind":"node","identifier":"a","types":["T"],"fields":{"x":\#(value)}}"#
        }
        let levels = ValueNotation.maximumDepth - 1
        try tool.succeed("import", "c", "-", "--records", input: line(levels))
        #expect(try tool.succeed("get", "c", "a").text.count { $0 == "[" } == levels)
        try tool.fail(1, "import", "c", "-", "--records", input: line(levels + 1))
    }

    @Test("Many files are read one at a time, and each reports its own lines")
    func files() throws {
        let names = (0..<150).map { "f\($0)" }
        for name in names {
            try tool.folder.write(
                Self.good.replacingOccurrences(of: #""a""#, with: "\"\(name)\""), to: name)
        }
        let outcome = try tool.run(["import", "c"] + names + ["--records"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try tool.lines(of: "c").count == names.count)
        try tool.folder.write("7", to: "last")
        let bad = try tool.run(["import", "d"] + names + ["last", "--records"])
        #expect(bad.errors == "espalier: last: line 1: a record is an object\n")
    }

    @Test("A file that can be read only once is imported")
    func pipe() throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        try tool.folder.write(Self.good, to: "lines")
        shell.arguments = [
            "-c",
            "mkfifo pipe; cat lines >pipe & \"$0\" import c pipe --records >out 2>&1; echo $? "
                + ">status",
            try #require(CommandLineTool.path),
        ]
        shell.currentDirectoryURL = tool.folder.url
        try shell.run()
        shell.waitUntilExit()
        #expect(
            try String(
                contentsOf: tool.folder.url.appendingPathComponent("status"), encoding: .utf8)
                == "0\n")
        #expect(try tool.lines(of: "c") == [Self.good])
    }

    @Test("Options about models exclude --records, and are required without it")
    func usage() throws {
        for option in [
            ["--id-key", "id"], ["--type", "a=B"], ["--root-type", "A"], ["--merge"],
            ["--path", "a"],
            ["--collection", "k"],
        ] {
            let outcome = try tool.run(["import", "c", "-", "--records"] + option, input: "")
            #expect(outcome.code == 64)
            #expect(outcome.errors == "espalier: \(option[0]) cannot be combined with --records.\n")
        }
        for command in [["import", "c", "-"], ["set", "c", "-"]] {
            let outcome = try tool.run(command, input: "{}")
            #expect(outcome.code == 64)
            #expect(outcome.errors == "espalier: Missing expected argument '--id-key <name>'\n")
        }
        #expect(!tool.folder.contains("c"))
    }
}
#endif
