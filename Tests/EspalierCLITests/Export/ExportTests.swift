#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Exports and imports")
struct ExportTests {
    private struct Note: Codable, Equatable, NormalizedModel {
        var id: Int
        var modelIdentifier: String? { "Note:\(id)" }
    }

    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test("An export of an empty cache has no lines")
    func empty() throws {
        try tool.succeed("import", "c", "-", "--id-key", "id", "--collection", "k", input: "[]")
        try tool.succeed("delete", "c", "--collection", "k")
        #expect(try tool.expectCopies(of: "c", to: "d") == [])
        #expect(
            try tool.succeed("export", "c", "--format", "csv").text
                == "kind,identifier,types,references,fields\n")
    }

    @Test("Every kind of JSON value, key and collection is exported and imported unchanged")
    func everything() throws {
        let document = #"""
            [{"id":1,"null":null,"yes":true,"no":false,"i":-9223372036854775808,\#
            "u":18446744073709551615,
             "big":-12345678901234567890123,"d":1.0,"e":1e400,"z":-0,\#
            "f":0.12345678901234567890123,"g":0.1,"h":1.5e-300,
             "s":"","t":"\u0000\"\\ é e\u0301 😀","":{"":[]},"é":1,"e\u0301":2,"日本":{"語":[{},[],\#
            [[]],{"a":[]}]},
             "$ref":"x","$":{"$deleted":1,"a":{"$map":[]}},"مرحبا":{"id":"😀"},"p":[[{"id":"日本"}],\#
            {"id":"日本"}]},
             7,null,[{"id":9},[]],{"x":{"id":9}},{"id":1}]
            """#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "مفتاح", input: document)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "設定",
            input: #"{"dark":true,"$by":{"id":9}}"#)
        try tool.succeed("set", "c", "-", "--id-key", "id", "--key", "me", input: #"{"id":1}"#)
        let lines = try tool.expectCopies(of: "c", to: "d")
        #expect(lines.contains { $0.hasPrefix(#"{"kind":"key","identifier":"設定","written":"#) })
        #expect(try tool.lines(of: "d") == lines)
        for arguments in [["--collection", "مفتاح"], ["--key", "設定"], ["--key", "me"]] {
            #expect(
                try tool.run(["get", "d"] + arguments).text
                    == tool.run(["get", "c"] + arguments).text)
        }
    }

    @Test("Records that are evicted during an import count as written once")
    func evicted() throws {
        let text = String(repeating: "0123456789", count: 20)
        let lines = (0..<8_000).map {
            #"{"kind":"key","identifier":"\#($0)","value":"\#($0) \#(text)"}"#
        }.joined(separator: "\n")
        let outcome = try tool.run(
            [
                "import", "small", "-", "--records", "--format", "json", "--budget", "1MiB",
                "--compression", "none",
            ], input: lines)
        #expect(outcome.errors.contains("records were evicted to make room"))
        #expect(try outcome.count("recordsWritten") == 8_000)
        #expect(try outcome.count("recordsUnchanged") == 0)
    }

    @Test("`import --records` reads standard input by default, and documents need --id-key")
    func pipe() throws {
        try tool.succeed("set", "c", "-", "--id-key", "id", input: #"{"id":1}"#)
        let export = try tool.succeed("export", "c").text
        try tool.succeed("import", "d", "--records", input: export)
        #expect(try tool.succeed("diff", "c", "d", "--format", "json").json() == [])
        try tool.fail(64, "import", "e", "--id-key", "id", input: "[]")
    }

    @Test("Deleted records stay deleted, and lost ones lost")
    func gone() throws {
        let document =
            #"[{"id":1,"a":{"id":2},"l":[{"id":3},{"id":2},{"id":4}]},{"id":5,"a":{"id":2}},"#
            + #"{"id":3}]"#
        try tool.succeed("import", "c", "-", "--id-key", "id", "--collection", "k", input: document)
        for identifier in ["a:2", "l:3", "root:3"] { try tool.succeed("delete", "c", identifier) }
        let lines = try tool.expectCopies(of: "c", to: "d")
        #expect(lines.first?.contains(#""a":{"$deleted":1},"id":1,"l":[{"$deleted":2},"#) == true)
        #expect(
            lines.map(CommandLineTool.undated).contains(
                #"{"kind":"node","identifier":"root:5","types":["root"],"#
                    + #""fields":{"a":{"$deleted":1},"id":5}}"#
            ))
        #expect(
            try tool.succeed("get", "d", "--collection", "k").text
                == tool.succeed("get", "c", "--collection", "k").text
        )
        #expect(try tool.succeed("stats", "d", "--format", "json").count("tombstones") == 3)

        let lost = lines.joined(separator: "\n").replacingOccurrences(of: "$deleted", with: "$lost")
        try tool.succeed("import", "e", "-", "--records", input: lost)
        try tool.expectCopies(of: "e", to: "f")
        try tool.fail(2, "get", "e", "root:5")
    }

    @Test("What has expired is expired in the copy, too, and what expires later keeps its time")
    func ages() throws {
        let cache = try NormalizedCache(directory: tool.folder.url.path + "/c")
        try cache.set(Note(id: 1), maxAge: .seconds(0)).wait()
        try cache.set(Note(id: 2), maxAge: .seconds(3_600)).wait()
        try cache.set(Note(id: 3)).wait()
        cache.close()
        let lines = try tool.expectCopies(of: "c", to: "d")
        #expect(lines.count { $0.contains(#""written":"20"#) } == 3)
        #expect(lines.count { $0.contains(#""maxAge":3600,"#) } == 1)
        let copy = try NormalizedCache(directory: tool.folder.url.path + "/d")
        defer { copy.close() }
        guard case .expired? = copy.readOutcome(Note.self, "Note:1").reason else {
            Issue.record("The copy of what has expired is fresh.")
            return
        }
        #expect(copy.readOutcome(Note.self, "Note:2").value == Note(id: 2))
        #expect(copy.readOutcome(Note.self, "Note:3").value == Note(id: 3))
    }

    @Test("A record that is dated in the future, and may have any age, is listed")
    func farFuture() throws {
        let line =
            #"{"kind":"node","identifier":"A:1","types":["A"],"written":"2099-01-01T00:00:00Z","#
            + #""maxAge":9223372036854775807,"fields":{}}"#
        try tool.succeed("import", "c", "-", "--records", input: line + "\n")
        #expect(try tool.succeed("ls", "c").text.contains("A:1"))
        try tool.succeed("top", "c", "--by", "age")
    }

    @Test("Operations of outboxes and optimistic changes are no silent loss")
    func pending() throws {
        let cache = try NormalizedCache(directory: tool.folder.url.path + "/c")
        try cache.set(Note(id: 1)).wait()
        try cache.outbox("messages", of: Int.self).add(7, id: "a") { $0.set(Note(id: 2)) }.wait()
        try cache.outbox("messages", of: Int.self).add(8, id: "b").wait()
        cache.close()
        let export = try tool("export", "c")
        #expect(export.code == 2)
        #expect(
            export.errors
                == "espalier: c: 2 operations are left out; espalier outbox lists operations; "
                + "1 optimistic change is exported as if confirmed\n")
        #expect(export.text.split(separator: "\n").count == 2)
    }

    @Test("Records on cycles keep their flags, even when imported in parts")
    func cycles() throws {
        let text = String(repeating: "x", count: 9_000)
        let objects = (0..<20).map {
            #"{"id":\#($0),"n":{"id":\#(($0 + 1) % 20)},"t":"\#(text)","p":{"id":\#($0)}}"#
        }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "n", "--type", "p=n",
            input: "[\(objects.joined(separator: ","))]", note: "10 objects were left out")
        let lines = try tool.expectCopies(of: "c", to: "d", options: ["--budget", "1MiB"])
        #expect(lines.count == 20)
        #expect(lines.contains { $0.contains(#""onCycle":true"#) })
        // Lines without the flag: the import finds the cycles itself.
        let silent = lines.map { $0.replacingOccurrences(of: #""onCycle":true,"#, with: "") }
        try tool.succeed(
            "import", "e", "-", "--records", "--budget", "1MiB",
            input: silent.joined(separator: "\n"))
        #expect(try tool.lines(of: "e").count { $0.contains(#""onCycle":true"#) } > 0)
        try tool.succeed("verify", "e")
    }

    @Test("A table of an export has the name, the references and the fields of each record")
    func rows() throws {
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k",
            input: #"[{"id":1,"by":{"id":2,"n":"a,b"}},null]"#)
        #expect(
            try tool.succeed("export", "c", "--format", "csv").text == """
                kind,identifier,types,references,fields
                node,root:1,root,1,"{""by"":{""$ref"":""by:2""},""id"":1}"
                node,by:2,by,0,"{""id"":2,""n"":""a,b""}"
                collection,k,,1,"[{""$ref"":""root:1""},null]"

                """)
        let table = try tool.succeed("export", "c", "--format", "table").text.split(separator: "\n")
        #expect(table.first?.hasPrefix("kind        identifier  types  references  fields") == true)
        #expect(table.count == 4)
    }

    @Test(
        "A closed pipe ends an export quietly, whether SIGPIPE is ignored or not",
        arguments: [false, true])
    func closedPipe(isIgnored: Bool) throws {
        let objects = (0..<3_000).map {
            #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 100))"}"#
        }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", input: "[\(objects.joined(separator: ","))]")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let trap = isIgnored ? "trap '' PIPE; " : ""
        shell.arguments = [
            "-c", "\(trap)(\"$0\" export c; echo $? >status) 2>errors | head -n 1 >first",
            try #require(CommandLineTool.path),
        ]
        shell.currentDirectoryURL = tool.folder.url
        try shell.run()
        shell.waitUntilExit()
        let read = {
            try String(contentsOf: tool.folder.url.appendingPathComponent($0), encoding: .utf8)
        }
        #expect(try read("first").hasPrefix(#"{"kind":"node","identifier":"root:0","#))
        #expect(try read("errors") == "")
        #expect(try read("status") == "141\n")
    }
}

@Suite("Real documents are exported and imported whole", .enabled(if: RealDocument.areAllPresent))
struct RealDocumentExportTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test(
        "A search is exported and imported unchanged, in one part and in many",
        arguments: ["50MiB", "2MiB"])
    func twitter(budget: String) throws {
        try tool.succeed(
            "import", "c", RealDocument.twitter.url.path, "--id-key", "id_str", "--path",
            "statuses", "--type",
            "user=User",
            "--type", "retweeted_status=Status", "--root-type", "Status", "--collection", "search",
            note: "9 objects were left out")
        try tool.succeed("delete", "c", "User:2745121514")
        #expect(
            try tool.expectCopies(of: "c", to: "d", options: ["--budget", budget]).count == 264)
        #expect(
            try tool.succeed("get", "d", "--collection", "search").text
                == tool.succeed("get", "c", "--collection", "search").text)
    }

    @Test("GitHub events are exported and imported unchanged")
    func githubEvents() throws {
        try tool.succeed(
            "import", "c", RealDocument.githubEvents.url.path, "--id-key", "id", "--collection",
            "events")
        #expect(try tool.expectCopies(of: "c", to: "d").count == 112)
    }
}
#endif
