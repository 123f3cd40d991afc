#if CommandLine
import EspalierStore
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `stats`")
struct StatsCommandTests {
    private let tool: CommandLineTool

    init() throws {
        tool = try CommandLineTool()
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--budget", "2MiB",
            input: #"[{"id":1,"by":{"id":1}},{"id":2,"by":{"id":1}},{"id":3,"by":{"id":1}}]"#)
    }

    private func names(_ value: JSONValue?) -> Set<String> {
        guard case .object(let members)? = value else { return [] }
        return Set(members.map(\.name))
    }

    @Test("The names of statistics within groups are stable")
    func names() throws {
        let json = try tool.succeed("stats", "c", "--format", "json").json()
        let latency: Set = ["count", "p50Nanoseconds", "p99Nanoseconds", "maximumNanoseconds"]
        #expect(names(json["readLatency"]) == latency && names(json["commitLatency"]) == latency)
        #expect(
            names(json["evictions"]) == [
                "forBudget", "explicit", "groups", "detachedRecords", "runs", "cycleCollections",
                "cycleRecordsFound", "youngestAgeSeconds",
                "oldestAgeSeconds", "timeSpentNanoseconds", "longestPauseNanoseconds",
            ])
        for name in ["forBudget", "explicit"] {
            #expect(names(json["evictions"]?[name]) == ["trees", "records", "bytes"])
        }
        #expect(names(json["oldestReader"]) == ["processIdentifier", "commitsBehind"])
        #expect(json["misses"] == .object([]) && json["droppedWrites"] == .object([]))
    }

    @Test("`stats` prints groups in order")
    func groups() throws {
        let text = try tool.succeed("stats", "c").text
        let titles = [
            "contents", "\nstorage\n", "\nreads\n", "\nwrites\n", "\nevictions\n",
        ]
        let places = titles.compactMap { text.range(of: $0)?.lowerBound }
        #expect(places.count == titles.count && places == places.sorted())
    }

    @Test("Hits and misses survive the process that counted them")
    func reads() throws {
        try tool.succeed("get", "c", "Post:1")
        try tool.fail(2, "get", "c", "Post:9")
        let json = try tool.succeed("stats", "c", "--format", "json").json()
        #expect(json["hits"] == 1)
        #expect(json["misses"]?["notFound"] == 1)
        #expect(json["hitRate"] == 0.5)
    }

    @Test("`stats --by-type` lists types by records, with their share of the nodes")
    func types() throws {
        let rows = try tool.rows("stats", "c", "--by-type")
        #expect(rows.map { $0["name"]?.text } == ["Post", "by"])
        #expect(rows.map { $0["records"]?.count } == [3, 1])
        #expect(rows.map { $0["share"] } == [0.75, 0.25])
        #expect(rows.map { $0["misses"] } == [.object([]), .object([])])
    }

    @Test("`stats --by-type` counts the misses of each type by reason, and none of the tool's own")
    func missesByType() throws {
        for _ in 0..<2 { try tool.fail(2, "get", "c", "Post:9") }
        let rows = try tool.rows("stats", "c", "--by-type")
        #expect(rows.map { $0["name"]?.text } == ["Post", "by", "JSONTree"])
        #expect(rows.last?["records"]?.count == 0)
        #expect(rows.last?["misses"] == ["notFound": 2])
        #expect(try tool.succeed("stats", "c", "--by-type").text.contains("2 notFound"))
        let json = try tool.succeed("stats", "c", "--format", "json").json()
        guard case .array(let types)? = json["types"] else {
            Issue.record("no types")
            return
        }
        #expect(types.map { $0["misses"] } == rows.map { $0["misses"] })
        #expect(
            try tool.succeed("stats", "c", "--by-type", "--format", "csv").text.contains(
                "JSONTree,0,0.0,,,,,,2 notFound")
        )
    }

    @Test("`stats --watch` prints a line per interval and ends after --count")
    func watch() throws {
        let table = try tool.succeed("stats", "c", "--watch", "--interval", "0.05", "--count", "21")
            .text
        let lines = table.split(separator: "\n")
        #expect(lines.count == 23)
        #expect(lines[0].contains("hit rate") && lines[0] == lines[21])
        let json = try tool.succeed(
            "stats", "c", "--watch", "--interval", "0.05", "--count", "2", "--format", "json"
        ).text.split(separator: "\n")
        #expect(json.count == 2)
        let line = try JSONParser.parse(Array(json[1].utf8))
        #expect(
            names(line) == [
                "records", "roots", "fill", "hitRate", "hitsPerSecond", "missesPerSecond",
                "writesPerSecond",
                "evictedPerSecond", "commitP99Nanoseconds", "directoryBytes",
            ])
        #expect(line["records"] == 4)
    }

    @Test("A signal ends stats --watch with success")
    func signals() throws {
        // Sends SIGTERM, which a watch handles like SIGINT, because a shell lets its background
        // jobs ignore SIGINT. A watch that misses the signal ends far too late, with its count.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            "$0" stats c --watch --interval 0.05 --count 1200 >out & until [ -s out ]; do sleep \
            0.05; done; sleep 1; kill -s TERM $!; wait $!
            """,
            try #require(CommandLineTool.path),
        ]
        process.currentDirectoryURL = tool.folder.url
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let out = try String(
            contentsOf: tool.folder.url.appendingPathComponent("out"), encoding: .utf8)
        #expect((3..<1000).contains(out.split(separator: "\n").count))
        try tool.succeed("verify", "c")
    }

    @Test(
        "Arguments of stats that exclude each other exit with 64",
        arguments: [
            ["--interval", "1"], ["--count", "1"], ["--watch", "--by-type"],
            ["--watch", "--interval", "0"],
            ["--watch", "--interval", "-1"], ["--watch", "--interval", "nan"],
            ["--watch", "--count", "0"],
            ["--watch", "--count", "-3"], ["--watch", "--interval", "abc"],
        ])
    func wrong(arguments: [String]) throws {
        let outcome = try tool.run(["stats", "c"] + arguments)
        #expect(outcome.code == 64 && outcome.errors.count { $0 == "\n" } == 1)
    }
}

@Suite("Lines of `stats --watch`")
struct WatchLineTests {
    private func cells(_ before: CacheStatistics, _ after: CacheStatistics, seconds: Double = 2)
        throws -> [String]
    {
        WatchLine(before: before, after: after, elapsed: .seconds(seconds)).cells().map(\.shown)
    }

    @Test("Rates are per second for every interval")
    func rates() throws {
        var before = CacheStatistics()
        before.hits = 100
        before.commitLatencies.record(.seconds(1))
        var after = before
        after.nodes = 7
        after.hits = 130
        after.misses = ["notFound": 10]
        after.writes = 4
        after.evictions.forBudget.records = 6
        after.commitLatencies.record(.milliseconds(2))
        let cells = try cells(before, after)
        #expect(cells[0] == "7" && cells[3] == "75.0 %")
        #expect(cells[4...7] == ["15", "5", "2", "3"])
        #expect(cells[8].hasSuffix(" ms"))
    }

    @Test("A cache that was emptied meanwhile has no negative rates")
    func emptied() throws {
        var before = CacheStatistics()
        before.writes = 100
        var after = CacheStatistics()
        after.writes = 10
        #expect(try cells(before, after)[6] == "5")
        let idle = try cells(before, before)
        #expect(idle[3] == "" && idle[8] == "")
        #expect(try cells(before, after, seconds: 0)[6] == "0")
    }
}

@Suite("Times for people")
struct TimeCellTests {
    @Test(
        "Durations print in the largest fitting unit",
        arguments: [
            (0, "0 ns"), (999, "999 ns"), (1_000, "1.0 us"), (1_250, "1.3 us"),
            (999_940, "999.9 us"),
            (999_960, "1.0 ms"),
            (3_400_000, "3.4 ms"), (1_500_000_000, "1.5 s"), (119_000_000_000, "119.0 s"),
            (120_000_000_000, "2 min"),
            (Int.max, "106751 d"),
        ])
    func nanoseconds(count: Int, text: String) { #expect(Cell.nanoseconds(count).shown == text) }

    @Test(
        "Ages print in the largest fitting unit",
        arguments: [
            (0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"),
            (172_800, "2 d"),
        ])
    func seconds(count: Int, text: String) { #expect(Cell.seconds(count).shown == text) }
}
#endif
