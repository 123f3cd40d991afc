#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The command `verify --deep`")
struct DeepVerifyCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test("`verify --deep` reports the identifier and the path of each unreadable place")
    func damaged() throws {
        let text = CommandLineTool.longText("a text that is going to be damaged")
        // The other person makes the index keep the whole identifiers of both.
        let document =
            #"[{"id":1,"by":{"id":7,"text":"\#(text)"}},{"id":2,"by":{"id":8}}]"#
        try tool.importDocument(document, ["--collection", "posts", "--compression", "none"])
        let sound = try tool.succeed("verify", "c", "--deep", "--format", "json").json()
        #expect(sound["isClean"] == true && sound["trees"] == 5 && sound["unreadableTrees"] == 0)
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

    @Test("`verify --deep` reports every record of a damaged frame, and how its name begins")
    func damagedFrame() throws {
        let posts = (0..<40).map { #"{"id":\#($0),"text":"post \#($0) of many"}"# }
        try tool.importDocument(
            "[\(posts.joined(separator: ","))]", ["--compression", "none"])
        try tool.importDocument(
            #"{"id":"a name that stands alone","text":"post 40 of many"}"#,
            ["--compression", "none"])
        for post in [20, 40] { try tool.folder.damage("post \(post) of many", in: "c") }
        let json = try tool("verify", "c", "--deep", "--format", "json").json()
        #expect(json["trees"] == 41 && json["unreadableTrees"] == 9)
        let places = Set((json["problems"]?.elements ?? []).compactMap { $0["path"]?.text })
        #expect(places == Set((16..<24).map { "Post:\($0)" } + ["Post:a …"]))
        // All other records can be read.
        for post in [15, 24, 39] { try tool.succeed("get", "c", "Post:\(post)") }
    }

    @Test("`verify --deep` without a cache fails")
    func noCache() throws {
        try tool.fail(1, "verify", "c", "--deep")
        #expect(!tool.folder.contains("c"))
    }
}
#endif
