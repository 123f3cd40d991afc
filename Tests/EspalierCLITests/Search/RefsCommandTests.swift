#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The command `refs`")
struct RefsCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        let document = #"""
            [{"id":1,"by":{"id":7,"by":{"id":7}},"e":{"media":[{"id":3},{"x":[{"id":4}]}]}},\#
            {"id":2,"re":{"id":7}},
             {"by":{"id":7}},[{"id":1}],null]
            """#
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--type", "by=User",
            "--type", "re=User",
            "--collection", "posts", input: document)
    }

    private func rows(_ arguments: String...) throws -> [String] {
        let lines = try tool.run(["refs", "c", "--format", "csv"] + arguments).text.split(
            separator: "\n")
        return lines.dropFirst().map(String.init)
    }

    @Test("`refs` prints references in fields, arrays and collections")
    func both() throws {
        #expect(
            try tool.succeed("refs", "c", "Post:1").text == """
                direction  path             record
                to         by               User:7
                to         e.media[0]       media:3
                to         e.media[1].x[0]  x:4
                from       [0]              collection posts
                from       [3][0]           collection posts

                """)
        #expect(
            try tool.succeed("refs", "c", "User:7").text == """
                direction  path    record
                to         by      User:7
                from       by      Post:1
                from       by      User:7
                from       re      Post:2
                from       [2].by  collection posts

                """)
        #expect(
            try rows("--collection", "posts") == [
                "to,1,collection,posts,[0],node,Post:1", "to,1,collection,posts,[1],node,Post:2",
                "to,1,collection,posts,[2].by,node,User:7",
                "to,1,collection,posts,[3][0],node,Post:1",
            ])
    }

    @Test("`refs` of a key prints its references; an unknown key is an identifier")
    func keys() throws {
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "me", "--root-type", "User",
            input: #"{"id":7}"#)
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--key", "it", input: #"{"a":[{"id":3}]}"#)
        #expect(try rows("--key", "me") == ["to,1,key,me,,node,User:7"])
        #expect(try rows("--key", "it") == ["to,1,key,it,a[0],node,a:3"])
        #expect(try rows("User:7").contains("from,1,key,me,,node,User:7"))
        #expect(try rows("--key", "x:4") == ["from,1,node,Post:1,e.media[1].x[0],node,x:4"])
    }

    @Test("`refs --depth` follows references in both directions")
    func depth() throws {
        #expect(
            try tool.succeed("refs", "c", "x:4", "--depth", "2").text == """
                direction  depth  record            path             refers to
                from           1  Post:1            e.media[1].x[0]  x:4
                from           2  collection posts  [0]              Post:1
                from           2  collection posts  [3][0]           Post:1

                """)
        let all = try rows("Post:2", "--depth", "50")
        #expect(all.count == 3)
        #expect(try rows("Post:2", "--depth", "1").count == 2)
    }

    @Test("`refs` prints a deleted record in its place")
    func deleted() throws {
        try tool.succeed("delete", "c", "x:4")
        try tool.succeed("delete", "c", "Post:2")
        #expect(
            try tool.succeed("refs", "c", "Post:1").text.contains(
                "\nto         e.media[1].x[0]  (deleted)\n"))
        #expect(try rows("Post:1").contains("to,1,node,Post:1,e.media[1].x[0],deleted,"))
        #expect(try rows("--collection", "posts").contains("to,1,collection,posts,[1],deleted,"))
        #expect(try tool.fail(2, "refs", "c", "x:4").errors == "espalier: x:4: not found\n")
        #expect(
            try tool.succeed("refs", "c", "Post:1", "--dot").text.contains(
                #"[label="(deleted)", style=dashed]"#))
    }

    @Test("`refs` of a missing record is a miss")
    func miss() throws {
        #expect(try tool.fail(2, "refs", "c", "nobody").errors == "espalier: nobody: not found\n")
        #expect(
            try tool.fail(2, "refs", "c", "--collection", "k").errors
                == "espalier: collection k: not found\n")
        #expect(
            try tool.fail(2, "refs", "c", "--key", "k", "--dot").errors
                == "espalier: key k: not found\n")
    }

    @Test("`refs` prints a damaged record as damaged and reports its unknown references")
    func damaged() throws {
        let text = CommandLineTool.longText("to be damaged")
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--compression", "none",
            input:
                #"[{"id":20,"text":"\#(text)","a":{"id":21}},{"id":22,"p":{"id":23,"#
                + #""text":"\#(text)"}}]"#
        )
        try tool.folder.damage(text, in: "c")
        let child = try tool("refs", "c", "a:21")
        #expect(child.code == 0 && child.text == "direction  path  record\n")
        #expect(child.errors.hasPrefix("espalier: note: the references of 2 damaged records"))
        let parent = try tool("refs", "c", "Post:22")
        #expect(parent.text.contains("\nto         p     (damaged)\n"))
        let itself = try tool("refs", "c", "p:23")
        #expect(itself.code == 0 && itself.text.contains("\nfrom       p     Post:22\n"))
    }

    @Test("`refs` finds an element in every segment of a collection")
    func segments() throws {
        let elements = (0..<2_000).map { #"{"n":\#($0),"by":{"id":\#($0 % 1_999)}}"# }
        try tool.succeed(
            "import", "d", "-", "--id-key", "id", "--collection", "k",
            input: "[\(elements.joined(separator: ","))]")
        for (id, places) in [(0, [0, 1_999]), (511, [511]), (512, [512]), (1_998, [1_998])] {
            let text = try tool.succeed("refs", "d", "by:\(id)", "--format", "csv").text
            let expected = places.map { "from,1,collection,k,[\($0)].by,node,by:\(id)" }
            #expect(text.split(separator: "\n").dropFirst().map(String.init) == expected)
        }
        #expect(
            try tool.succeed("refs", "d", "--collection", "k").text.split(separator: "\n").count
                == 2_001)
    }

    @Test("`refs --dot` prints every reference once, even on cycles")
    func dot() throws {
        let text = try tool.succeed("refs", "c", "User:7", "--dot", "--depth", "9").text
        #expect(text.hasPrefix("digraph espalier {\n") && text.hasSuffix("}\n"))
        let edges = text.split(separator: "\n").filter { $0.contains(" -> ") }
        #expect(Set(edges).count == edges.count && edges.count == 7)
        #expect(edges.contains { $0.contains(#"[label="[2].by"]"#) })
        #expect(try tool.succeed("refs", "c", "User:7", "--dot", "--depth", "9").text == text)
    }

    @Test("A field whose name holds dots, brackets or line breaks has one path")
    func names() throws {
        try tool.succeed(
            "import", "n", "-", "--id-key", "id",
            input: #"{"id":1,"a.b":{"":[{"id":2}]},"日\n本":{"id":3}}"#)
        let text = try tool.succeed("refs", "n", "root:1").text
        #expect(text.contains("日␊本"))
        #expect(text.contains(#"["a.b"][""][0]"#))
        #expect(
            try tool.succeed("grep", "n", "--field", #"["a.b"][""][0]"#).text.contains("root:1"))
    }
}
#endif
