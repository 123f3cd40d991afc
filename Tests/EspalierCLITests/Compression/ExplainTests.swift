#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `get --explain`")
struct ExplainTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func explanation(_ entry: String..., code: Int32 = 0) throws -> JSONValue {
        let outcome = try tool.run(["get", "c"] + entry + ["--explain", "--format", "json"])
        #expect(outcome.code == code, "\(outcome.errors)")
        return try outcome.json()
    }

    @Test("`get --explain` describes a hit and its record")
    func hit() throws {
        try tool.importPosts()
        try tool.succeed("compact", "c")
        try tool.succeed("pin", "c", "Post:5")
        let json = try explanation("Post:5")
        #expect(json["outcome"] == "hit" && json["reason"] == .null && json["path"] == .null)
        #expect(
            json["records"] == 2 && json["stop"] == .null && json["placeCount"] == 0
                && json["isCut"] == false)
        let record = try #require(json["record"])
        #expect(
            record["identifier"] == "Post:5" && record["kind"] == "node"
                && record["nameSpace"] == "node")
        #expect(record["flags"] == ["node"] && record["chunks"] == "none")
        #expect(record["types"] == ["Post"] && record["fields"] == ["by", "id", "kind", "text"])
        #expect(Int(record["dictionary"]?.text ?? "") ?? 0 >= 2)
        #expect(
            record["children"] == 1 && record["references"] == 1 && record["state"] == ["pinned"])
        let listed = try #require(try tool.rows("ls", "c", "--match", "Post:5").first)
        #expect(
            record["storedBytes"] == listed["bytes"] && record["rawBytes"] == listed["rawBytes"])
        let (raw, stored) = (
            try #require(listed["rawBytes"]?.count), try #require(listed["bytes"]?.count)
        )
        #expect(stored < raw)
        #expect(record["ratio"]?.real == Double(raw) / Double(stored))
        #expect(try #require(record["stamp"]?.count) > 0 && record["age"] == listed["age"])
    }

    @Test("`get --explain` describes collections, keys, and keys that are the identifier of a node")
    func otherEntries() throws {
        try tool.importDocument(#"[{"id":1},{"id":2,"by":{"id":1}}]"#, ["--collection", "posts"])
        try tool.succeed("set", "c", "-", "--id-key", "id", "--key", "k", input: #"{"a":[1]}"#)
        #expect(try explanation("--collection", "posts")["records"] == 5)
        #expect(try explanation("--collection", "posts")["record"]?["nameSpace"] == "collection")
        #expect(try explanation("--key", "k")["record"]?["flags"] == ["key"])
        #expect(try explanation("--key", "Post:1")["record"]?["identifier"] == "Post:1")
        #expect(try explanation("--key", "Post:1")["record"]?["shape"]?.text != "none")
    }

    @Test(
        "`get --explain` reports the path and reason of a miss, and the record at which it stopped"
    )
    func damagedChild() throws {
        let text = CommandLineTool.longText("a text that is going to be damaged")
        let document =
            #"[{"id":1,"list":[{"by":{"id":7,"name":"\#(text)"}}]},{"id":2,"by":{"id":8}}]"#
        try tool.importDocument(document, ["--collection", "posts", "--compression", "none"])
        try tool.folder.damage(text, in: "c")
        for entry in [["Post:1"], ["--collection", "posts"]] {
            let failure = try tool.run(["get", "c"] + entry)
            #expect(failure.code == 2 && failure.output == [])
            let outcome = try tool.run(["get", "c"] + entry + ["--explain", "--format", "json"])
            #expect(outcome.code == 2 && outcome.errors == failure.errors)
            let json = try outcome.json()
            let path = try #require(json["path"]?.text)
            #expect(path == "Post:1.list[0].by" && failure.errors.contains(path))
            #expect(json["outcome"] == "miss" && json["reason"] != .null)
            #expect(json["stop"]?["kind"] == "damaged")
            // Nothing is known of a record in a damaged frame but its place.
            #expect(json["stop"]?["nameSpace"] == .null && json["stop"]?["fields"] == [])
            #expect(try #require(json["stop"]?["storedBytes"]?.count) > 2_000)
            #expect(
                json["stop"]?["dictionary"] == "raw"
                    && json["stop"]?["problem"]?.text?.isEmpty == false)
            #expect(json["stop"]?["references"] == 1)
            #expect(json["places"]?.elements.map { $0["kind"] } == ["damaged"])
            #expect(json["places"]?.elements.first?["isFinal"] == true)
        }
        #expect(try explanation("Post:2")["outcome"] == "hit")
        let table = try tool.run(["get", "c", "Post:1", "--explain"]).text
        #expect(
            table.contains("Post:1.list[0].by") && table.contains("the record at which it stopped"))
    }

    @Test("A damaged entry is itself the record at which the read stopped")
    func damagedEntry() throws {
        try tool.importDocument(
            #"{"id":1,"text":"a text that is damaged"}"#, ["--compression", "none"])
        try tool.folder.damage("a text that is damaged", in: "c")
        let json = try explanation("Post:1", code: 2)
        #expect(json["path"] == "Post:1" && json["stop"] == .null)
        #expect(
            json["record"]?["kind"] == "damaged"
                && json["record"]?["problem"]?.text?.isEmpty == false)
    }

    @Test("`get --explain` lists deleted records, references back and depth")
    func typedPlaces() throws {
        try tool.importDocument(
            #"{"id":1,"by":{"id":1,"posts":[{"x":{"id":2,"by":{"id":9}}}]}}"#, ["--type", "x=Post"])
        try tool.importDocument(
            #"{"id":2,"by":{"id":9},"back":{"id":1,"by":{"id":1}}}"#,
            ["--type", "back=Post", "--merge"])
        try tool.succeed("delete", "c", "Person:9")
        let json = try explanation("Post:1")
        #expect(json["outcome"] == "hit" && json["isCut"] == true)
        let places = try #require(json["places"]?.elements)
        #expect(places.allSatisfy { $0["isFinal"] == false })
        #expect(
            Set(places.map { "\($0["kind"]?.text ?? "") \($0["path"]?.text ?? "")" }) == [
                "deleted Post:2.by", "cyclic Post:2.back",
            ])
        let nested = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
        try tool.importDocument(#"{"id":3,"deep":\#(nested)}"#)
        let deep = try explanation("Post:3")
        #expect(deep["outcome"] == "hit" && deep["levels"] == 301)
        #expect(deep["places"]?.elements.map { $0["kind"] } == ["tooDeep"])
        #expect(
            deep["places"]?.elements.first?["path"]?.text == "Post:3.deep"
                + String(repeating: "[0]", count: 255))
    }

    @Test("`get --explain` counts neither as an access nor as a read")
    func noAccess() throws {
        try tool.importDocument(#"[{"id":1},{"id":2}]"#)
        let before = try tool.succeed("stats", "c", "--format", "json").json()
        try tool.succeed("get", "c", "Post:1", "--explain")
        let after = try tool.succeed("stats", "c", "--format", "json").json()
        #expect(before["hits"] == after["hits"] && before["commits"] == after["commits"])
        #expect(
            try tool.rows("top", "c", "--by", "age").map { $0["identifier"] } == [
                "Post:1", "Post:2",
            ])
    }

    @Test(
        "`get --explain` prints a table, JSON on one line and CSV, and one line for a missing entry"
    )
    func formats() throws {
        try tool.fail(1, "get", "c", "Post:1", "--explain")
        #expect(!tool.folder.contains("c"))
        try tool.importDocument(#"{"id":1}"#, ["--collection", "posts"])
        #expect(try tool.fail(2, "get", "c", "Post:9", "--explain").errors.contains("not found"))
        #expect(try tool.fail(2, "get", "c", "posts", "--explain").errors.contains("--collection"))
        let table = try tool.succeed("get", "c", "Post:1", "--explain").text
        #expect(table.hasPrefix("the read") && table.contains("the entry's record"))
        let line = try tool.succeed(
            "get", "c", "Post:1", "--explain", "--compact", "--format", "json"
        ).text
        #expect(line.count { $0 == "\n" } == 1 && line.hasPrefix("{"))
        #expect(
            try tool.succeed("get", "c", "Post:1", "--explain", "--format", "csv").text.count {
                $0 == "\n"
            } == 2)
        for arguments in [
            ["--explain", "--raw"], ["--explain", "--compact"], ["--raw", "--compact"],
        ] {
            let outcome = try tool.run(["get", "c", "Post:1"] + arguments)
            #expect(outcome.code == 64 && outcome.output == [])
        }
    }
}
#endif
