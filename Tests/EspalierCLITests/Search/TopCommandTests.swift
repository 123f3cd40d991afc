#if CommandLine
import Testing

@testable import EspalierCLI

@Suite("The command `top`")
struct TopCommandTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    private func rows(_ arguments: String...) throws -> [(
        name: String, bytes: Int, references: Int, age: Int?
    )] {
        guard
            case .array(let rows) = try tool.run(["top", "c", "--format", "json"] + arguments)
                .json()
        else {
            return []
        }
        return rows.map { row in
            (
                row["identifier"]?.text ?? "", row["bytes"]?.count ?? -1,
                row["references"]?.count ?? -1,
                row["age"]?.count
            )
        }
    }

    private func fill() throws {
        let elements = (0..<1_200).map {
            #"{"id":\#($0),"text":"\#(String(repeating: "t", count: $0 % 50))","#
                + #""by":{"id":\#($0 % 7)}}"#
        }
        try tool.succeed(
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--collection", "posts",
            "--compression", "none",
            input: "[\(elements.joined(separator: ","))]")
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "Long", "--compression", "none",
            input: #"{"id":1,"text":"\#(String(repeating: "t", count: 5_000))"}"#)
        for number in 1...3 {
            try tool.succeed(
                "set", "c", "-", "--id-key", "id", "--root-type", "Root",
                input: #"{"id":\#(number)}"#)
        }
    }

    @Test("`top --by size` counts segments and chunks, and lists twenty records by default")
    func size() throws {
        try fill()
        let rows = try rows()
        #expect(rows.count == 20)
        #expect(rows[0].name == "Long:1" || rows[0].name == "posts")
        #expect(Set(rows.prefix(2).map(\.name)) == ["Long:1", "posts"])
        #expect(rows.map(\.bytes) == rows.map(\.bytes).sorted(by: >))
        #expect(rows.prefix(2).allSatisfy { $0.bytes > 1_200 })
        let all = try self.rows("--by", "size", "--limit", "100000")
        #expect(all.count == 1_200 + 7 + 1 + 1 + 3)
        try tool.expectSum(all.map(\.bytes).reduce(0, +), in: "c")
        #expect(all.prefix(20).map(\.name) == rows.map(\.name))
    }

    @Test("`top --by refs` omits records without references")
    func references() throws {
        try fill()
        let rows = try rows("--by", "refs", "--limit", "8")
        #expect(Set(rows.prefix(7).map(\.name)) == Set((0..<7).map { "by:\($0)" }))
        #expect(rows[0].references == 172 && rows[7].references == 1)
        #expect(rows.map(\.references) == rows.map(\.references).sorted(by: >))
        #expect(try self.rows("--by", "refs", "--limit", "5000").count == 1_207)
    }

    @Test("`top --by age` begins with the next victim and prints the commits since its last access")
    func age() throws {
        try fill()
        #expect(
            try rows("--by", "age").map(\.name) == [
                "posts", "Long:1", "Root:1", "Root:2", "Root:3",
            ])
        #expect(try rows("--by", "age").last?.age == 0)
        try tool.succeed("get", "c", "Root:1")
        try tool.succeed(
            "set", "c", "-", "--id-key", "id", "--root-type", "Long", input: #"{"id":1,"text":""}"#)
        let rows = try rows("--by", "age")
        #expect(rows.map(\.name).last == "Long:1")
        let ages = rows.compactMap(\.age)
        #expect(ages.count == 5 && ages == ages.sorted(by: >))
        #expect(
            try self.rows("--by", "age", "--limit", "2").map(\.name)
                == Array(rows.prefix(2).map(\.name)))
    }

    @Test("`top` counts the bytes of a damaged record")
    func damaged() throws {
        try fill()
        try tool.folder.damage(String(repeating: "t", count: 3_000), in: "c")
        let text = try tool.succeed("top", "c", "--limit", "2").text
        #expect(text.contains("  damaged "))
    }
}
#endif
