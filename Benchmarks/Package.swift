// swift-tools-version: 6.2
import PackageDescription

// The benchmarks are a package of their own, so that the libraries with which Espalier is compared
// never enter its graph.
//
// The folders Charts, Fixtures and Suites belong to the root package: its tool uses them too.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "compare", targets: ["compare"])],
    dependencies: [
        .package(name: "Espalier", path: "..", traits: [.defaults, "CommandLine"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDBRaw", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CZstdRaw", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(
            name: "CRocksDB", pkgConfig: "rocksdb",
            providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
        .target(name: "CAllocations"),
        .target(
            name: "Feeds",
            dependencies: [
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "_EspalierFixtures", package: "Espalier"),
            ],
            resources: [.copy("Prose.txt")]),
        .target(
            name: "Comparison",
            dependencies: [
                "Feeds", "CLMDBRaw", "CZstdRaw", "CRocksDB",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "_EspalierCharts", package: "Espalier"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(name: "compare", dependencies: ["Comparison"]),
        .testTarget(name: "ComparisonTests", dependencies: ["Comparison", "Feeds"]),
        .executableTarget(
            name: "Models",
            dependencies: [
                "Feeds", "CAllocations",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(
            name: "Operations",
            dependencies: ["Feeds", .product(name: "Espalier", package: "Espalier")]),
        .target(name: "CMarks"),
        .target(
            name: "Counting",
            dependencies: [
                "Operations", "CMarks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(name: "CountingTests", dependencies: ["Counting"]),
        .executableTarget(
            name: "Micro",
            dependencies: [
                "Operations", "Counting", "CAllocations",
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Micro",
            // Older valgrinds do not understand what the compiler tells debuggers.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-S"], .when(platforms: [.linux]))]),
        .executableTarget(
            name: "Following",
            dependencies: [
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Consistency",
            dependencies: [
                "CAllocations",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ]
)
