#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `diff`")
struct DiffCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func fill(_ cache: String, _ document: String, _ options: String...) throws {
        _ = try tool.run(
            ["import", cache, "-", "--id-key", "id", "--root-type", "N"] + options, input: document
        )
    }

    private func rows(_ options: String...) throws -> [String] {
        let outcome = try tool.run(["diff", "a", "b", "--format", "csv"] + options)
        let rows = outcome.text.split(separator: "\n").dropFirst().map(String.init)
        #expect(outcome.code == (rows.isEmpty ? 0 : 2))
        #expect(outcome.errors.isEmpty == rows.isEmpty)
        return rows
    }

    @Test("`diff` prints nothing for caches with the same content, whatever their history")
    func equal() throws {
        try fill("a", #"[{"id":1,"x":{"id":2,"n":1.0}},{"id":3}]"#, "--collection", "k")
        try fill("b", #"[{"id":3},{"id":1,"x":{"id":2,"n":5}}]"#)
        try fill("b", #"[{"x":{"n":1.0,"id":2},"id":1},{"id":3}]"#, "--collection", "k")
        #expect(try rows() == [])
        #expect(try tool.succeed("diff", "a", "b").text == "change  kind  identifier  path  a  b\n")
        #expect(try tool.succeed("diff", "a", "b", "--format", "json").text == "[]\n")
        #expect(try tool.succeed("diff", "a", "a", "--format", "json").text == "[]\n")
    }

    @Test("`diff` reports fields by path, references by identifier, and kinds of numbers")
    func fields() throws {
        try fill(
            "a",
            #"[{"id":1,"x":{"id":2},"d":1,"m":[{"u":"x"}],"old":null},{"id":5},{"id":3,"#
                + #""x":{"id":9}}]"#
        )
        try fill(
            "b", #"[{"id":1,"x":{"id":4},"d":1.0,"m":[{"u":"y"}]},{"id":6},{"id":3,"x":{"id":9}}]"#)
        try tool.succeed("delete", "b", "x:9")
        #expect(
            try rows() == [
                "changed,node,N:1,d,1,1.0", #"changed,node,N:1,m[0].u,"""x""","""y""""#,
                "changed,node,N:1,old,null,",
                #"changed,node,N:1,x,"{""$ref"":""x:2""}","{""$ref"":""x:4""}""#,
                #"changed,node,N:3,x,"{""$ref"":""x:9""}","{""$deleted"":true}""#,
                "removed,node,N:5,,,",
                "added,node,N:6,,,",
                "removed,node,x:2,,,", "added,node,x:4,,,", "removed,node,x:9,,,",
            ])
        let errors = try tool("diff", "a", "b").errors
        #expect(errors == "espalier: a, b: 7 records differ\n")
        let limited = try tool("diff", "a", "b", "--limit", "1", "--format", "csv")
        #expect(limited.text.split(separator: "\n").count == 5)
        #expect(limited.errors == errors)
    }

    @Test("`diff` reports types and the types that declare a field")
    func types() throws {
        let line = { (types: String, more: String) in
            #"{"kind":"node","identifier":"n","types":\#(types),\#(more)"fields":{"a":1,"b":2}}"#
        }
        try tool.succeed("import", "a", "-", "--records", input: line(#"["A"]"#, ""))
        try tool.succeed(
            "import", "b", "-", "--records",
            input: line(#"["B","A"]"#, #""declarers":{"a":["A"]},"#))
        #expect(
            try rows() == [
                #"changed,node,n,$types,"[""A""]","[""A"",""B""]""#
            ])
        try tool.succeed(
            "import", "a", "-", "--records",
            input: line(#"["A","B"]"#, #""declarers":{"a":["B"],"b":[]},"#))
        #expect(
            try rows() == [
                #"changed,node,n,$declarers.a,"[""B""]","[""A""]""#,
                #"changed,node,n,$declarers.b,[],"[""A"",""B""]""#,
            ])
        let reordered = line(#"["A","B"]"#, #""declarers":{"a":["A"]},"#)
            .replacingOccurrences(of: #""a":1,"b":2"#, with: #""b":2,"a":1"#)
        try tool.succeed("import", "a", "-", "--records", input: reordered)
        #expect(try rows() == [])
    }

    @Test("`diff` reports keys, and inserted and removed elements of collections")
    func collections() throws {
        let numbers = (0..<1_000).map { #"{"id":\#($0)}"# }
        try fill("a", "[\(numbers.joined(separator: ","))]", "--collection", "k")
        var others = numbers
        others.insert(#"{"inline":true}"#, at: 0)
        others.removeSubrange(700..<800)
        try fill("b", "[\(numbers.joined(separator: ","))]")
        try fill("b", "[\(others.joined(separator: ","))]", "--collection", "k")
        try tool.succeed("set", "a", "-", "--id-key", "id", "--key", "s", input: #"{"dark":true}"#)
        try tool.succeed("set", "b", "-", "--id-key", "id", "--key", "s", input: #"{"dark":false}"#)
        #expect(
            try rows() == [
                "changed,key,s,dark,true,false", "changed,collection,k,$count,1000,901",
                #"changed,collection,k,[0],,"{""inline"":true}""#,
                #"changed,collection,k,[699-798],"{""$ref"":""N:699""}, {""$ref"":""N:700""}, "#
                    + #"{""$ref"":""N:701""} and 97 more","#,
            ])
        let json = try tool("diff", "a", "b", "--format", "json").json()
        guard case .array(let rows) = json, case .array(let removed)? = rows.last?["a"] else {
            Issue.record("\(json)")
            return
        }
        #expect(removed.count == 100)
        #expect(rows.last?["b"] == .none)
    }

    @Test("`diff` colors added, removed and changed records when asked")
    func colours() throws {
        try fill("a", #"[{"id":1,"n":1},{"id":2}]"#)
        try fill("b", #"[{"id":1,"n":2},{"id":3}]"#)
        let text = try tool("diff", "a", "b", "--color", "always").text
        for part in ["\u{1B}[33mchanged", "\u{1B}[31mremoved", "\u{1B}[32madded"] {
            #expect(text.contains(part))
        }
    }

    @Test("`diff` compares long identifiers like others, and wrong arguments exit with 64")
    func edges() throws {
        let long = String(repeating: "x", count: 700)
        try fill("a", #"[{"id":"\#(long)1","n":1},{"id":"\#(long)2"},{"id":"z"}]"#)
        try fill("b", #"[{"id":"\#(long)1","n":2},{"id":"\#(long)3"},{"id":"z"}]"#)
        #expect(
            Set(try rows().map { $0.replacingOccurrences(of: long, with: "") }) == [
                "changed,node,N:1,n,1,2", "removed,node,N:2,,,", "added,node,N:3,,,",
            ])
        for arguments in [
            ["diff"], ["diff", "a"], ["diff", "a", "b", "c"], ["diff", "a", "b", "--limit", "0"],
            ["export"],
        ] {
            #expect(try tool.run(arguments).code == 64)
        }
        try tool.fail(1, "diff", "a", "nowhere")
        try tool.fail(1, "diff", "nowhere", "a")
        try tool.fail(1, "export", "nowhere")
        #expect(!tool.folder.contains("nowhere"))
    }
}
#endif
