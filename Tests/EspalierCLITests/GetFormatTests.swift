#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("Formats of `get`")
struct GetFormatTests {
    @Test("`get` prints a row per value, with paths quoted where names need it")
    func rows() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--collection", "k",
            input:
                #"[{"id":1,"user":{"id":2,"name":"Ada"},"entities":{"media":[{"url":"x,y"},"#
                + #"{"a.b":null}],"none":[]},"d":1.0},7]"#
        )
        #expect(
            try tool.succeed("get", "c", "root:1", "--format", "csv").text == """
                path,value
                d,1.0
                entities.media[0].url,"x,y"
                "entities.media[1][""a.b""]",null
                entities.none,[]
                id,1
                user.id,2
                user.name,Ada

                """)
        #expect(
            try tool.succeed("get", "c", "--collection", "k", "--format", "csv").text.hasSuffix(
                "\n[0].user.name,Ada\n[1],7\n"))
        #expect(
            try tool.succeed("get", "c", "user:2", "--format", "table").text
                == "path  value\nid    2\nname  Ada\n")
        #expect(
            try tool.succeed("get", "c", "user:2", "--format", "json").text
                == tool.succeed("get", "c", "user:2").text)
        #expect(try tool("get", "c", "user:2", "--format", "csv", "--compact").code == 64)
    }
}
#endif
