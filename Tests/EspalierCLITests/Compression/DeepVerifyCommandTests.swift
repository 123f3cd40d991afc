#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The command `verify --deep`")
struct DeepVerifyCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test("`verify --deep` reports the identifier and the path of each unreadable place")
    func damaged() throws {
        let text = "a text that is going to be damaged"
        let document = #"[{"id":1,"by":{"id":7,"text":"\#(text)"}},{"id":2}]"#
        try tool.importDocument(document, ["--collection", "posts", "--compression", "none"])
        let sound = try tool.succeed("verify", "c", "--deep", "--format", "json").json()
        #expect(sound["isClean"] == true && sound["trees"] == 4 && sound["unreadableTrees"] == 0)
        try tool.folder.damage(text, in: "c")
        let outcome = try tool("verify", "c", "--deep", "--format", "json")
        #expect(outcome.code == 2)
        let json = try outcome.json()
        // The person, the post and the collection; not the other post.
        #expect(json["isClean"] == false && json["unreadableTrees"] == 3)
        let places = (json["problems"]?.elements ?? []).compactMap { $0["path"]?.text }
        #expect(Set(places) == ["Post:1.by", "Person:7"])
        #expect(json["problems"]?.elements.contains { $0["identifier"] == "Post:1" } == true)
        #expect(try tool("verify", "c", "--deep").text.contains("Post:1.by: "))
        let shallow = try tool("verify", "c", "--format", "json")
        #expect(
            shallow.code == 2 && !shallow.text.contains("Post:1") && !shallow.text.contains("trees")
        )
    }

    @Test("`verify --deep` without a cache fails")
    func noCache() throws {
        try tool.fail(1, "verify", "c", "--deep")
        #expect(!tool.folder.contains("c"))
    }
}
#endif
