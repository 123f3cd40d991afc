#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `compact` and the option `--compression`")
struct CompactCommandTests {
    private let tool: CommandLineTool
    private static let longText = CommandLineTool.longText("text")

    init() throws { tool = try CommandLineTool() }

    @Test("`compact` makes records shorter and leaves their values unchanged")
    func compacts() throws {
        // Enough for the dictionary to save more pages than it takes. With compression, the import
        // trains it already.
        try tool.importPosts("--compression", "none", count: 6_000)
        let before = try tool.export()
        let json = try tool.succeed("compact", "c", "--format", "json").json()
        #expect(try tool.export() == before)
        try tool.succeed("verify", "c", "--deep")
        #expect(json["before"]?["rawBytes"] == json["after"]?["rawBytes"])
        let (old, new) = (
            json["before"]?["recordBytes"]?.count ?? 0, json["after"]?["recordBytes"]?.count ?? 0
        )
        #expect(new < old * 3 / 4)
        #expect(json["before"]?["dictionaries"] == 0)
        #expect(try #require(json["after"]?["dictionaries"]?.count) > 0)
        #expect(
            try #require(json["after"]?["ratio"]?.real) > #require(json["before"]?["ratio"]?.real))
        #expect(
            try #require(json["after"]?["pages"]?.count)
                < #require(json["before"]?["pages"]?.count))
        #expect(json["recordsEvicted"] == 0)
        #expect(try #require(json["nanoseconds"]?.count) > 0)
        let statistics = try tool.succeed("stats", "c", "--format", "json").json()
        #expect(
            statistics["recordBytes"]?.count == new
                && statistics["rawBytes"] == json["after"]?["rawBytes"])
        #expect(try tool.succeed("compact", "c").text.contains("pages in use"))
    }

    @Test("`--compression none` stores all records raw")
    func none() throws {
        try tool.importPosts()
        let before = try tool.export()
        let json = try tool.succeed("compact", "c", "--compression", "none", "--format", "json")
            .json()
        // Containers, frames and blocks add less than a tenth.
        let stored = try #require(json["after"]?["recordBytes"]?.count)
        let raw = try #require(json["after"]?["rawBytes"]?.count)
        #expect((raw...raw * 11 / 10).contains(stored))
        #expect(try tool.export() == before)
        try tool.succeed("verify", "c")
        // Each record has a frame of its own. The cache has too little for a dictionary, whose
        // training would compress all records.
        try tool.succeed("import", "d", "-", "--id-key", "id", input: #"{"id":0}"#)
        let text = Self.longText
        try tool.succeed(
            "set", "d", "-", "--id-key", "id", "--compression", "none",
            input: #"{"id":1,"text":"\#(text)"}"#)
        // A new record is packed together with those of the last frame.
        try tool.succeed(
            "set", "d", "-", "--id-key", "id", "--root-type", "other", "--compression", "none",
            input: #"{"id":1,"text":"\#(text)"}"#)
        try tool.succeed("set", "d", "-", "--id-key", "id", input: #"{"id":2,"text":"\#(text)"}"#)
        let sizes = try tool.rows("ls", "d", "--match", "root:[12]").map {
            ($0["bytes"]?.count ?? 0, $0["rawBytes"]?.count)
        }
        #expect(sizes[0].0 * 9 / 10 <= sizes[0].1 ?? 0 && sizes[1].0 * 2 < sizes[0].0)
    }

    @Test("`compact` reports the records that a full cache evicts for raw records")
    func evicted() throws {
        let posts = (0..<6_000).map {
            #"{"id":\#($0),"text":"\#(String(repeating: "text \($0) ", count: 30))"}"#
        }
        let input = "[\(posts.joined(separator: ","))]"
        _ = try tool("import", "c", "-", "--id-key", "id", "--budget", "1MiB", input: input)
        let outcome = try tool("compact", "c", "--compression", "none", "--format", "json")
        let evicted = try #require(try outcome.count("recordsEvicted"))
        #expect(outcome.code == 0 && evicted > 0)
        #expect(outcome.errors.contains("note: \(evicted) records were evicted"))
        try tool.succeed("verify", "c", "--deep")
    }

    @Test("A higher compression level never stores longer records")
    func levels() throws {
        try tool.importPosts("--compression", "1")
        let sizes = try ["1", "12"].map {
            try tool.succeed("compact", "c", "--compression", $0, "--format", "json").json()[
                "after"]?["recordBytes"]?
                .count ?? 0
        }
        #expect(sizes[0] > 0 && sizes[1] <= sizes[0])
    }

    @Test(
        "An invalid compression level exits with 64",
        arguments: ["0", "13", "-1", "", "fast", "3.5", "+3", "NONE", "99999999999999999999"])
    func wrong(level: String) throws {
        for command in [
            ["compact", "c"], ["set", "c", "-", "--id-key", "id"],
            ["import", "c", "-", "--id-key", "id"],
        ] {
            let outcome = try tool.run(command + ["--compression=\(level)"], input: #"{"id":1}"#)
            #expect(outcome.code == 64, "\(command) \(outcome.errors)")
            #expect(outcome.output == [] && outcome.errors.count { $0 == "\n" } == 1)
        }
        #expect(!tool.folder.contains("c"))
    }

    @Test("`compact` reports a missing cache, a file in its place, and an empty cache")
    func noCache() throws {
        try tool.fail(1, "compact", "c")
        #expect(!tool.folder.contains("c"))
        try tool.folder.write("text", to: "file")
        try tool.fail(1, "compact", "file")
        try tool.fail(64, "compact")
        try tool.importDocument("[]", ["--collection", "none"])
        #expect(try tool.succeed("compact", "c", "--format", "json").json()["recordsEvicted"] == 0)
    }

    @Test("`compact` on a read-only cache fails with one line", .enabled(if: geteuid() != 0))
    func unwritable() throws {
        try tool.importPosts()
        let cache = tool.folder.url.appendingPathComponent("c")
        let files =
            [cache.path]
            + (try FileManager.default.subpathsOfDirectory(atPath: cache.path)).map {
                cache.appendingPathComponent($0).path
            }
        for file in files {
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: file)
        }
        defer {
            for file in files {
                try? FileManager.default.setAttributes(
                    [.posixPermissions: 0o700], ofItemAtPath: file)
            }
        }
        try tool.fail(1, "compact", "c")
    }

    @Test("`stats` prints bytes before compression, stored bytes and the ratio, by type and in all")
    func statistics() throws {
        try tool.importPosts()
        try tool.succeed("compact", "c")
        let rows = try tool.rows("stats", "c", "--by-type")
        #expect(rows.map { $0["name"] } == ["Post", "Person"])
        let statistics = try tool.succeed("stats", "c", "--format", "json").json()
        func sum(_ name: String) -> Int { rows.reduce(0) { $0 + ($1[name]?.count ?? 0) } }
        #expect(sum("rawBytes") == statistics["rawBytes"]?.count)
        try tool.expectSum(sum("bytes"), in: "c")
        let (raw, stored) = (
            statistics["rawBytes"]?.count ?? 0, statistics["recordBytes"]?.count ?? 1
        )
        #expect(statistics["ratio"]?.real == Double(raw) / Double(stored))
    }
}
#endif
