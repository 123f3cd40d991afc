#if Macros
import Foundation

/// The compiler, with the modules and the plugin that were built for these tests.
struct Compiler {
    private let compiler: String
    private let products: URL

    /// Returns nil if there is no compiler, or if the products are not around the test executable.
    init?() {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        guard
            let found = path.map({ $0 + "/swiftc" }).first(
                where: FileManager.default.isExecutableFile)
        else {
            return nil
        }
        #if os(Linux)
        let executable = "/proc/self/exe"
        #else
        let executable = CommandLine.arguments[0]
        #endif
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            guard FileManager.default.isExecutableFile(atPath: folder.path + "/EspalierMacros-tool")
            else { continue }
            compiler = found
            products = folder
            return
        }
        return nil
    }

    /// Returns the status and output of compiling `source` after `import EspalierNormalized`.
    func output(of source: String) throws -> (status: Int32, text: String) {
        let folder = NSTemporaryDirectory() + "/espalier-snippet-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/Snippet.swift"
        try ("import EspalierNormalized\n" + source).write(
            toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: compiler)
        process.arguments = [
            "-typecheck", "-parse-as-library", "-swift-version", "6", "-I",
            products.path + "/Modules",
            "-load-plugin-executable", products.path + "/EspalierMacros-tool#EspalierMacros", file,
        ]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
#endif
