import Foundation
import Testing

/// Compiles each program of `MustNotCompile` with the tested module. The first line of a program
/// names a part of the expected diagnostic, or says that it compiles.
@Suite("Programs that must not compile", .enabled(if: Toolchain.isUsable))
struct MustNotCompileTests {
    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    static let snippets: [String] =
        (try? FileManager.default.contentsOfDirectory(atPath: sources.path + "/MustNotCompile")
            .sorted()) ?? []

    @Test(
        "Each wrong program fails to compile with the expected diagnostic",
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

    @Test("The programs that must not compile include a control that compiles")
    func notVacuous() {
        #expect(Self.snippets.contains("Control.swift.txt"))
        #expect(Self.snippets.count >= 8)
    }

    /// Compiles up to SIL, because the compiler checks ownership and lifetimes there.
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

/// The compiler, and the modules that these tests were built with.
private enum Toolchain {
    static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(
        separator: ":"
    )
    .map { $0 + "/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The folder in which SwiftPM puts the modules, near the test bundle.
    static let modules: String? = {
        #if os(Linux)
        let executable = "/proc/self/exe"
        #else
        let executable = CommandLine.arguments[0]
        #endif
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            let modules = folder.appendingPathComponent("Modules").path
            if FileManager.default.fileExists(atPath: modules + "/EspalierLMDB.swiftmodule") {
                return modules
            }
        }
        return nil
    }()

    static var isUsable: Bool { compiler != nil && modules != nil }
}
