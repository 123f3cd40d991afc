#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Real documents can be explored", .enabled(if: RealDocument.areAllPresent))
struct SearchRealDocumentTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try tool.succeed(
            "import", "t", RealDocument.twitter.url.path, "--id-key", "id_str", "--path",
            "statuses", "--type",
            "user=User",
            "--type", "retweeted_status=Status", "--root-type", "Status", "--collection", "search",
            note: "9 objects were left out")
        try tool.succeed(
            "import", "g", RealDocument.githubEvents.url.path, "--id-key", "id", "--root-type",
            "Event", "--collection",
            "events")
    }

    @Test(
        "`ls` lists every record once, and their sizes add up to the cache",
        arguments: [("t", 264), ("g", 111)])
    func listing(cache: String, nodes: Int) throws {
        let rows = try tool.rows("ls", cache)
        #expect(rows.count == nodes + 1)
        let bytes = rows.compactMap { $0["bytes"]?.count }.reduce(0, +)
        try tool.expectSum(bytes, in: cache)
        let ranked = try tool.rows("top", cache, "--limit", "1000")
        #expect(
            Set(ranked.compactMap { $0["identifier"]?.text })
                == Set(rows.compactMap { $0["identifier"]?.text }))
        #expect(ranked.count == nodes + 1)
    }

    @Test(
        "The lines of ls fit the terminal",
        arguments: [
            ["ls", "t"], ["top", "t"], ["refs", "t", "--collection", "search"],
            ["grep", "t", "--value", "http"],
            ["refs", "t", "Status:505874924095815681", "--depth", "3"], ["ls", "g"],
            ["grep", "g", "--field", "payload"],
        ])
    func width(arguments: [String]) throws {
        let text = try tool.table(arguments, columns: 80)
        #expect(text.split(separator: "\n").count > 1)
        #expect(text.split(separator: "\n").allSatisfy { String($0).terminalColumns <= 80 })
    }

    @Test("`refs` finds the references that `ls` counts", arguments: ["t", "g"])
    func references(cache: String) throws {
        let top = try tool.rows("top", cache, "--by", "refs", "--limit", "10")
        for row in top {
            let identifier = try #require(row["identifier"]?.text)
            let from = try tool.rows("refs", cache, identifier).filter { $0["direction"] == "from" }
            // A record counts once, however often it refers to the target; so does a segment.
            let sources = Set(from.compactMap { $0["source"]?["identifier"]?.text })
            #expect(row["references"] == .number(JSONNumber(sources.count)), "\(identifier)")
        }
    }

    @Test("`refs` finds the author of a tweet that was retweeted 58 times")
    func author() throws {
        #expect(
            try tool.succeed("refs", "t", "User:2745121514").text == """
                direction  path  record
                from       user  Status:505871615125491712

                """)
        let found = try tool.rows("grep", "t", "--value", "Status:505871615125491712")
        #expect(found.count == 58)
        #expect(found.allSatisfy { $0["path"] == "retweeted_status" })
        #expect(try tool.rows("refs", "t", "User:2745121514", "--depth", "2").count == 59)
        let deep = try tool.rows("refs", "t", "User:2745121514", "--depth", "3")
        #expect(deep.count { $0["source"]?["kind"] == "collection" } == 58)
    }

    @Test("`grep` finds Japanese text in its record and in no other")
    func text() throws {
        let found = try tool.rows("grep", "t", "--field", "user", "--value", "名前")
        #expect(found.isEmpty)
        let statuses = try #require(try JSONParser.parse(RealDocument.twitter.bytes())["statuses"])
        guard case .array(let models) = statuses else { return }
        let expected = models.filter { status in
            status["text"]?.text?.contains("名前") ?? false
        }
        let texts = try tool.rows("grep", "t", "--field", "text", "--value", "名前").map {
            $0["value"]
        }
        for status in expected { #expect(texts.contains(status["text"])) }
        #expect(!texts.isEmpty)
    }

    @Test("`refs` shows a deleted record, and `ls` and `grep` do not")
    func tombstone() throws {
        try tool.succeed("delete", "t", "User:2745121514")
        #expect(try tool.rows("ls", "t").count == 264)
        #expect(
            try tool.rows("refs", "t", "Status:505871615125491712").contains {
                $0["target"]?["kind"] == "deleted"
            })
        try tool.fail(2, "grep", "t", "--value", "User:2745121514")
        try tool.fail(2, "refs", "t", "User:2745121514")
    }
}
#endif
