import Foundation

/// The files of the checkout that these tests were built from.
struct Repository: Sendable {
    static let current = Repository(root: root)

    /// Paths below the root, in order.
    let paths: [String]
    let swiftFiles: [SourceFile]

    /// Text files of every kind, Swift included, by path.
    let texts: [String: String]

    /// The names of all files and folders at the root, hidden ones included.
    let rootEntries: [String]

    private static let topFolders = [
        "Sources", "Tests", "Benchmarks", "Examples", "Fuzz", "Plugins", "Scripts", "Snippets",
        "Fleet/Snippets",
        "docs",
    ]
    private static let topFiles = ["Package.swift", "Makefile", "README.md", "CHANGELOG.md"]

    private static var root: URL {
        URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent()  // Source
            .deletingLastPathComponent()  // TidyTests
            .deletingLastPathComponent()  // Tests
            .deletingLastPathComponent()
    }

    private init(root: URL) {
        var paths = Self.topFiles
        for folder in Self.topFolders {
            let found = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let path = found?.nextObject() as? String {
                if path.split(separator: "/").last?.hasPrefix(".") == true {
                    found?.skipDescendants()
                } else {
                    paths.append("\(folder)/\(path)")
                }
            }
        }
        self.paths = paths.sorted()
        rootEntries = ((try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? [])
            .sorted()
        var texts: [String: String] = [:]
        for path in paths {
            texts[path] = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        self.texts = texts
        swiftFiles = texts.filter { $0.key.hasSuffix(".swift") }
            .map { SourceFile(path: $0.key, text: $0.value) }
            .sorted { $0.path < $1.path }
    }
}
