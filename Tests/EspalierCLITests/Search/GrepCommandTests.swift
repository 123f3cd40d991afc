#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The command `grep`")
struct GrepCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        let document = #"""
            [{"id":1,"text":"Ein schöner Tag","n":5,"ok":true,"e":{"m":[{"u":"http://a"},\#
            {"u":"http://b","s":[5,6.5]}]},"by":{"id":7}},
             {"id":2,"text":"a day\nin 日本 5","n":5.0,"ok":null,"by":{"id":8,"name":"Ada"}},
             {"text":"inline day"},"day",[5,[{"text":"deep day"}]]]
            """#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--type", "by=User",
            "--collection", "posts",
            input: document)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "k",
            input: #"{"text":"Day of keys","by":{"id":9}}"#)
    }

    /// The identifier, kind, path and value of each row.
    private func found(_ arguments: String...) throws -> [String] {
        let outcome = try tool.run(["grep", "c", "--format", "json"] + arguments)
        #expect(outcome.code == (outcome.output.isEmpty ? 2 : 0))
        guard case .array(let rows) = try? outcome.json() else { return [] }
        return rows.map { row in
            ["identifier", "kind", "path", "value"].map { name in
                row[name]?.text ?? JSONWriter().string(from: row[name] ?? nil)
            }.joined(separator: " ")
        }
    }

    @Test("`grep` finds parts of strings in nodes, keys and collections, in the order of the index")
    func strings() throws {
        #expect(
            try tool.succeed("grep", "c", "--value", "day").text == """
                record            path            value
                Post:2            text            a day␊in 日本 5
                collection posts  [2].text        inline day
                collection posts  [3]             day
                collection posts  [4][1][0].text  deep day

                """)
        #expect(try found("--value", "day", "--ignore-case").count == 5)
        #expect(try found("--value", "DAY", "--ignore-case").count == 5)
        #expect(
            try found("--value", "SCHÖN", "--ignore-case") == ["Post:1 node text Ein schöner Tag"])
        #expect(try found("--value", "day", "--exact") == ["posts collection [3] day"])
        #expect(
            try found("--value", "Day", "--exact", "--ignore-case") == ["posts collection [3] day"])
        #expect(try tool.rows("grep", "c", "--value", "日本").map { $0["identifier"] } == ["Post:2"])
    }

    @Test("`grep` finds numbers, booleans and null as JSON writes them, and as text in strings")
    func literals() throws {
        #expect(
            try found("--value", "5") == [
                "Post:1 node e.m[1].s[0] 5", "Post:1 node n 5", "Post:2 node n 5.0",
                "Post:2 node text a day\nin 日本 5",
                "posts collection [4][0] 5",
            ])
        #expect(try found("--value", "6.50") == ["Post:1 node e.m[1].s[1] 6.5"])
        #expect(try found("--value", "true") == ["Post:1 node ok true"])
        #expect(try found("--value", "null") == ["Post:2 node ok null"])
        #expect(try found("--value", "-5") == [])
    }

    @Test("`grep` finds the references to an identifier")
    func references() throws {
        #expect(try found("--value", "User:7") == ["Post:1 node by User:7"])
        #expect(try found("--value", "user:7", "--ignore-case") == ["Post:1 node by User:7"])
        #expect(try found("--value", "User:") == [])
        #expect(try found("--value", "Post:2") == ["posts collection [1] Post:2"])
        #expect(try found("--value", "by:9") == ["k key by by:9"])
        #expect(
            try found("--field", "by") == [
                "Post:1 node by User:7", "Post:2 node by User:8", "k key by by:9",
            ])
        try tool.succeed("delete", "c", "User:7")
        #expect(try found("--value", "User:7") == [])
        #expect(
            try tool.succeed("grep", "c", "--field", "by", "--limit", "1").text.hasSuffix(
                "  by    (deleted)\n"))
        #expect(
            try found("--field", "by") == [
                "Post:1 node by null", "Post:2 node by User:8", "k key by by:9",
            ])
    }

    @Test("`grep --field` searches a field and below it, through arrays or at one index")
    func fields() throws {
        #expect(
            try found("--field", "e.m.u") == [
                "Post:1 node e.m[0].u http://a", "Post:1 node e.m[1].u http://b",
            ])
        #expect(try found("--field", "e.m[1].u") == ["Post:1 node e.m[1].u http://b"])
        #expect(try found("--field", "e", "--value", "http").count == 2)
        #expect(try found("--field", "e.m.s") == ["Post:1 node e.m[1].s [5,6.5]"])
        #expect(try found("--field", "e.m.s", "--value", "5") == ["Post:1 node e.m[1].s[0] 5"])
        #expect(
            try found("--field", "text", "--value", "day").map { $0.prefix(6) } == [
                "Post:2", "posts ", "posts ",
            ])
        #expect(try found("--field", "[2].text") == ["posts collection [2].text inline day"])
        #expect(
            try found("--field", "[4]", "--value", "day") == [
                "posts collection [4][1][0].text deep day"
            ])
        #expect(try found("--field", "[3]") == ["posts collection [3] day"])
        #expect(try found("--field", "m.u") == [])
        #expect(try found("--field", "ok") == ["Post:1 node ok true", "Post:2 node ok null"])
        #expect(try found("--field", "name") == ["User:8 node name Ada"])
    }

    @Test("`grep` prints values in JSON with their types")
    func json() throws {
        let value = { (field: String) in
            try tool.rows("grep", "c", "--field", field, "--limit", "1").first?["value"]
        }
        #expect(try value("n") == 5)
        #expect(try value("ok") == true)
        #expect(try value("text") == "Ein schöner Tag")
        #expect(try value("e.m.s") == [5, 6.5])
        #expect(try value("by") == "User:7")
    }

    @Test("`grep --limit` counts matches across kinds")
    func limit() throws {
        let all = try found("--field", "text")
        for limit in 1...6 {
            #expect(
                try tool.rows("grep", "c", "--field", "text", "--limit", "\(limit)").count
                    == min(limit, 5))
        }
        #expect(all.count == 5)
    }

    @Test("`grep` without a match is a miss, even in an empty cache")
    func miss() throws {
        #expect(
            try tool.fail(2, "grep", "c", "--value", "nothing like it").errors
                == "espalier: c: nothing found\n")
        try tool.fail(2, "grep", "c", "--field", "nothing", "--format", "json")
        try tool.succeed("import", "e", "-", "--id-key", "id", input: "[]")
        try tool.fail(2, "grep", "e", "--value", "x")
    }

    @Test("`grep` skips a damaged record and reports it")
    func damaged() throws {
        let text = CommandLineTool.longText("Ada")
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", "--compression", "none",
            input: #"{"id":8,"name":"\#(text)"}"#)
        try tool.folder.damage(text, in: "c")
        let some = try tool("grep", "c", "--value", "day")
        #expect(some.code == 0)
        #expect(
            some.errors
                == "espalier: note: 1 damaged record was not searched; espalier verify "
                + "describes the damage.\n"
        )
        #expect(
            try tool.fail(2, "grep", "c", "--value", "Ada").errors
                == "espalier: c: nothing found; 1 damaged record was not searched\n")
        // A repair makes it a lost record, which has nothing to search.
        _ = try tool("doctor", "c", "--repair")
        try tool.succeed("verify", "c")
        #expect(
            try tool.fail(2, "grep", "c", "--value", "Ada").errors
                == "espalier: c: nothing found\n")
    }

    @Test("`grep` finds a value at the greatest depth of a document")
    func deep() throws {
        let document =
            String(repeating: #"{"a":["#, count: 250) + "5" + String(repeating: "]}", count: 250)
        try tool.succeed(
            "import", "d", "-", "--id-key", "id", "--collection", "k", input: "[\(document)]")
        #expect(
            try tool.succeed("grep", "d", "--value", "5", "--format", "json").text.contains(
                "[0].a[0].a[0]"))
        try tool.succeed("refs", "d", "--collection", "k")
    }
}
#endif
