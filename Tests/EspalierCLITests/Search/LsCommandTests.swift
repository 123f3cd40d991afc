#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `ls`")
struct LsCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--type", "by=User",
            "--collection", "posts",
            input: """
                [{"id":1,"by":{"id":7,"name":"Ada"},"tags":["a"]},{"id":2,"by":{"id":7,\
                "name":"Ada"},"re":{"id":1}},
                 {"id":10,"by":{"id":8,"name":"日本"}},{"by":{"id":9}},5]
                """)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "me", "--root-type", "User",
            input: #"{"id":7,"name":"Ada"}"#)
    }

    private func identifiers(_ arguments: String...) throws -> [String] {
        guard
            case .array(let rows) = try tool.run(["ls", "c", "--format", "json"] + arguments).json()
        else {
            return []
        }
        return rows.compactMap { $0["identifier"]?.text }
    }

    @Test("`ls` lists nodes, keys and collections in byte order, with sizes and references")
    func listing() throws {
        let rows = try tool.rows("ls", "c")
        let parts = rows.map { row in
            ["identifier", "kind", "types", "references", "children", "age"].map {
                row[$0] ?? "absent"
            }
        }
        #expect(
            parts == [
                ["Post:1", "node", ["Post"], 1, 1, nil], ["Post:10", "node", ["Post"], 1, 1, nil],
                ["Post:2", "node", ["Post"], 1, 2, nil], ["User:7", "node", ["User"], 3, 0, nil],
                ["User:8", "node", ["User"], 1, 0, nil], ["User:9", "node", ["User"], 1, 0, nil],
                ["re:1", "node", ["re"], 1, 0, nil], ["me", "key", [], 0, 1, 0],
                ["posts", "collection", [], 0, 5, 1],
            ])
        let bytes = rows.compactMap { $0["bytes"]?.count }
        try tool.expectSum(bytes.reduce(0, +), in: "c")
        #expect(
            try tool.succeed("ls", "c", "--format", "csv").text.hasPrefix(
                "identifier,kind,types,bytes,rawBytes,references,children,age,ageSeconds,"
                    + "writtenSeconds,expiresInSeconds,pinned\nPost:1,node,Post,"
            ))
    }

    @Test("`ls` prints columns that fit a terminal")
    func table() throws {
        let lines = try tool.succeed("ls", "c", "--kind", "key").text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines[0]
                == "identifier  kind  type  size   raw  refs  children  age  time  pinned")
        #expect(lines[1].hasPrefix("me          key"))
    }

    @Test("`ls` selects by kind, by type, by pattern, and by all three")
    func selection() throws {
        #expect(try identifiers("--kind", "node").count == 7)
        #expect(try identifiers("--kind", "key") == ["me"])
        #expect(try identifiers("--kind", "collection") == ["posts"])
        #expect(try identifiers("--kind", "all").count == 9)
        #expect(try identifiers("--type", "User") == ["User:7", "User:8", "User:9"])
        #expect(try identifiers("--type", "user") == [])
        #expect(try identifiers("--match", "*:1*") == ["Post:1", "Post:10", "re:1"])
        #expect(
            try identifiers("--match", "[!P]*", "--kind", "node") == [
                "User:7", "User:8", "User:9", "re:1",
            ])
        #expect(try identifiers("--match", "Post:1") == ["Post:1"])
        #expect(try identifiers("--match", "Post") == [])
        #expect(try identifiers("--match", "Post:?", "--type", "Post") == ["Post:1", "Post:2"])
        #expect(try identifiers("--match", "p*s") == ["posts"])
    }

    @Test("`ls --limit` counts records across kinds")
    func limit() throws {
        let all = try identifiers()
        for limit in [1, 6, 7, 8, 9, 100] {
            #expect(try identifiers("--limit", "\(limit)") == Array(all.prefix(limit)))
        }
        #expect(try identifiers("--limit", "1", "--match", "*8") == ["User:8"])
    }

    @Test("`ls` omits a deleted record and keeps the records that refer to it")
    func deleted() throws {
        try tool.succeed("delete", "c", "User:7")
        #expect(try !identifiers().contains("User:7"))
        #expect(try identifiers("--match", "Post:1") == ["Post:1"])
        #expect(try identifiers("--match", "User:7") == [])
    }

    @Test("`ls` of an empty cache is a header, or an empty array")
    func empty() throws {
        try tool.succeed("import", "e", "-", "--id-key", "id", input: "[]")
        for arguments in [
            ["ls", "e"], ["top", "e"], ["top", "e", "--by", "refs"], ["top", "e", "--by", "age"],
            ["ls", "c", "--match", "nothing"],
        ] {
            #expect(
                try tool.run(arguments).text
                    == "identifier  kind  type  size  raw  refs  children  age  time  pinned\n"
            )
            let json = try tool.run(arguments + ["--format", "json"])
            #expect(json.code == 0 && json.text == "[]\n")
        }
    }

    @Test("`ls` lists a damaged record as damaged, and --type omits it")
    func damaged() throws {
        let text = CommandLineTool.longText("Ada")
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "User", "--compression", "none",
            input: #"{"id":7,"name":"\#(text)"}"#)
        try tool.folder.damage(text, in: "c")
        let row = try #require(try tool.rows("ls", "c", "--match", "User:7").first)
        #expect(row["kind"] == "damaged node" && row["types"] == [] && row["children"] == .null)
        #expect(row["references"] == 3 && row["rawBytes"] == .null)
        #expect(try #require(row["bytes"]?.count) > 2_000)
        #expect(try identifiers("--type", "User") == ["User:8", "User:9"])
        #expect(try tool.succeed("ls", "c").text.contains("\nUser:7      damaged node  "))
    }

    @Test("`ls` shows the beginning of the name of a damaged record that the index has cut")
    func damagedBeginning() throws {
        let text = CommandLineTool.longText("to be damaged")
        try tool.succeed(
            "import", "b", "-", "--id-key", "id", "--root-type", "Post", "--compression", "none",
            input: #"[{"id":"short"},{"id":"the rest is not needed","text":"\#(text)"}]"#)
        try tool.folder.damage(text, in: "b")
        let rows = try tool.rows("ls", "b")
        #expect(rows.map { $0["kind"] } == ["node", "damaged node"])
        let name = try #require(rows[1]["identifier"]?.text)
        #expect(name.hasSuffix("…") && "Post:the rest is not needed".hasPrefix(name.dropLast()))
        #expect(name.hasPrefix("Post:t"))
        // A pattern finds the record if the beginning may be that of a match.
        #expect(try tool.rows("ls", "b", "--match", "Post:the rest*").count == 1)
        #expect(try tool.rows("ls", "b", "--match", "Post:x*").isEmpty)
    }

    @Test(
        "`ls` prints names of any text correctly",
        arguments: ["日本語", "مستخدم", "😀👩‍👩‍👧‍👦", "a\nb\u{1B}[2J\u{0}", "e\u{301}", "a,\"b\""])
    func names(text: String) throws {
        let quoted = JSONWriter().string(from: .string(text))
        try tool.succeed(
            "import", "n", "-", "--id-key", "id", "--root-type", "T", input: #"{"id":\#(quoted)}"#)
        #expect(try tool.rows("ls", "n").first?["identifier"] == .string("T:" + text))
        let table = try tool.succeed("ls", "n").text
        #expect(table.split(separator: "\n").count == 2)
        #expect(table.contains("T:" + text.withVisibleControls))
        #expect(
            try tool.succeed("ls", "n", "--format", "csv").text.contains(CSV.line(["T:" + text])))
        // Some time passes between the two calls.
        let ageless = { (table: String) in table.replacing(/\s+[0-9]+ s/, with: "") }
        guard !text.contains("\u{0}") else { return }
        #expect(try ageless(tool.succeed("ls", "n", "--match", "T:\(text)").text) == ageless(table))
    }

    @Test("`ls` lists a very long identifier in full, and finds it by its beginning and its end")
    func long() throws {
        let ids = ["a", "b"].map { String(repeating: "x", count: 2_000) + $0 }
        try tool.succeed(
            "import", "l", "-", "--id-key", "id", "--root-type", "T",
            input: "[\(ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ","))]")
        for (pattern, count) in [
            ("*", 2), ("T:xxx*", 2), ("*a", 1), ("T:\(ids[1])", 1), ("T:\(ids[1])b", 0),
        ] {
            let rows = try tool.rows("ls", "l", "--match", pattern)
            #expect(rows.count == count)
            #expect(
                rows.allSatisfy { row in ids.contains { row["identifier"] == .string("T:" + $0) } })
        }
    }
}
#endif
