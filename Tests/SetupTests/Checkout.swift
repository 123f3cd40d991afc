import Foundation
import Testing

/// A copy of the package as somebody gets it: nothing built, nothing resolved.
final class Checkout {
    private let folder: URL
    private var scratch: URL { folder.appending(path: "scratch") }

    static let swift: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(
        separator: ":"
    )
    .map { $0 + "/swift" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "espalier-checkout-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let root = SimulatedSystem.script.deletingLastPathComponent().deletingLastPathComponent()
        for name in ["Package.swift", "Examples", "Snippets", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                at: root.appending(path: name), to: folder.appending(path: name))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs `swift` on the copy; what it prints is for people, and for `manifest`.
    func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.swift))
        process.arguments =
            arguments + ["--package-path", folder.path, "--scratch-path", scratch.path]
        // A file: a pipe that nobody empties meanwhile would fill up.
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: try Data(contentsOf: output), as: UTF8.self)
        )
    }

    func names(inScratch path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.appending(path: path).path)
    }

    func manifest() throws -> Manifest {
        let (status, text) = try run(["package", "dump-package"])
        #expect(status == 0, "\(text)")
        // Warnings of the package manager stand before it.
        let start = try #require(text.firstIndex(of: "{"))
        let json = try JSONSerialization.jsonObject(with: Data(text[start...].utf8))
        return Manifest(
            targets: try #require((json as? [String: Any])?["targets"] as? [[String: Any]]))
    }
}

/// What targets depend on, whatever the conditions.
struct Manifest {
    let targets: [[String: Any]]

    /// The targets and packages that `target` depends on, by any number of steps.
    func reached(from target: String) throws -> Set<String> {
        var reached: Set<String> = []
        var next = [target]
        while let name = next.popLast() {
            guard let found = targets.first(where: { $0["name"] as? String == name }) else {
                continue
            }
            for dependency in try #require(found["dependencies"] as? [[String: [Any]]]) {
                // {"byName": [name, condition]}, {"target": [name, condition]}, {"product": [name,
                // package, ...]}
                let (kind, parts) = try #require(dependency.first)
                let name = try #require(parts[kind == "product" ? 1 : 0] as? String)
                if reached.insert(name).inserted { next.append(name) }
            }
        }
        return reached
    }
}
