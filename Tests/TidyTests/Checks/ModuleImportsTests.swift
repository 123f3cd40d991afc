import Testing

@Suite("Dependencies point down")
struct ModuleImportsTests {
    @Test func repository() {
        expectNone(Repository.current.swiftFiles.flatMap(ModuleImports.violations))
    }

    @Test("the table itself has no way up")
    func acyclic() {
        var remaining = ModuleImports.allowed
        while let leaf = remaining.first(where: { $0.value.isDisjoint(with: remaining.keys) }) {
            remaining[leaf.key] = nil
        }
        #expect(remaining.isEmpty)
    }

    @Test(arguments: [
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
    ])
    func forbidden(path: String, text: String) {
        #expect(ModuleImports.violations(in: SourceFile(path: path, text: text)).count == 1)
    }

    @Test(arguments: [
        ("Sources/EspalierLMDB/a.swift", "internal import CLMDB\nimport Synchronization"),
        ("Sources/EspalierStore/a.swift", "public import EspalierRecords\n// import CLMDB\n"),
        ("Sources/EspalierCLI/a.swift", "import ArgumentParser\nimport Foundation"),
        ("Tests/EspalierStoreTests/a.swift", "@testable import EspalierStore\nimport Testing"),
    ])
    func permitted(path: String, text: String) {
        #expect(ModuleImports.violations(in: SourceFile(path: path, text: text)) == [])
    }
}
