#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `dictionaries`")
struct DictionariesCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func list() throws -> JSONValue {
        try tool("dictionaries", "c", "--format", "json").json()
    }

    @Test("Records of a cache without dictionaries are raw or compressed alone")
    func none() throws {
        // Each record has a frame of its own.
        try tool.importDocument(
            #"[{"id":1},{"id":2,"text":"\#(CommandLineTool.longText("text"))"}]"#)
        let json = try list()
        #expect(json["dictionaries"] == [] && json["bytes"] == 0)
        #expect(json["raw"]?["records"] == 1 && json["withoutDictionary"]?["records"] == 1)
        #expect(try #require(json["withoutDictionary"]?["ratio"]?.real) > 2)
        // One fiftieth of 50 MiB.
        #expect(json["allowance"] == 1_048_576)
        #expect(try tool.succeed("dictionaries", "c").text.contains("1.0 MiB at most"))
    }

    @Test("After training each record is in one row, and the rows add up to the cache")
    func sums() throws {
        try tool.importPosts()
        try tool.succeed("compact", "c")
        let json = try list()
        let dictionaries = try #require(json["dictionaries"]?.elements)
        #expect(!dictionaries.isEmpty && dictionaries.allSatisfy { $0["problem"] == .null })
        #expect(dictionaries.contains { $0["isCurrent"] == true })
        let statistics = try tool.succeed("stats", "c", "--format", "json").json()
        let rows = dictionaries + ["raw", "withoutDictionary"].compactMap { json[$0] }
        func sum(_ name: String) -> Int { rows.reduce(0) { $0 + ($1[name]?.count ?? 0) } }
        #expect(sum("rawBytes") == statistics["rawBytes"]?.count)
        // The directories of the containers are in no row.
        let stored = try #require(statistics["recordBytes"]?.count)
        #expect((stored * 9 / 10...stored).contains(sum("recordBytes")))
        let records = ["nodes", "keys", "collections", "segments"].reduce(0) {
            $0 + (statistics[$1]?.count ?? 0)
        }
        #expect(rows.reduce(0) { $0 + ($1["records"]?.count ?? 0) } == records)
        let used = try #require(
            dictionaries.max { ($0["records"]?.count ?? 0) < ($1["records"]?.count ?? 0) })
        #expect(try #require(used["ratio"]?.real) > 1.3)
        #expect(json["bytes"]?.count == dictionaries.reduce(0) { $0 + ($1["bytes"]?.count ?? 0) })
    }

    @Test("`dictionaries` prints none of the contents of a dictionary")
    func content() throws {
        try tool.importPosts()
        try tool.succeed("compact", "c")
        for format in ["table", "json", "csv"] {
            let text = try tool.succeed("dictionaries", "c", "--format", format).text
            #expect(!text.contains("the text of post") && !text.contains("English"))
        }
    }

    @Test("A damaged dictionary is marked, its records count as unreadable, and the exit code is 2")
    func damaged() throws {
        try tool.importPosts()
        try tool.succeed("compact", "c")
        let records = try list()["dictionaries"]?.elements.first?["records"]
        try tool.folder.damageDictionaries(in: "c")
        let outcome = try tool("dictionaries", "c", "--format", "json")
        #expect(outcome.code == 2 && outcome.errors.contains("damaged"))
        let dictionary = try #require(try outcome.json()["dictionaries"]?.elements.first)
        #expect(dictionary["problem"]?.text?.isEmpty == false)
        #expect(dictionary["records"] == records && dictionary["unreadable"] == records)
        #expect(dictionary["ratio"] == .null)
        #expect(try tool("dictionaries", "c").text.contains("cannot be read"))
        let explanation = try tool("get", "c", "Post:5", "--explain", "--format", "json")
        #expect(explanation.code == 2)
        let record = try #require(try explanation.json()["record"])
        #expect(record["problem"]?.text?.hasPrefix("dictionary ") == true)
        let numbers = try #require(try outcome.json()["dictionaries"]?.elements).map {
            "\($0["number"]?.count ?? 0)"
        }
        #expect(record["kind"] == "damaged")
        #expect(numbers.contains(record["dictionary"]?.text ?? ""))
        #expect(record["rawBytes"] == .null)
    }

    @Test("`dictionaries` without a cache or an argument fails")
    func noCache() throws {
        try tool.fail(1, "dictionaries", "c")
        try tool.fail(64, "dictionaries")
        #expect(!tool.folder.contains("c"))
    }
}
#endif
