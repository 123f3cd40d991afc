#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Real documents in commands", .enabled(if: RealDocument.areAllPresent))
struct RealDocumentCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private static let twitterOptions = [
        "--id-key", "id_str", "--path", "statuses", "--type", "user=User", "--type",
        "retweeted_status=Status",
        "--root-type", "Status", "--format", "json",
    ]

    private func importTwitter(_ options: String...) throws -> CommandLineTool.Outcome {
        let outcome = try tool.run(
            ["import", "c", RealDocument.twitter.url.path] + Self.twitterOptions + options)
        #expect(outcome.code == 0)
        #expect(outcome.errors.isEmpty || outcome.errors.contains("9 objects were left out"))
        return outcome
    }

    private func statistic(_ name: String) throws -> Int? {
        try tool.succeed("stats", "c", "--format", "json").count(name)
    }

    /// The objects that repeat an object of the same status with other content: in a retweet, the
    /// mentions and the media have other positions in the text.
    private static let contradictions: Set<String> = [
        "[1].retweeted_status.entities.media[0]", "[4].retweeted_status.entities.media[0]",
        "[8].retweeted_status.entities.user_mentions[0]", "[12].entities.user_mentions[2]",
        "[12].retweeted_status.entities.media[0]",
        "[12].retweeted_status.entities.user_mentions[0]",
        "[12].retweeted_status.entities.user_mentions[1]",
        "[57].retweeted_status.entities.user_mentions[0]",
        "[98].retweeted_status.entities.media[0]",
    ]

    @Test("A search is one collection of 264 nodes, equal to the input except contradictions")
    func twitter() throws {
        let first = try importTwitter("--collection", "search")
        #expect(
            try first.json() == [
                "models": 100, "nodes": 264, "nodesWritten": 264, "nodesUnchanged": 0,
                "contradictions": 9,
            ])
        #expect(try statistic("nodes") == 264)
        let statuses = try #require(try JSONParser.parse(RealDocument.twitter.bytes())["statuses"])
        let read = try tool.succeed("get", "c", "--collection", "search").json()
        let places = JSONDifferences.paths(statuses, read).map { path in
            path.prefix(
                upTo: path.range(of: "].", options: .backwards)?.lowerBound ?? path.endIndex) + "]"
        }
        #expect(Set(places.map(String.init)) == Self.contradictions)
        try tool.succeed("verify", "c")
    }

    @Test(
        "Importing a document again, in another process, writes no record",
        arguments: [["--collection", "search"], []])
    func again(options: [String]) throws {
        let arguments =
            ["import", "c", RealDocument.twitter.url.path] + Self.twitterOptions + options
        #expect(try tool.run(arguments).count("nodesWritten") == 264)
        let written = try statistic("recordsWritten")
        #expect(try tool.run(arguments).count("nodesUnchanged") == 264)
        #expect(try statistic("recordsWritten") == written)
        try tool.succeed("verify", "c")
    }

    @Test("A changed user is changed in every tree, and a deleted one is null there")
    func user() throws {
        _ = try importTwitter("--collection", "search")
        let before = try tool.succeed("get", "c", "--collection", "search").json()
        let identifier = "User:2745121514"
        guard case .object(var members) = try tool.succeed("get", "c", identifier).json() else {
            return
        }
        members.removeAll { $0.name == "screen_name" }
        members.append(JSONMember(name: "screen_name", value: "changed"))
        try tool.succeed(
            "set", "c", "-", "--root-type", "User", "--id-key", "id_str",
            input: JSONWriter().string(from: .object(members)))

        let changed = try tool.succeed("get", "c", "--collection", "search").json()
        let places = JSONDifferences.paths(before, changed)
        #expect(places.count == 58)
        #expect(places.allSatisfy { $0.hasSuffix(".user.screen_name") })

        try tool.succeed("delete", "c", identifier)
        let deleted = try tool.succeed("get", "c", "--collection", "search").json()
        #expect(
            JSONDifferences.paths(before, deleted)
                == places.map { String($0.dropLast(".screen_name".count)) })
        #expect(deleted.sorted.contains(#""user":null"#))
        try tool.succeed("verify", "c")
    }

    @Test("Events with numbers and strings as ids are 111 nodes, equal to the input")
    func githubEvents() throws {
        let path = RealDocument.githubEvents.url.path
        let summary = try tool.succeed(
            "import", "c", path, "--id-key", "id", "--collection", "events", "--format", "json")
        #expect(try summary.count("nodes") == 111)
        #expect(try summary.count("contradictions") == 0)
        let input = try JSONParser.parse(RealDocument.githubEvents.bytes())
        #expect(
            try tool.succeed("get", "c", "--collection", "events").json().sorted == input.sorted)
        // Imports from standard input into another cache, without the collection.
        let text = String(decoding: try RealDocument.githubEvents.bytes(), as: UTF8.self)
        let piped = try tool.succeed(
            "import", "d", "-", "--id-key", "id", "--format", "json", input: text)
        #expect(try piped.count("nodesWritten") == 111)
        guard case .array(let events) = input, case .string(let id)? = events[0]["id"] else {
            return
        }
        #expect(try tool.succeed("get", "d", "root:\(id)").json().sorted == events[0].sorted)
    }
}
#endif
