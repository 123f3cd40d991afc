#if CommandLine
import Foundation
import Testing

@testable import EspalierCLI

// Helpers of the tests of commands that search.

extension CommandLineTool {
    /// Returns the output of a command on a terminal of the given width.
    func table(_ arguments: [String], columns: Int) throws -> String {
        let output = try folder.write("", to: "table")
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try #require(Self.path, "the tool is not built"))
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(["COLUMNS": "\(columns)"])
        { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
        return try String(contentsOf: output, encoding: .utf8)
    }

    /// Returns the rows of the JSON output of a command; none after a miss.
    func rows(_ arguments: String...) throws -> [JSONValue] {
        let outcome = try run(arguments + ["--format", "json"])
        guard outcome.code != 2 else { return [] }
        guard case .array(let rows) = try outcome.json() else {
            throw CommandFailure("no rows: \(outcome.errors)")
        }
        return rows
    }
}

extension JSONValue {
    var count: Int? {
        if case .number(.int(let count)) = self { Int(count) } else { nil }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

extension ScratchFolder {
    /// Changes one bit of each occurrence of `text` in the data file of the cache.
    func damage(_ text: String, in cache: String) throws {
        let cache = url.appendingPathComponent(cache)
        let names = try FileManager.default.subpathsOfDirectory(atPath: cache.path)
        let file = cache.appendingPathComponent(
            try #require(names.first { $0.hasSuffix("data.mdb") }))
        var data = try Data(contentsOf: file)
        var start = data.startIndex
        var found = 0
        while let range = data.range(of: Data(text.utf8), in: start..<data.endIndex) {
            data[range.lowerBound + text.utf8.count / 2] ^= 0x01
            start = range.upperBound
            found += 1
        }
        #expect(found > 0)
        try data.write(to: file)
    }
}
#endif
