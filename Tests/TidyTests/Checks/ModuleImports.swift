import Testing

/// Dependencies point down only, and few modules know a C library.
enum ModuleImports {
    /// The modules that each module of the package may import, those of the system apart.
    static let allowed: [String: Set<String>] = [
        "EspalierConfinement": [],
        // swift-crypto, only with the trait Encryption.
        "EspalierEncryption": ["Crypto", "EspalierConfinement"],
        "EspalierLMDB": ["CLMDB", "EspalierConfinement", "EspalierEncryption"],
        "EspalierCompression": ["CZstd", "EspalierConfinement"],
        "EspalierRecords": ["EspalierConfinement"],
        "EspalierModels": ["EspalierRecords"],
        "EspalierStore": [
            "EspalierLMDB", "EspalierCompression", "EspalierRecords", "EspalierModels",
            "EspalierConfinement", "EspalierEncryption",
        ],
        "EspalierInspection": [
            "EspalierStore", "EspalierLMDB", "EspalierRecords", "EspalierConfinement",
        ],
        "EspalierConsistency": ["EspalierModels", "EspalierRecords"],
        "EspalierProviders": ["EspalierConsistency", "EspalierModels", "EspalierRecords"],
        "ConsistencyManager": ["EspalierConsistency", "EspalierModels"],
        "RocketData": ["EspalierProviders", "EspalierConsistency", "EspalierModels"],
        "EspalierMacros": [
            "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder",
            "SwiftSyntaxMacros",
        ],
        "EspalierNormalized": ["EspalierModels", "EspalierRecords"],
        "Espalier": [
            "EspalierStore", "EspalierInspection", "EspalierNormalized", "EspalierProviders",
            "EspalierConsistency", "EspalierModels", "EspalierRecords", "EspalierEncryption",
        ],
        "EspalierTesting": ["Espalier", "Testing"],
        // swift-log and swift-metrics, only with the trait Server.
        "EspalierSharedRecords": [
            "EspalierStore", "EspalierRecords", "EspalierModels", "EspalierCompression",
            "EspalierConfinement",
        ],
        "EspalierServer": ["EspalierStore", "EspalierRecords", "Logging", "Metrics"],
        "EspalierCharts": [],
        // The hand-written baseline of the benchmarks calls LMDB itself.
        "EspalierFixtures": [
            "CLMDB", "EspalierStore", "EspalierInspection", "EspalierModels", "EspalierRecords",
            "Histogram",
        ],
        "EspalierBench": [
            "EspalierStore", "EspalierInspection", "EspalierModels", "EspalierRecords",
            "EspalierCompression", "EspalierEncryption", "EspalierCharts", "EspalierFixtures",
        ],
        // No package and no other module: the plugin builds it for everyone who uses the plugin.
        "EspalierGeneration": [],
        "espalier-generate": ["EspalierGeneration"],
        "EspalierMain": ["EspalierCLI"],
        "EspalierCLI": [
            "EspalierStore", "EspalierInspection", "EspalierLMDB", "EspalierCompression",
            "EspalierModels", "EspalierRecords", "EspalierCharts", "EspalierFixtures",
            "EspalierEncryption", "EspalierBench", "EspalierGeneration", "ArgumentParser",
        ],
    ]

    static let system: Set<String> = [
        "Combine", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl",
        "Observation",
        "Swift", "Synchronization", "os",
    ]

    /// The modules that may import each C library, tests included.
    static let owners: [String: Set<String>] = [
        "CLMDB": ["EspalierLMDB", "EspalierFixtures"], "CZstd": ["EspalierCompression"],
        "Crypto": ["EspalierEncryption"],
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        guard let module = file.module else { return [] }
        return imports(of: file).compactMap { name, line in
            if let owners = owners[name], !owners.contains(module) {
                return file.violation(line: line, "\(module) may not import the C library \(name)")
            }
            guard file.isInProduct, !system.contains(name) else { return nil }
            guard let allowed = allowed[module] else {
                return file.violation(
                    line: line, "\(module) has no entry in the table of allowed imports")
            }
            return allowed.contains(name)
                ? nil : file.violation(line: line, "\(module) may not import \(name)")
        }
    }

    static func imports(of file: SourceFile) -> [(name: String, line: Int)] {
        let kinds: Set<String> = [
            "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
        ]
        return file.tokens.indices.compactMap { index in
            guard file.tokens[index].text == "import" else { return nil }
            let names = file.tokens[(index + 1)...].prefix(2).map(\.text)
            guard let name = names.first(where: { !kinds.contains($0) }) else { return nil }
            return (name, file.tokens[index].line)
        }
    }
}

@Suite("Dependencies point down")
struct ModuleImportsTests {
    @Test("Every module of the repository imports only what its entry allows")
    func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(ModuleImports.violations))
    }

    @Test("The table of allowed imports has no cycle")
    func acyclic() {
        var remaining = ModuleImports.allowed
        while let leaf = remaining.first(where: { $0.value.isDisjoint(with: remaining.keys) }) {
            remaining[leaf.key] = nil
        }
        #expect(remaining.isEmpty)
    }

    @Test(
        "Imports that no entry allows are found",
        arguments: [
            ("Sources/EspalierRecords/a.swift", "import EspalierLMDB"),
            ("Sources/EspalierModels/a.swift", "public import EspalierStore"),
            ("Sources/EspalierStore/a.swift", "import CLMDB"),
            ("Sources/EspalierStore/a.swift", "import ArgumentParser"),
            (
                "Sources/EspalierStore/a.swift",
                "@testable internal import struct EspalierProviders.DataProvider"
            ),
            (
                "Sources/EspalierProviders/a.swift",
                "#if canImport(Darwin)\nimport EspalierStore\n#endif"
            ),
            ("Sources/EspalierLMDB/a.swift", "import CZstd"),
            ("Sources/Unknown/a.swift", "import EspalierRecords"),
            ("Tests/EspalierLMDBTests/a.swift", "import CLMDB"),
            ("Benchmarks/Charts/a.swift", "import EspalierStore"),
            ("Benchmarks/Suites/a.swift", "import CLMDB"),
        ])
    func forbidden(path: String, text: String) {
        #expect(ModuleImports.violations(in: SourceFile(path: path, text: text)).count == 1)
    }

    @Test(
        "Imports that an entry allows are not found",
        arguments: [
            ("Sources/EspalierLMDB/a.swift", "internal import CLMDB\nimport Synchronization"),
            ("Sources/EspalierStore/a.swift", "public import EspalierRecords\n// import CLMDB\n"),
            ("Sources/EspalierCLI/a.swift", "import ArgumentParser\nimport Foundation"),
            ("Benchmarks/Fixtures/a.swift", "import CLMDB"),
            ("Benchmarks/Sources/Peers/a.swift", "import EspalierStore"),
            ("Tests/EspalierStoreTests/a.swift", "@testable import EspalierStore\nimport Testing"),
        ])
    func permitted(path: String, text: String) {
        #expect(ModuleImports.violations(in: SourceFile(path: path, text: text)) == [])
    }
}
