import Foundation
import Testing

/// A fresh copy of the package, in which nothing is built or resolved; or a client of the copy.
final class Checkout {
    private let folder: URL
    /// The package that commands are about.
    private let package: URL
    private var scratch: URL { folder.appending(path: "scratch") }

    static let swift: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(
        separator: ":"
    )
    .map { $0 + "/swift" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// How a client names the package on which it depends.
    enum Form: CaseIterable {
        /// By path, in a folder of the package's name.
        case path
        /// By path and name, in a folder of any name.
        case named
        /// By the address of a repository, and by version.
        case address
    }

    /// - Parameters:
    ///   - products: The products that a client uses. Without products there is no client.
    ///   - form: How the client names the package.
    ///   - traits: The traits of the client's dependency, as Swift; empty for the default traits.
    ///   - plugins: The plugins that a client uses.
    ///   - sources: Other sources of the client, by name, in place of its program or beside it.
    init(
        client products: [String] = [], by form: Form = .path, traits: String = "",
        plugins: [String] = [], sources others: [String: String] = [:]
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "espalier-checkout-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let root = SimulatedSystem.script.deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default
        let copy = folder.appending(path: form == .named ? "vendored" : "Espalier")
        try files.createDirectory(
            at: copy.appending(path: "Benchmarks"), withIntermediateDirectories: true)
        for name in [
            "Package.swift", "Examples", "Plugins", "Snippets", "Sources", "Tests",
            "Benchmarks/Charts",
            "Benchmarks/Fixtures", "Benchmarks/Suites",
        ] {
            try files.copyItem(at: root.appending(path: name), to: copy.appending(path: name))
        }
        package = products.isEmpty ? copy : folder.appending(path: "Client")
        guard !products.isEmpty else { return }
        if form == .address { try Self.makeRepository(copy) }
        let dependency =
            switch form {
            case .path: "path: \"../Espalier\""
            case .named: "name: \"Espalier\", path: \"../vendored\""
            case .address: "url: \"file://\(copy.path)\", from: \"1.0.0\""
            }
        let sources = package.appending(path: "Sources/Client")
        try files.createDirectory(at: sources, withIntermediateDirectories: true)
        let dependencies = products.map { ".product(name: \"\($0)\", package: \"Espalier\")" }
        let used = plugins.map { ".plugin(name: \"\($0)\", package: \"Espalier\")" }
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "Client",
                platforms: [.macOS(.v15)],
                dependencies: [
                    .package(\(dependency)\(traits.isEmpty ? "" : ", traits: \(traits)"))
                ],
                targets: [
                    .executableTarget(
                        name: "Client", dependencies: [\(dependencies.joined(separator: ", "))],
                        plugins: [\(used.joined(separator: ", "))])
                ])
            """
        try Data(manifest.utf8).write(to: package.appending(path: "Package.swift"))
        let program =
            products.contains("Providers")
            ? "import EspalierConsistency\nimport EspalierProviders\n\nprint(ConsistencyManager())\n"
            : "print()\n"
        try Data(program.utf8).write(to: sources.appending(path: "main.swift"))
        for (name, text) in others {
            try Data(text.utf8).write(to: sources.appending(path: name))
        }
    }

    /// Makes `folder` a repository with one commit, which is version 1.0.0.
    private static func makeRepository(_ folder: URL) throws {
        try Data(".build\n".utf8).write(to: folder.appending(path: ".gitignore"))
        for arguments in [
            ["init", "--quiet"], ["add", "--all"],
            [
                "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "--quiet",
                "--message", "Add everything",
            ], ["tag", "1.0.0"],
        ] {
            let git = Process()
            git.executableURL = URL(filePath: "/usr/bin/env")
            git.arguments = ["git", "-C", folder.path] + arguments
            try git.run()
            git.waitUntilExit()
            #expect(git.terminationStatus == 0, "git \(arguments)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs `swift` on the package, and returns its status and output.
    func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.swift))
        process.arguments =
            arguments + ["--package-path", package.path, "--scratch-path", scratch.path]
        // The copy is the whole package, even if these tests were built alone.
        process.environment = ProcessInfo.processInfo.environment.filter {
            $0.key != "ESPALIER_TARGETS"
        }
        // A file, because a full pipe would block the process.
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

    /// Returns the names of the packages that were fetched.
    func fetched() throws -> [String] {
        let path = scratch.appending(path: "checkouts").path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    func contents(inScratch path: String) throws -> Data {
        try Data(contentsOf: scratch.appending(path: path))
    }

    func names(inScratch path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.appending(path: path).path)
    }

    func manifest() throws -> Manifest {
        let (status, text) = try run(["package", "dump-package"])
        #expect(status == 0, "\(text)")
        // SwiftPM prints warnings before it.
        let start = try #require(text.firstIndex(of: "{"))
        let json = try JSONSerialization.jsonObject(with: Data(text[start...].utf8))
        return Manifest(
            targets: try #require((json as? [String: Any])?["targets"] as? [[String: Any]]))
    }
}

/// The dependencies of targets, with any traits.
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
