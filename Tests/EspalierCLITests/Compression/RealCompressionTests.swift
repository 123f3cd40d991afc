#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Real documents, compressed", .enabled(if: RealDocument.areAllPresent))
struct RealCompressionTests {
    @Test("A page of Twitter's search takes less than half, and every record can be explained")
    func twitter() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", RealDocument.twitter.url.path, "--id-key", "id_str", "--path",
            "statuses", "--type",
            "user=User", "--type", "retweeted_status=Status", "--root-type", "Status",
            "--collection", "search", note: "9 objects were left out")
        let before = try tool.export()
        let json = try tool.succeed("compact", "c", "--format", "json").json()
        #expect(try #require(json["after"]?["ratio"]?.real) > 2.5)
        #expect(try tool.export() == before)
        let report = try tool.succeed("verify", "c", "--deep", "--format", "json").json()
        #expect(report["unreadableTrees"] == 0 && report["trees"] == 265)
        #expect(try #require(report["values"]?.count) > 5_000)
        for row in try tool.rows("ls", "c", "--limit", "12") {
            let name = try #require(row["identifier"]?.text)
            let explained = try tool.succeed("get", "c", name, "--explain", "--format", "json")
                .json()
            #expect(
                explained["outcome"] == "hit" && explained["record"]?["storedBytes"] == row["bytes"]
            )
            let parts = try tool.parts(of: name)
            #expect(parts.values.reduce(0) { $0 + $1.count } == row["rawBytes"]?.count)
        }
    }

    @Test("Statuses with text of their own take at most a third of their minified JSON")
    func statuses() throws {
        let tool = try CommandLineTool()
        guard
            case .array(let real)? = try JSONParser.parse(RealDocument.twitter.bytes())["statuses"]
        else {
            Issue.record("no statuses")
            return
        }
        var variation = VariedStatuses(seed: 1)
        let statuses = (0..<6).flatMap { _ in variation.vary(real) }
        let text = JSONWriter().string(
            from: .object([JSONMember(name: "statuses", value: .array(statuses))]))
        let file = try tool.folder.write(text, to: "statuses.json")
        for options in [
            ["--type", "user=User", "--type", "retweeted_status=Status", "--root-type", "Status"],
            [],
        ] {
            let name = "c\(options.count)"
            let imported = try tool.run(
                [
                    "import", name, file.path, "--id-key", "id_str", "--path", "statuses",
                    "--collection", "s",
                ] + options)
            #expect(imported.code == 0)
            let json = try tool.succeed("compact", name, "--format", "json").json()
            #expect(try #require(json["after"]?["recordBytes"]?.count) * 3 <= text.utf8.count)
            try tool.succeed("verify", name, "--deep")
        }
    }
}
#endif
