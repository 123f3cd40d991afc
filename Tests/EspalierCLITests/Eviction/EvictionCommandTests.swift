#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The commands `evict`, `pin`, `unpin`, `collect-cycles` and `budget`")
struct EvictionCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    /// Stores some hundred kilobytes in separate roots, and a collection.
    private func fill(budget: String = "4MiB") throws {
        let posts = (0..<600).map {
            #"{"id":\#($0),"text":"\#(String(repeating: "t", count: 400))","by":{"id":\#($0 % 7)}}"#
        }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--budget", budget,
            "--compression", "none",
            input: "[\(posts.joined(separator: ","))]")
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Item", "--collection", "items",
            input: #"[{"id":1},{"id":2},{"id":3}]"#)
    }

    private func statistics(_ name: String) throws -> Int {
        try #require(try tool.succeed("stats", "c", "--format", "json").count(name))
    }

    @Test("`evict --to` prints the victims, and evicts them with `--yes`, oldest first")
    func evictTo() throws {
        try fill()
        try tool.succeed("get", "c", "Post:0")
        let nodes = try statistics("nodes")
        let json = try tool.succeed("evict", "c", "--to", "200KB", "--format", "json")
        let forecast = try json.json()
        #expect(try statistics("nodes") == nodes)
        #expect(forecast["isReached"] == true)
        #expect(forecast["oldest"]?["identifier"] == "Post:1")
        #expect(forecast["oldest"]?["ageSeconds"]?.count != nil)
        let table = try tool.succeed("evict", "c", "--to", "200KB").text
        #expect(table.hasSuffix("nothing was evicted; --yes evicts\n"))
        let done = try tool.succeed("evict", "c", "--to", "200KB", "--yes", "--format", "json")
        let records = try #require(try done.count("records"))
        #expect(records > 100)
        #expect(try statistics("nodes") == nodes - records)
        #expect(try #require(try done.count("bytesLeft")) <= 200_000)
        let foreseen = try #require(try json.count("records"))
        // In a cache this small, the pages of LMDB's own lists are some percent.
        #expect(abs(records - foreseen) * 5 <= records)
        try tool.succeed("get", "c", "Post:0")
        try tool.fail(2, "get", "c", "Post:1")
        try tool.succeed("verify", "c")
        #expect(
            try tool.succeed("evict", "c", "--to", "50MiB", "--yes", "--format", "json").count(
                "records") == 0)
    }

    @Test("`evict` removes named records only, and refuses a record that others refer to")
    func evictNamed() throws {
        try fill()
        let done = try tool.succeed(
            "evict", "c", "Post:3", "Post:4", "--collection", "items", "--format", "json")
        #expect(try done.count("records") == 4)
        #expect(try done.count("collections") == 1)
        try tool.fail(2, "get", "c", "Post:3")
        try tool.fail(2, "get", "c", "--collection", "items")
        try tool.succeed("get", "c", "Item:2")
        #expect(try tool.fail(1, "evict", "c", "by:3").errors.hasPrefix("espalier: by:3: "))
        try tool.fail(2, "evict", "c", "Post:5", "Post:3")
        try tool.succeed("get", "c", "Post:5")
        try tool.succeed("import", "c", "-", "--id-key", "id", "--collection", "more", input: "[]")
        #expect(try tool.fail(2, "evict", "c", "more").errors.contains("--collection"))
        try tool.succeed("verify", "c")
    }

    @Test("Pinned records are listed, marked, and never evicted until they are unpinned")
    func pins() throws {
        try fill()
        #expect(try tool.succeed("pin", "c", "Post:7").text == "")
        try tool.succeed("pin", "c", "--collection", "items")
        #expect(try tool.rows("pin", "c").map { $0["identifier"]?.text } == ["Post:7", "items"])
        let marked = try tool.rows("ls", "c").filter { $0["pinned"] == true }.map {
            $0["identifier"]?.text
        }
        #expect(marked == ["Post:7", "items"])
        #expect(try tool.rows("top", "c", "--by", "age", "--limit", "1000").count == 599)
        let outcome = try tool("evict", "c", "--to", "1B", "--yes", "--format", "json")
        #expect(outcome.code == 1 && outcome.errors.contains("espalier pin"))
        #expect(try outcome.count("records") == 599 + 6)
        #expect(try statistics("nodes") == 5)
        try tool.fail(1, "evict", "c", "Post:7")
        try tool.succeed("unpin", "c", "Post:7")
        try tool.fail(2, "unpin", "c", "Post:7")
        try tool.succeed("evict", "c", "Post:7")
        try tool.fail(2, "pin", "c", "Post:7")
        #expect(try tool.fail(2, "pin", "c", "items").errors.contains("--collection"))
        #expect(try statistics("pins") == 1)
        try tool.succeed("verify", "c")
    }

    @Test("`budget` prints, raises and lowers the budget")
    func budget() throws {
        try fill()
        #expect(try tool.succeed("budget", "c", "--format", "json").count("budget") == 4 << 20)
        #expect(
            try tool.succeed("budget", "c", "8MB", "--format", "json").count("budget") == 8_000_000)
        #expect(
            try tool.succeed("budget", "c", "8MiB", "--format", "json").count("budget") == 8 << 20)
        let nodes = try statistics("nodes")
        try tool.succeed("budget", "c", "2MiB", "--exceed")
        #expect(try statistics("nodes") == nodes)
        #expect(try statistics("budget") == 2 << 20)
        let small = try tool.succeed("budget", "c", "1MiB", "--format", "json")
        #expect(try #require(try small.count("directoryBytes")) <= 1 << 20)
        try tool.succeed("get", "c", "--collection", "items")
        try tool.succeed("verify", "c")
    }

    @Test("`collect-cycles` changes nothing in a cache without unknown cycles")
    func collectCycles() throws {
        try fill()
        let found = try tool.succeed("collect-cycles", "c", "--format", "json")
        #expect(try found.count("cycleRecordsFound") == 0)
        #expect(try found.count("records") == 600 + 7 + 3 + 2)
        try tool.succeed("verify", "c")
    }

    @Test("An import that does not fit is refused and never leaves nodes without members")
    func tooMuch() throws {
        let posts = (0..<3_000).map {
            #"{"id":\#($0),"text":"\#(String(repeating: "t", count: 400))"}"#
        }
        let input = "[\(posts.joined(separator: ","))]"
        let outcome = try tool(
            "import", "c", "-", "--id-key", "id", "--budget", "1MiB", "--compression", "none",
            input: input)
        #expect(outcome.code == 0 && outcome.errors.contains("were evicted to make room"))
        let collection = try tool.fail(
            1, "import", "d", "-", "--id-key", "id", "--budget", "1MiB", "--collection", "k",
            "--compression", "none", input: input)
        #expect(collection.errors.contains("do not fit in the budget"))
        try tool.fail(2, "get", "d", "--collection", "k")
        for cache in ["c", "d"] {
            #expect(try tool.rows("ls", cache).allSatisfy { ($0["rawBytes"]?.count ?? 0) > 400 })
            try tool.succeed("verify", cache)
        }
    }

    @Test(
        "Invalid sizes and arguments that exclude each other exit with 64",
        arguments: [
            ["evict", "c", "--to", "0"], ["evict", "c", "--to", "-5"],
            ["evict", "c", "--to", "abc"],
            ["evict", "c", "--to", "5M"], ["evict", "c", "--to", ""], ["evict", "c"],
            ["evict", "c", "--yes"],
            ["evict", "c", "a", "--to", "1MiB"], ["evict", "c", "a", "--yes"], ["evict", "c", ""],
            ["budget", "c", "0"], ["budget", "c", "-5"], ["budget", "c", "abc"],
            ["budget", "c", "1"],
            ["budget", "c", "100GiB"], ["budget", "c", "1000KB"], ["budget", "c", "--exceed"],
            ["unpin", "c"],
            ["pin", "c", ""], ["pin", "c", "a", "--collection", "b"], ["collect-cycles"],
            ["budget"],
        ])
    func wrong(arguments: [String]) throws {
        let outcome = try tool.run(arguments)
        #expect(outcome.code == 64, "\(outcome.errors)")
        #expect(outcome.output == [] && outcome.errors.count { $0 == "\n" } == 1)
        #expect(!tool.folder.contains("c"))
    }

    @Test(
        "Commands about eviction never create a cache",
        arguments: [
            ["evict", "c", "--to", "1MiB"], ["evict", "c", "a"], ["pin", "c", "a"], ["pin", "c"],
            ["unpin", "c", "a"],
            ["collect-cycles", "c"], ["budget", "c"], ["budget", "c", "2MiB"],
        ])
    func noCache(arguments: [String]) throws {
        #expect(try tool.run(arguments).code == 1)
        #expect(!tool.folder.contains("c"))
    }
}
#endif
