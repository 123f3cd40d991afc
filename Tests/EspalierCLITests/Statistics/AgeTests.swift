#if CommandLine
import EspalierModels
import EspalierRecords
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Ages in `ls`, `get --explain` and `stats`")
struct AgeTests {
    private struct Offer: Codable, NormalizedModel {
        static var maxAge: Duration? { .hours(1) }
        var id: Int
        var modelIdentifier: String? { "Offer:\(id)" }
    }

    private struct User: Codable, NormalizedModel {
        var id: Int
        var modelIdentifier: String? { "User:\(id)" }
    }

    /// The owner of a clock that is behind, so that a test need not wait until a record expires.
    private final class LateClock: Sendable {}

    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try write(Offer(id: 1), secondsAgo: 5_400)
        try write(Offer(id: 2), secondsAgo: 1_200)
        try write(User(id: 1), secondsAgo: 900)
    }

    private func write(_ model: some NormalizedModel, secondsAgo: Double) throws {
        var configuration = Configuration()
        configuration.clock = WallClock(of: LateClock()) { _ in Date() - secondsAgo }
        let cache = try NormalizedCache(
            directory: tool.folder.url.path + "/c", configuration: configuration)
        defer { cache.close() }
        try cache.set(model).wait()
    }

    /// What is left of an hour after 20 minutes. Seconds pass between the write and the command.
    private static var soon: Regex<(Substring, Substring)> { /in (39|40) min/ }

    private static func isAbout(_ value: JSONValue?, _ seconds: Int) -> Bool {
        value?.count.map { abs($0 - seconds) <= 60 } ?? false
    }

    @Test("`ls` says how long ago records were written, and when they expire")
    func listing() throws {
        let rows = try tool.rows("ls", "c")
        #expect(rows.map { $0["identifier"]?.text } == ["Offer:1", "Offer:2", "User:1"])
        #expect(Self.isAbout(rows[0]["writtenSeconds"], 5_400))
        #expect(Self.isAbout(rows[1]["writtenSeconds"], 1_200))
        #expect(Self.isAbout(rows[2]["writtenSeconds"], 900))
        #expect(Self.isAbout(rows[0]["expiresInSeconds"], -1_800))
        #expect(Self.isAbout(rows[1]["expiresInSeconds"], 2_400))
        #expect(rows[2]["expiresInSeconds"] == .null)
        let lines = try tool.succeed("ls", "c").text.split(separator: "\n")
        #expect(lines[1].contains("expired") && lines[2].contains(Self.soon))
    }

    @Test("`get --explain` says when a record expires")
    func explanation() throws {
        #expect(try tool.succeed("get", "c", "Offer:1", "--explain").text.contains("expired"))
        #expect(try tool.succeed("get", "c", "Offer:2", "--explain").text.contains(Self.soon))
    }

    @Test("`get` prints what has expired, and says so")
    func expired() throws {
        // From then on, all records may have an age.
        var configuration = Configuration()
        configuration.clock = WallClock(of: LateClock()) { _ in Date() - 100 }
        let cache = try NormalizedCache(
            directory: tool.folder.url.path + "/c", configuration: configuration)
        try cache.set(User(id: 2), maxAge: .seconds(1)).wait()
        try cache.setModel(User(id: 3), forKey: "me", maxAge: .seconds(1)).wait()
        try cache.setCollection([User(id: 2)], forKey: "all", maxAge: .seconds(1)).wait()
        cache.close()
        for entry in [["User:2"], ["--key", "me"], ["--collection", "all"]] {
            let outcome = try tool.run(["get", "c"] + entry)
            #expect(outcome.code == 0 && outcome.text.contains("\"id\""))
            #expect(outcome.errors.contains("a record has expired"))
        }
        let fresh = try tool.succeed("get", "c", "User:1")
        #expect(!fresh.errors.contains("expired"))
    }

    @Test("In CSV, times are numbers of seconds")
    func csv() throws {
        let lines = try tool.succeed("ls", "c", "--format", "csv").text.split(separator: "\n")
        let column = try #require(
            lines[0].split(separator: ",").firstIndex(of: "expiresInSeconds"))
        let cells = lines[1...].map {
            $0.split(separator: ",", omittingEmptySubsequences: false)[column]
        }
        #expect(cells.map { Int($0) == nil } == [false, false, true] && cells[2].isEmpty)
    }

    @Test("`stats --by-type` has the age of the oldest record and how many have expired")
    func types() throws {
        let rows = try tool.rows("stats", "c", "--by-type")
        #expect(rows.map { $0["name"]?.text } == ["Offer", "User"])
        #expect(rows.map { $0["expired"]?.count } == [1, 0])
        #expect(Self.isAbout(rows[0]["oldestSeconds"], 5_400))
        #expect(Self.isAbout(rows[1]["oldestSeconds"], 900))
    }
}
#endif
