#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

// Helpers of the tests of compressed records.

extension CommandLineTool {
    /// Stores posts by seven people in `c`, enough to train dictionaries, and a post of 9,000
    /// characters that compresses by less than half.
    func importPosts(_ options: String..., count: Int = 900) throws {
        let posts = (0..<count).map {
            #"{"id":\#($0),"kind":"status","text":"the text of post number \#($0) in English","#
                + #""by":{"id":\#($0 % 7),"name":"person \#($0 % 7)"}}"#
        }
        try importDocument("[\(posts.joined(separator: ","))]", options)
        var random = SystemRandomNumberGenerator()
        let text = String(
            (0..<9_000).map { _ in
                "abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &random)!
            })
        try importDocument(#"{"id":"long","text":"\#(text)"}"#, options)
    }

    func importDocument(_ document: String, _ options: [String] = []) throws {
        let arguments = [
            "import", "c", "-", "--id-key", "id", "--root-type", "Post", "--type", "by=Person",
        ]
        let outcome = try run(arguments + options, input: document)
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    /// A text so long that its record has a frame of its own: damage of the text damages no other
    /// record.
    static func longText(_ text: String) -> String {
        Array(repeating: text, count: 2_100 / text.utf8.count + 1).joined(separator: " ")
    }

    /// Checks that the bytes of all records add up to those of the cache. The directories of
    /// containers belong to no record, and take some bytes for each frame.
    func expectSum(
        _ bytes: Int, in cache: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let statistics = try succeed("stats", cache, "--format", "json")
        let stored = try #require(try statistics.count("recordBytes"))
        #expect((stored * 19 / 20 - 10..<stored).contains(bytes), sourceLocation: sourceLocation)
    }

    func export() throws -> String { try succeed("export", "c").text }

    /// Returns the bytes of the parts of a record by name.
    func parts(of identifier: String...) throws -> [String: [UInt8]] {
        let json = try run(["get", "c"] + identifier + ["--raw", "--format", "json"]).json()
        guard case .array(let parts)? = json["parts"] else { return [:] }
        return Dictionary(
            parts.map { ($0["name"]?.text ?? "", [UInt8](hexadecimal: $0["bytes"]?.text ?? "")) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension ScratchFolder {
    /// Changes a middle bit of each occurrence of the bytes in the data file of the cache.
    func damage(_ bytes: [UInt8], in cache: String) throws {
        let cache = url.appendingPathComponent(cache)
        let names = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
        let file = cache.appendingPathComponent(
            try #require(names.first { $0.hasSuffix("data.mdb") }))
        var data = try Data(contentsOf: file)
        var start = data.startIndex
        var found = 0
        while let range = data.range(of: Data(bytes), in: start..<data.endIndex) {
            data[range.lowerBound + bytes.count / 2] ^= 0x01
            start = range.upperBound
            found += 1
        }
        #expect(found > 0)
        try data.write(to: file)
    }

    /// Changes a bit in every dictionary.
    func damageDictionaries(in cache: String) throws {
        let cache = url.appendingPathComponent(cache)
        let names = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
        let file = cache.appendingPathComponent(
            try #require(names.first { $0.hasSuffix("data.mdb") }))
        var data = try Data(contentsOf: file)
        var start = data.startIndex
        var found = 0
        // The magic number of zstd dictionaries.
        while let range = data.range(of: Data([0x37, 0xA4, 0x30, 0xEC]), in: start..<data.endIndex)
        {
            data[range.lowerBound + 600] ^= 0x01
            start = range.upperBound
            found += 1
        }
        #expect(found > 0)
        try data.write(to: file)
    }
}

extension [UInt8] {
    init(hexadecimal text: String) {
        let digits = Array<Character>(text)
        self = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }
}

extension JSONValue {
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var real: Double? {
        if case .number(.double(let value)) = self { value } else { nil }
    }
}
#endif
