#if CommandLine
import EspalierRecords
import Foundation
import Testing

@testable import EspalierCLI

@Suite("The command `get --raw`")
struct RawTests {
    private let tool: CommandLineTool

    init() throws { tool = try CommandLineTool() }

    @Test(
        "`get --raw` prints the frame of a record as stored, and its parts decompressed",
        arguments: ["none", "3"])
    func parts(compression: String) throws {
        try tool.importPosts("--compression", compression)
        try tool.succeed("compact", "c", "--compression", compression)
        let outcome = try tool.succeed("get", "c", "Post:5", "--raw", "--format", "json")
        let json = try outcome.json()
        #expect(json["identifier"] == "Post:5" && json["problem"] == .null && json["chunks"] == [])
        let parts = try #require(json["parts"]?.elements)
        #expect(parts.map { $0["name"] } == ["flags", "shape", "children", "payload"])
        let bytes = parts.flatMap { [UInt8](hexadecimal: $0["bytes"]?.text ?? "") }
        let listed = try #require(try tool.rows("ls", "c", "--match", "Post:5").first)
        #expect(bytes.count == listed["rawBytes"]?.count && bytes[0] == 1)
        #expect(json["storedBytes"] == listed["bytes"])
        #expect(
            parts.map { $0["offset"]?.count }
                == Array(
                    parts.indices.map { index in
                        parts[..<index].reduce(0) { $0 + ($1["bytes"]?.text?.count ?? 0) / 2 }
                    }))
        let plain = Data("the text of post number 5 in English".utf8)
        #expect(Data(try #require(try tool.parts(of: "Post:5")["payload"])).range(of: plain) != nil)
        let frame = Data([UInt8](hexadecimal: json["frame"]?.text ?? ""))
        #expect(try #require(json["storedBytes"]?.count) < frame.count)
        if compression == "none" {
            #expect(json["dictionary"] == "raw" && frame.range(of: plain) != nil)
            #expect(frame.range(of: Data(bytes)) != nil)
        } else {
            #expect(Int(json["dictionary"]?.text ?? "") ?? 0 >= 2)
            #expect(frame.range(of: plain) == nil && frame.count < 8 * bytes.count)
        }
    }

    @Test("`get --raw` names the chunks of a long record with their checks, and joins their slices")
    func chunked() throws {
        try tool.importPosts()
        let json = try tool.succeed("get", "c", "Post:long", "--raw", "--format", "json").json()
        let chunks = try #require(json["chunks"]?.elements)
        #expect(chunks.count == 2 && chunks.allSatisfy { $0["isIntact"] == true })
        let stored = chunks.map { [UInt8](hexadecimal: $0["bytes"]?.text ?? "") }
        #expect(stored[0].count + stored[1].count == json["storedBytes"]?.count)
        // The version and the count in the first one, and the checks.
        #expect(
            [UInt8](hexadecimal: json["frame"]?.text ?? "")
                == Array(stored[0].dropFirst(2).dropLast(8) + stored[1].dropLast(8)))
        let payload = try #require(try tool.parts(of: "Post:long")["payload"])
        #expect(payload.count > 9_000 && json["container"] == .null)
        let table = try tool.succeed("get", "c", "Post:long", "--raw").text
        #expect(table.contains("chunk 0: of 2") && table.contains("chunk 1 check"))
    }

    @Test(
        "`get --raw` prints the frame of a damaged record and exits with 2",
        arguments: ["none", "3"])
    func damaged(compression: String) throws {
        try tool.importPosts("--compression", compression)
        try tool.succeed("compact", "c", "--compression", compression)
        let json = try tool.succeed("get", "c", "Post:5", "--raw", "--format", "json").json()
        let frame = [UInt8](hexadecimal: json["frame"]?.text ?? "")
        try tool.folder.damage(frame, in: "c")
        let outcome = try tool("get", "c", "Post:5", "--raw", "--format", "json")
        #expect(outcome.code == 2 && outcome.errors.hasPrefix("espalier: Post:5: "))
        let damaged = try outcome.json()
        #expect(damaged["problem"]?.text?.isEmpty == false && damaged["parts"] == [])
        #expect(damaged["container"] == json["container"])
        let shown = [UInt8](hexadecimal: damaged["frame"]?.text ?? "")
        #expect(shown.count == frame.count && shown != frame)
        #expect(try tool("get", "c", "Post:5", "--raw").text.contains("\n        frame: "))
    }

    @Test("`get --raw` marks a damaged chunk and prints the frame of all chunks")
    func damagedChunk() throws {
        try tool.importPosts()
        let json = try tool.succeed("get", "c", "Post:long", "--raw", "--format", "json").json()
        let last = [UInt8](hexadecimal: json["chunks"]?.elements.last?["bytes"]?.text ?? "")
        try tool.folder.damage(Array(last.dropLast(8)), in: "c")
        let outcome = try tool("get", "c", "Post:long", "--raw", "--format", "json")
        #expect(outcome.code == 2 && outcome.errors.contains("chunk 1"))
        #expect(try outcome.json()["chunks"]?.elements.map { $0["isIntact"] } == [true, false])
        let frame = try #require(try outcome.json()["frame"]?.text)
        #expect(frame.count == json["frame"]?.text?.count && frame != json["frame"]?.text)
    }

    @Test("`get --raw` fits 80 columns, and its reader may close the pipe")
    func terminalAndPipe() throws {
        try tool.importPosts()
        let table = try tool.table(["get", "c", "Post:long", "--raw"], columns: 80)
        #expect(table.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(!table.contains("…"))
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command =
            "'\(try #require(CommandLineTool.path))' get c Post:long --raw 2>errors | head -n 1 "
            + ">lines"
        shell.arguments = ["-c", command]
        shell.currentDirectoryURL = tool.folder.url
        try shell.run()
        shell.waitUntilExit()
        let file = {
            try String(contentsOf: tool.folder.url.appendingPathComponent($0), encoding: .utf8)
        }
        #expect(try file("errors") == "" && file("lines").hasPrefix("offset"))
        let csv = try tool.succeed("get", "c", "Post:5", "--raw", "--format", "csv").text.split(
            separator: "\n")
        #expect(csv[0] == "part,meaning,offset,bytes,text" && csv[1].hasPrefix("frame,"))
        #expect(csv.contains("flags,node,0000,01,."))
    }

    @Test("`get --raw` of a missing entry, or of a record without bytes, is a miss")
    func missing() throws {
        try tool.fail(1, "get", "c", "Post:1", "--raw")
        #expect(!tool.folder.contains("c"))
        try tool.importDocument(#"{"id":1}"#)
        #expect(try tool.fail(2, "get", "c", "Post:2", "--raw").errors.contains("not found"))
        try tool.fail(2, "get", "c", "--collection", "k", "--raw")
    }
}
#endif
