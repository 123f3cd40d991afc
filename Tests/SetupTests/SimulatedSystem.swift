import Foundation

/// A system as `Scripts/setup` sees it: a folder of stand-ins is its whole `PATH`. Each stand-in
/// writes its calls to a file.
final class SimulatedSystem {
    let folder: URL
    private let commands: URL
    private let calls: URL

    /// The commands that the script needs on every system. These are the real ones.
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

    /// Returns the path of a command of the real system.
    static func path(of name: String) -> String? {
        ["/usr/bin/\(name)", "/bin/\(name)"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// Adds a stand-in for a command, which runs `body` in a shell.
    func add(_ name: String, _ body: String) throws {
        let file = commands.appending(path: name)
        try Data("#!/bin/sh\necho \"\(name) $*\" >>'\(calls.path)'\n\(body)\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }

    /// The exit code, the output and the calls of a run.
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

    /// Runs the script with standard input closed, not only empty.
    func runWithoutInput() throws -> Outcome {
        try run(["/bin/sh", "-c", "exec '\(Self.script.path)' <&-"])
    }

    /// Runs the script on a terminal. Returns nil if the real system has no `script` to make one.
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

// The systems that people build on.
extension SimulatedSystem {
    enum User {
        case root, withoutSudo, withSudo
        /// `sudo` asks for a password, and accepts it where there is a terminal.
        case withPassword
        /// `sudo` asks, and refuses every password.
        case refused
    }

    /// The packages that libraries are in, by the names that `pkg-config` has for the libraries.
    private static let libraries = ["lmdb": "liblmdb-dev", "libzstd": "libzstd-dev"]
    private static let benchLibraries = [
        "rocksdb": "librocksdb-dev", "sqlite3": "libsqlite3-dev", "valgrind": "valgrind",
    ]

    private static let fleetLibraries = ["hiredis": "libhiredis-dev"]

    /// Returns a Debian with Swift, LMDB and zstd, for `bench` the libraries of the benchmarks, and
    /// for `fleet` hiredis and Redis, without the `missing` packages.
    static func debian(
        missing: [String] = [], user: User = .root, aptFails: Bool = false, bench: Bool = false,
        fleet: Bool = false
    ) throws -> SimulatedSystem {
        let libraries = libraries.merging(bench ? benchLibraries : [:]) { $1 }
            .merging(fleet ? fleetLibraries : [:]) { $1 }
            .filter { !missing.contains($0.value) }
        let system = try SimulatedSystem()
        if fleet, !missing.contains("redis-server") { try system.add("redis-server", "exit 0") }
        try system.addSwift("Swift version 6.2.1 (swift-6.2.1-RELEASE)")
        if !missing.contains("pkg-config") {
            try system.addPkgConfig(libraries.keys.sorted())
        }
        let present =
            libraries.values.sorted()
            + ["pkg-config", "redis-server"].filter { !missing.contains($0) }
        try system.add(
            "dpkg",
            "case \" \(present.joined(separator: " ")) \" in *\" $2 \"*) \(Self.installed) ;; esac; "
                + "exit 1"
        )
        try system.add(
            "apt-get", aptFails ? "echo 'E: Unable to fetch some archives' >&2; exit 100" : "exit 0"
        )
        try system.add("id", "echo \(user == .root ? 0 : 1000)")
        switch user {
        case .root, .withoutSudo: break
        case .withSudo: try system.add("sudo", "[ \"$1\" = -n ] && shift; exec \"$@\"")
        case .withPassword:
            try system.add("sudo", "case \"$1\" in -n) exit 1 ;; -v) exit 0 ;; esac; exec \"$@\"")
        case .refused: try system.add("sudo", "exit 1")
        }
        return system
    }

    private static let installed = "echo 'Status: install ok installed'; exit 0"

    /// Returns a system with neither apt nor dpkg: another Linux, or macOS.
    static func withoutApt(_ kernel: String, libraries: [String], commands: [String] = []) throws
        -> SimulatedSystem
    {
        let system = try SimulatedSystem()
        try system.addSwift("Apple Swift version 6.2 (swiftlang-6.2.0.19.9 clang-1700.3.19.1)")
        try system.add("uname", "echo \(kernel)")
        try system.addPkgConfig(libraries)
        for command in commands { try system.add(command, "exit 0") }
        return system
    }

    func addSwift(_ version: String) throws { try add("swift", "echo '\(version)'") }

    private func addPkgConfig(_ libraries: [String]) throws {
        try add(
            "pkg-config",
            "case \" \(libraries.joined(separator: " ")) \" in *\" $2 \"*) exit 0 ;; esac; exit 1")
    }
}
