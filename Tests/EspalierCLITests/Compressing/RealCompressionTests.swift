import Foundation
import Testing

@testable import EspalierCLI

@Suite("Real documents, compressed", .enabled(if: RealDocument.areAllPresent))
struct RealCompressionTests {
    @Test("a page of Twitter's search takes less than half, and every record can be explained and dumped")
    func twitter() throws {
        let tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", RealDocument.twitter.url.path, "--id-key", "id_str", "--path", "statuses", "--type",
            "user=User", "--type", "retweeted_status=Status", "--root-type", "Status", "--collection", "search")
        let before = try tool.export()
        let json = try tool.succeed("compact", "c", "--format", "json").json()
        #expect(try #require(json["after"]?["ratio"]?.real) > 2.5)
        #expect(try tool.export() == before)
        let report = try tool.succeed("verify", "c", "--deep", "--format", "json").json()
        #expect(report["unreadableTrees"] == 0 && report["trees"] == 265)
        #expect(try #require(report["values"]?.count) > 5_000)
        for row in try tool.rows("ls", "c", "--limit", "12") {
            let name = try #require(row["identifier"]?.text)
            let explained = try tool.succeed("get", "c", name, "--explain", "--format", "json").json()
            #expect(explained["outcome"] == "hit" && explained["record"]?["storedBytes"] == row["bytes"])
            let parts = try tool.parts(of: name)
            #expect(parts.values.reduce(0) { $0 + $1.count } == row["bytes"]?.count)
        }
    }
}
