/// Dependencies point down only, and each C library has one module that knows it.
enum ModuleImports {
    /// What a module in `Sources` may import besides the system's modules.
    static let allowed: [String: Set<String>] = [
        "EspalierLMDB": ["CLMDB"],
        "EspalierCompression": ["CZstd"],
        "EspalierRecords": [],
        "EspalierModels": ["EspalierRecords"],
        "EspalierStore": [
            "EspalierLMDB", "EspalierCompression", "EspalierRecords", "EspalierModels",
        ],
        "EspalierConsistency": ["EspalierModels", "EspalierRecords"],
        "EspalierProviders": ["EspalierConsistency", "EspalierModels", "EspalierRecords"],
        "EspalierMacros": [
            "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder",
            "SwiftSyntaxMacros",
        ],
        "EspalierNormalized": ["EspalierModels", "EspalierRecords"],
        "Espalier": [
            "EspalierStore", "EspalierNormalized", "EspalierProviders", "EspalierConsistency",
            "EspalierModels",
            "EspalierRecords",
        ],
        "EspalierMain": ["EspalierCLI"],
        "EspalierCharts": [],
        "EspalierCLI": [
            "EspalierStore", "EspalierLMDB", "EspalierCompression", "EspalierModels",
            "EspalierRecords",
            "EspalierCharts", "ArgumentParser", "Histogram",
        ],
        "EspalierTestSupport": [
            "EspalierStore", "EspalierLMDB", "EspalierCompression", "EspalierProviders",
            "EspalierConsistency",
            "EspalierModels", "EspalierRecords", "Testing",
        ],
    ]

    static let system: Set<String> = [
        "Combine", "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl",
        "Observation",
        "Swift", "Synchronization", "os",
    ]

    /// The one module that may import each C library, tests included.
    static let owners = ["CLMDB": "EspalierLMDB", "CZstd": "EspalierCompression"]

    static func violations(in file: SourceFile) -> [Violation] {
        guard let module = file.module else { return [] }
        return imports(of: file).compactMap { name, line in
            if let owner = owners[name], owner != module {
                return file.violation(line: line, "only \(owner) imports \(name)")
            }
            guard file.isInSources, !system.contains(name) else { return nil }
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
