#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

@Suite("Damage is found and reported")
struct DamageTests {
    @Test("A damaged record fails the check and is a miss; after importing it again it is a hit")
    func damagedRecord() throws {
        let tool = try CommandLineTool()
        let document = #"{"id":1,"text":"a text to be damaged"}"#
        try tool.succeed("import", "c", "-", "--id-key", "id", input: document)
        try damage("a text to be damaged", in: tool.folder.url.appendingPathComponent("c"))

        let check = try tool("verify", "c", "--format", "json")
        #expect(check.code == 2)
        #expect(try check.json()["isClean"] == false)
        #expect(try check.json()["problems"] != [])
        #expect(check.errors.hasPrefix("espalier: c: "))
        #expect(try tool("verify", "c").text.contains("damage"))
        for _ in 0..<2 {
            #expect(try tool.fail(2, "get", "c", "root:1").errors.contains("damaged"))
        }
        // Reading the damaged record does not remove it.
        #expect(
            try tool("verify", "c", "--format", "json").json()["problems"]
                == check.json()["problems"])

        try tool.succeed("import", "c", "-", "--id-key", "id", input: document)
        #expect(
            try tool.succeed("get", "c", "root:1").json().sorted
                == #"{"id":1,"text":"a text to be damaged"}"#)
    }

    /// Changes one bit of each occurrence of `text` in the data file.
    private func damage(_ text: String, in cache: URL) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
        let file = cache.appendingPathComponent(
            try #require(names.first { $0.hasSuffix("data.mdb") }))
        var data = try Data(contentsOf: file)
        var found = 0
        var start = data.startIndex
        while let range = data.range(of: Data(text.utf8), in: start..<data.endIndex) {
            data[range.lowerBound + 3] ^= 0x01
            start = range.upperBound
            found += 1
        }
        #expect(found > 0)
        try data.write(to: file)
    }
}
#endif
