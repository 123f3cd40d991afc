import Foundation

/// A system as `Scripts/setup` sees it: a folder of stand-ins is the whole of its `PATH`, and each
/// notes down its calls.
final class SimulatedSystem {
    let folder: URL
    private let commands: URL
    private let calls: URL

    /// What the script needs of any system, and what is therefore the real one's.
    private static let realCommands = [
        "env", "grep", "head", "mktemp", "rm", "sed", "tail", "true",
    ]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "espalier-setup-\(UUID().uuidString)")
        commands = folder.appending(path: "bin")
        calls = folder.appending(path: "calls")
        try FileManager.default.createDirectory(at: commands, withIntermediateDirectories: true)
        try Data().write(to: calls)
        for name in Self.realCommands {
            guard let path = Self.path(of: name) else { throw CocoaError(.fileNoSuchFile) }
            try FileManager.default.createSymbolicLink(
                at: commands.appending(path: name), withDestinationURL: URL(filePath: path))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Where the real system has a command.
    static func path(of name: String) -> String? {
        ["/usr/bin/\(name)", "/bin/\(name)"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Puts a command there: what a shell does for it.
    func add(_ name: String, _ body: String) throws {
        let file = commands.appending(path: name)
        try Data("#!/bin/sh\necho \"\(name) $*\" >>'\(calls.path)'\n\(body)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    /// What a run came to.
    struct Outcome {
        let code: Int32
        let output: String
        let errors: String
        /// The commands called, with their arguments, in order.
        let calls: [String]

        func called(_ start: String) -> Bool { calls.contains { $0.hasPrefix(start) } }
    }

    static let script = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Scripts/setup")

    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
        try run(["/bin/sh", Self.script.path] + arguments, environment)
    }

    /// With standard input closed, not only empty.
    func runWithoutInput() throws -> Outcome {
        try run(["/bin/sh", "-c", "exec '\(Self.script.path)' <&-"])
    }

    /// On a terminal; nil where the real system has no `script` that makes one.
    func runOnTerminal() throws -> Outcome? {
        guard let script = Self.path(of: "script") else { return nil }
        return try run([script, "-qec", "/bin/sh '\(Self.script.path)'", "/dev/null"])
    }

    private func run(_ command: [String], _ environment: [String: String] = [:]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ["PATH": commands.path, "TMPDIR": folder.path, "SHELL": "/bin/sh"]
            .merging(environment) {
                $1
            }
        let files = try ["out", "err"].map { name in
            let file = folder.appending(path: name)
            try Data().write(to: file)
            return file
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try (files + [calls]).map {
            String(decoding: try Data(contentsOf: $0), as: UTF8.self)
        }
        return Outcome(
            code: process.terminationStatus, output: texts[0], errors: texts[1],
            calls: texts[2].split(separator: "\n").map(String.init))
    }
}
