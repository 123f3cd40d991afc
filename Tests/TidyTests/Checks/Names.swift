import Testing

/// Folders are named after the things in them.
enum Folders {
    static let forbiddenNames: Set<String> = ["Utils", "Helpers", "Common", "Core"]

    /// Words that end in -ing and name a thing.
    /// The product is named as Swift Testing is, which it extends.
    static let nouns: Set<String> = ["EspalierTesting"]

    /// - Parameter paths: Paths of files.
    static func violations(in paths: [String]) -> [Violation] {
        let folders = Set(paths.map { Array($0.split(separator: "/").map(String.init).dropLast()) })
        return folders.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { folder in
            let place = folder.joined(separator: "/")
            var violations: [Violation] = []
            if !forbiddenNames.isDisjoint(with: folder) {
                violations.append(
                    Violation(place: place, problem: "the name says nothing about what is inside"))
            }
            if folder.first == "Sources", let name = folder.dropFirst().last,
                name.hasSuffix("ing"), !nouns.contains(name)
            {
                violations.append(
                    Violation(place: place, problem: "the name is an activity, and no thing"))
            }
            return violations
        }
    }
}

/// Types are named after what they are.
enum TypeNames {
    static let forbiddenSuffixes = [
        "Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Utilities", "Handler", "Impl",
        "Info",
    ]

    /// RocketData's public names.
    static let exceptions: Set<String> = [
        "ConsistencyManager", "DataModelManager", "ParsingHelpers",
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        Declaration.all(in: file).filter(\.isType).compactMap { declaration in
            guard !exceptions.contains(declaration.name),
                let suffix = forbiddenSuffixes.first(where: declaration.name.hasSuffix)
            else { return nil }
            return file.violation(line: declaration.line, "\(declaration.name) ends in \(suffix)")
        }
    }
}

/// The root of the repository holds what belongs there, and no cache that a run left behind.
enum RootEntries {
    static let known: Set<String> = [
        ".ci", ".gitignore", ".swift-format", "Benchmarks", "CHANGELOG.md", "Examples", "Fuzz",
        "LICENSE", "Makefile",
        "Package.swift", "Plugins",
        "Fleet", "README.md", "Scripts", "Snippets", "Sources", "Tests", "docs",
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

@Suite("Names say what a thing is")
struct NameTests {
    @Test("Every folder of the repository names a thing")
    func folders() {
        expectNone(Folders.violations(in: Repository.current.paths.filter { $0.contains(".") }))
    }

    @Test("No type of the repository has a vague name")
    func types() {
        expectNone(Repository.current.swiftFiles.flatMap(TypeNames.violations))
    }

    @Test("The root of the repository holds what belongs there, and no leftovers of a run")
    func root() {
        #expect(Repository.current.rootEntries.contains("Package.swift"))
        expectNone(RootEntries.violations(in: Repository.current.rootEntries))
    }

    @Test("Folders with empty names are found", arguments: ["Utils", "Helpers", "Common", "Core"])
    func emptyNames(name: String) {
        #expect(Folders.violations(in: ["Sources/M/\(name)/a.swift"]).count == 1)
        #expect(Folders.violations(in: ["Sources/M/\(name)Data/a.swift"]) == [])
    }

    @Test("Folders of Sources that are named after an activity are found")
    func activities() {
        #expect(Folders.violations(in: ["Sources/M/Writing/a.swift"]).count == 1)
        #expect(Folders.violations(in: ["Sources/M/Writing/N/a.swift"]) == [])
        #expect(Folders.violations(in: ["Sources/M/Write/Pausing.swift"]) == [])
        #expect(Folders.violations(in: ["Tests/M/Writing/a.swift"]) == [])
    }

    @Test(
        "Types with vague names are found",
        arguments: [
            "struct CacheManager {}", "public final class WriteHandler: P {}", "enum ByteUtils {}",
            "actor StoreImpl {}", "protocol NodeInfo {}", "extension A { typealias KeyHelper = B }",
        ])
    func vagueName(text: String) {
        #expect(
            TypeNames.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)).count == 1)
    }

    @Test(
        "Types with telling names are not found",
        arguments: [
            "class ConsistencyManager {}", "class DataModelManager {}", "struct Information {}",
            "// struct AInfo\nlet x = 1", "protocol ConsistencyManagerModel {}",
            "class func makeInfo() {}",
            "extension CacheManager {}",
        ])
    func goodName(text: String) {
        #expect(TypeNames.violations(in: SourceFile(path: "Sources/M/a.swift", text: text)) == [])
    }

    @Test(
        "Stray entries of the root are found",
        arguments: [
            "feed.cache", "guard", "g-36dc39aec51a374d", "Package.swift~", "build", ".DS_Store",
            "notes.md",
        ])
    func strayEntry(entry: String) {
        #expect(
            RootEntries.violations(in: ["Sources", entry, ".build-docs"]).map(\.place) == [entry])
    }

    @Test(
        "Known entries of the root are not found",
        arguments: [
            "Sources", ".ci", ".git", ".build", ".build-docs", ".swiftpm", "Package.resolved",
            "LICENSE",
        ])
    func knownEntry(entry: String) {
        #expect(RootEntries.violations(in: [entry]) == [])
    }
}
