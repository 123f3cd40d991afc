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
        "`get --raw` prints the parts of a record, with the payload stored and decompressed",
        arguments: ["none", "3"])
    func parts(compression: String) throws {
        try tool.importPosts("--compression", compression)
        try tool.succeed("compact", "c", "--compression", compression)
        let outcome = try tool.succeed("get", "c", "Post:5", "--raw", "--format", "json")
        let json = try outcome.json()
        #expect(json["identifier"] == "Post:5" && json["problem"] == .null && json["chunks"] == [])
        let parts = try #require(json["parts"]?.elements)
        #expect(
            parts.map { $0["name"] } == [
                "version", "flags", "shape", "dictionary", "children", "payload", "check",
            ])
        let bytes = parts.flatMap { [UInt8](hexadecimal: $0["bytes"]?.text ?? "") }
        #expect(bytes.count == json["storedBytes"]?.count)
        #expect(
            parts.map { $0["offset"]?.count }
                == Array(
                    parts.indices.map { index in
                        parts[..<index].reduce(0) { $0 + ($1["bytes"]?.text?.count ?? 0) / 2 }
                    }))
        #expect(bytes.prefix(2) == [1, 1])
        let payload = try #require(try tool.parts(of: "Post:5")["payload"])
        let plain = Data("the text of post number 5 in English".utf8)
        if compression == "none" {
            #expect(json["decompressed"] == .null && Data(payload).range(of: plain) != nil)
        } else {
            let decompressed = [UInt8](hexadecimal: json["decompressed"]?.text ?? "")
            #expect(
                Data(decompressed).range(of: plain) != nil && decompressed.count > payload.count)
        }
    }

    @Test("`get --raw` names the chunks of a long record with their checks, and joins their slices")
    func chunked() throws {
        try tool.importPosts()
        let json = try tool.succeed("get", "c", "Post:long", "--raw", "--format", "json").json()
        let chunks = try #require(json["chunks"]?.elements)
        #expect(chunks.count == 2 && chunks.allSatisfy { $0["isIntact"] == true })
        #expect(
            chunks.reduce(0) { $0 + ($1["bytes"]?.text?.count ?? 0) / 2 }
                == json["storedBytes"]?.count)
        #expect(try tool.parts(of: "Post:long")["check"]?.count == 8)
        let table = try tool.succeed("get", "c", "Post:long", "--raw").text
        #expect(table.contains("chunk 0: of 2") && table.contains("chunk 1 check"))
    }

    @Test(
        "`get --raw` prints a damaged record as far as possible and exits with 2",
        arguments: ["none", "3"])
    func damaged(compression: String) throws {
        try tool.importPosts("--compression", compression)
        try tool.succeed("compact", "c", "--compression", compression)
        let payload = try #require(try tool.parts(of: "Post:5")["payload"])
        try tool.folder.damage(payload, in: "c")
        let outcome = try tool("get", "c", "Post:5", "--raw", "--format", "json")
        #expect(outcome.code == 2 && outcome.errors.hasPrefix("espalier: Post:5: "))
        let json = try outcome.json()
        #expect(json["problem"]?.text?.isEmpty == false)
        let shown = try #require(try tool.parts(of: "Post:5")["payload"])
        #expect(shown.count == payload.count && shown != payload)
        #expect(
            try tool("get", "c", "Post:5", "--raw").text.contains("payload: \(payload.count) bytes")
        )
    }

    @Test("`get --raw` marks a damaged chunk and prints the chunks after it")
    func damagedChunk() throws {
        try tool.importPosts()
        let json = try tool.succeed("get", "c", "Post:long", "--raw", "--format", "json").json()
        let last = [UInt8](hexadecimal: json["chunks"]?.elements.last?["bytes"]?.text ?? "")
        try tool.folder.damage(Array(last.dropLast(8)), in: "c")
        let outcome = try tool("get", "c", "Post:long", "--raw", "--format", "json")
        #expect(outcome.code == 2 && outcome.errors.contains("chunk 1"))
        #expect(try outcome.json()["chunks"]?.elements.map { $0["isIntact"] } == [true, false])
        #expect(try outcome.json()["parts"]?.elements.isEmpty == false)
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
        #expect(
            csv[0] == "part,meaning,offset,bytes,text" && csv[1].hasPrefix("version,1,0000,01,"))
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
