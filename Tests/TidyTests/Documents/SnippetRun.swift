import Foundation
import Testing

/// Runs snippets, which SwiftPM builds beside the tests, each with a directory of its own for
/// temporary files.
enum SnippetRun {
    static func output(of snippet: Snippet) throws -> String { try output(of: snippet.name) }

    /// What an executable of this package prints.
    static func output(of name: String) throws -> String {
        let scratch = FileManager.default.temporaryDirectory.appending(
            path: "run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let tool: URL = try #require(executable(name), "\(name) is not built")
        let process = Process()
        process.executableURL = tool
        process.currentDirectoryURL = scratch
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": scratch.path])
        { $1 }
        let output = scratch.appending(path: "output")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        #expect(
            process.terminationReason == .exit && process.terminationStatus == 0, "\(name) failed")
        return try String(contentsOf: output, encoding: .utf8)
    }

    private static func executable(_ name: String) -> URL? {
        #if os(Linux)
        let tests = "/proc/self/exe"
        #else
        let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
        #endif
        var folder = URL(fileURLWithPath: tests).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            let file = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        }
        return nil
    }
}
