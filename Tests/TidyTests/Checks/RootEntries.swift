/// The root of the repository holds what belongs there, and no cache that a run left behind.
enum RootEntries {
    static let known: Set<String> = [
        ".ci", ".gitignore", ".swift-format", "Benchmarks", "CHANGELOG.md", "Examples", "Fuzz",
        "LICENSE", "Makefile",
        "Package.swift",
        "README.md", "Scripts", "Snippets", "Sources", "Tests", "docs",
    ]

    /// What Git ignores, and Git itself.
    static let local: Set<String> = [".git", ".swiftpm", "Package.resolved"]
    static let localPrefix = ".build"

    static func violations(in entries: [String]) -> [Violation] {
        entries.filter { !known.contains($0) && !local.contains($0) && !$0.hasPrefix(localPrefix) }
            .map {
                Violation(place: $0, problem: "does not belong into the root of the repository")
            }
    }
}
