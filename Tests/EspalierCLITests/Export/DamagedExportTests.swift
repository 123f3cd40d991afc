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
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k",
            input:
                #"[{"id":1,"a":{"id":2,"text":"a text to be damaged"}},{"id":3,"a":{"id":2}},"#
                + #"{"n":"an element to be damaged"}]"#
        )
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "l", input: #"[{"id":1}]"#)
        try tool.folder.damage("a text to be damaged", in: "c")
        try tool.folder.damage("an element to be damaged", in: "c")
        let export = try tool("export", "c")
        #expect(export.code == 2)
        // A collection whose elements are damaged is one record, not two.
        #expect(
            export.errors
                == "espalier: c: 2 records are damaged and left out; espalier verify describes "
                + "the damage\n"
        )
        #expect(
            export.text == """
                {"kind":"node","identifier":"root:1","types":["root"],"fields":{"id":1}}
                {"kind":"node","identifier":"root:3","types":["root"],"fields":{"a":{"$lost":1},\
                "id":3}}
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
    @Test("`diff` matches a record whose name is too long for a key when one side is damaged")
    func longName() throws {
        let long = String(repeating: "x", count: 700)
        for cache in ["c", "d"] {
            try tool.succeed(
                "import", cache, "-", "--id-key", "id", "--root-type", "N",
                input:
                    #"[{"id":"\#(long)","t":"a text to be damaged"},"#
                    + #"{"id":"\#(long.prefix(600))"},{"id":"z"}]"#
            )
        }
        try tool.folder.damage("a text to be damaged", in: "c")
        for (a, b) in [("c", "d"), ("d", "c")] {
            #expect(
                try tool("diff", a, b, "--format", "csv").text
                    == "change,kind,identifier,path,a,b\ndamaged,node,N:\(long),,,\n")
        }
    }
}
#endif
