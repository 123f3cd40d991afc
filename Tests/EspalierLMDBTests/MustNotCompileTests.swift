import Foundation
import Testing

/// Compiles each snippet of `MustNotCompile` against the module under test. The first line of a
/// snippet names a part of the diagnostic it has to produce, or says that it compiles.
@Suite("must not compile", .enabled(if: Toolchain.isUsable))
struct MustNotCompileTests {
    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    static let snippets: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: sources.path + "/MustNotCompile")
            .sorted()) ?? []

    @Test(
        "each snippet fails with the diagnostic it names, and the control compiles",
        arguments: snippets)
    func snippet(name: String) throws {
        let source = try String(
            contentsOfFile: Self.sources.path + "/MustNotCompile/" + name, encoding: .utf8)
        let firstLine = try #require(source.split(separator: "\n").first)
        let (status, output) = try compile(source)
        if firstLine == "// compiles" {
            #expect(status == 0, "\(output)")
        } else {
            let expected = try #require(firstLine.split(separator: "error: ").last)
            #expect(firstLine.hasPrefix("// error: "))
            #expect(status != 0, "it compiles")
            #expect(output.contains("error: ") && output.contains(expected), "\(output)")
        }
    }

    @Test("there is a control, and there are snippets")
    func notVacuous() {
        #expect(Self.snippets.contains("Control.swift.txt"))
        #expect(Self.snippets.count >= 8)
    }

    /// Up to SIL: ownership and lifetimes are checked there, not while types are.
    private func compile(_ source: String) throws -> (status: Int32, output: String) {
        let folder = NSTemporaryDirectory() + "/espalier-snippet-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try source.write(toFile: folder + "/Snippet.swift", atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Toolchain.compiler))
        let clmdb =
            Self.sources.deletingLastPathComponent().deletingLastPathComponent().path
            + "/Sources/CLMDB"
        process.arguments = [
            "-emit-sil", "-parse-as-library", "-swift-version", "6", "-I",
            try #require(Toolchain.modules), "-I", clmdb,
            folder + "/Snippet.swift", "-o", folder + "/Snippet.sil",
        ]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
