#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Exports of damaged records")
struct DamagedExportTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test("An export omits damaged records, marks references to them as lost, and can be imported")
    func leftOut() throws {
        let (text, element) = (
            CommandLineTool.longText("a text to be damaged"),
            CommandLineTool.longText("an element to be damaged")
        )
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k", "--compression", "none",
            input:
                #"[{"id":1,"a":{"id":2,"text":"\#(text)"}},{"id":3,"a":{"id":2}},"#
                + #"{"id":4,"a":{"id":5}},{"n":"\#(element)"}]"#
        )
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "l", "--compression", "none",
            input: #"[{"id":1}]"#)
        try tool.folder.damage(text, in: "c")
        try tool.folder.damage(element, in: "c")
        let export = try tool("export", "c")
        #expect(export.code == 2)
        // A collection whose elements are damaged is one record, not two.
        #expect(
            export.errors
                == "espalier: c: 2 records are damaged and left out; espalier verify describes "
                + "the damage\n"
        )
        #expect(
            CommandLineTool.undated(export.text) == """
                {"kind":"node","identifier":"root:1","types":["root"],"fields":{"id":1}}
                {"kind":"node","identifier":"root:3","types":["root"],"fields":{"a":{"$lost":1},\
                "id":3}}
                {"kind":"node","identifier":"root:4","types":["root"],"fields":{"a":{"$ref":"a:5"},\
                "id":4}}
                {"kind":"node","identifier":"a:5","types":["a"],"fields":{"id":5}}
                {"kind":"collection","identifier":"l","elements":[{"$ref":"root:1"}]}

                """)
        try tool.succeed("import", "d", "-", "--records", input: export.text)
        try tool.succeed("verify", "d")
        let diff = try tool("diff", "c", "d", "--format", "csv")
        #expect(diff.code == 2)
        #expect(diff.errors == "espalier: c, d: 2 records differ\n")
        #expect(
            diff.text == """
                change,kind,identifier,path,a,b
                removed,node,a:2,,,
                removed,collection,k,,,

                """)
        #expect(
            try tool("diff", "c", "c", "--format", "csv").text.contains("\ndamaged,node,a:2,,,\n"))
    }

    @Test("An export omits all records of a damaged frame, and no other")
    func frame() throws {
        let posts = (0..<40).map { #"{"id":\#($0),"text":"post \#($0) of many"}"# }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--compression", "none",
            input: "[\(posts.joined(separator: ","))]")
        var lines = try tool.succeed("export", "c").text.split(separator: "\n")
        lines.removeSubrange(16..<24)
        try tool.folder.damage("post 20 of many", in: "c")
        let export = try tool("export", "c")
        #expect(export.code == 2)
        #expect(
            export.errors
                == "espalier: c: 8 records are damaged and left out; espalier verify describes "
                + "the damage\n"
        )
        #expect(export.text.split(separator: "\n") == lines)
    }

    @Test("`diff` compares a record of which the index has only a beginning with the one it may be")
    func beginning() throws {
        let text = CommandLineTool.longText("a text to be damaged")
        func fill(_ cache: String, _ rest: String...) throws {
            let documents =
                [#"{"id":"one and only","t":"\#(text)"}"#]
                + rest.map {
                    #"{"id":"\#($0)"}"#
                }
            try tool.succeed(
                "import", cache, "-", "--id-key", "id", "--root-type", "N", "--compression", "none",
                input: "[\(documents.joined(separator: ","))]")
        }
        try fill("c", "z")
        try fill("one", "z")
        try fill("two", "z", "one more")
        try tool.succeed(
            "import", "none", "-", "--id-key", "id", "--root-type", "N", input: #"[{"id":"z"}]"#)
        try tool.folder.damage(text, in: "c")
        func diff(_ a: String, _ b: String) throws -> [String] {
            try tool("diff", a, b, "--format", "csv").text.split(separator: "\n").dropFirst()
                .map(String.init)
        }
        #expect(try diff("c", "one") == ["damaged,node,N:one and only,,,"])
        #expect(try diff("one", "c") == ["damaged,node,N:one and only,,,"])
        #expect(try diff("c", "c") == ["damaged,node,N:on…,,,"])
        #expect(try diff("c", "none") == ["removed,node,N:on…,,,"])
        // It may be either of them.
        #expect(
            try diff("c", "two") == [
                "damaged,node,N:on…,,,", "added,node,N:one and only,,,", "added,node,N:one more,,,",
            ])
    }

    @Test("`diff` matches a record whose name is too long for a key when one side is damaged")
    func longName() throws {
        let long = String(repeating: "x", count: 700)
        let text = CommandLineTool.longText("a text to be damaged")
        for cache in ["c", "d"] {
            try tool.succeed(
                "import", cache, "-", "--id-key", "id", "--root-type", "N", "--compression", "none",
                input:
                    #"[{"id":"\#(long)","t":"\#(text)"},"#
                    + #"{"id":"\#(long.prefix(600))"},{"id":"z"}]"#
            )
        }
        try tool.folder.damage(text, in: "c")
        for (a, b) in [("c", "d"), ("d", "c")] {
            #expect(
                try tool("diff", a, b, "--format", "csv").text
                    == "change,kind,identifier,path,a,b\ndamaged,node,N:\(long),,,\n")
        }
    }
}
#endif
