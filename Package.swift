// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Only `make docs` sets this: other builds do not fetch the plugin.
let documentation: [Package.Dependency] =
    Context.environment["ESPALIER_DOCS"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

let package = Package(
    name: "Espalier",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Espalier", targets: ["Espalier"]),
        .executable(name: "espalier", targets: ["EspalierCLI"]),
    ],
    traits: [
        // Nothing stands behind it yet. It is declared so that builds of the tool can say already that they do without.
        .trait(name: "Macros", description: "Reserved for @Normalized, the one part that will need swift-syntax."),
        .default(enabledTraits: ["Macros"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ] + documentation,
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

        .target(name: "EspalierLMDB", dependencies: ["CLMDB"], swiftSettings: settings),
        .target(name: "EspalierRecords", swiftSettings: settings),
        .target(name: "EspalierModels", dependencies: ["EspalierRecords"], swiftSettings: settings),
        .target(name: "EspalierCompression", dependencies: ["CZstd"], swiftSettings: settings),
        .target(
            name: "EspalierStore",
            dependencies: ["EspalierLMDB", "EspalierCompression", "EspalierRecords", "EspalierModels"],
            swiftSettings: settings),
        .target(
            name: "Espalier",
            dependencies: ["EspalierStore", "EspalierModels", "EspalierRecords"],
            swiftSettings: settings),
        .executableTarget(
            name: "EspalierCLI",
            dependencies: [
                "EspalierStore", "EspalierModels", "EspalierRecords", "EspalierLMDB", "EspalierCompression",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        .target(
            name: "EspalierTestSupport",
            dependencies: ["EspalierRecords", "EspalierModels", "EspalierStore"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierLMDBTests", dependencies: ["EspalierLMDB"], exclude: ["MustNotCompile"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierRecordsTests", dependencies: ["EspalierRecords", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierModelsTests", dependencies: ["EspalierModels", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierStoreTests",
            dependencies: ["EspalierStore", "EspalierLMDB", "EspalierCompression", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierCLITests",
            dependencies: ["EspalierCLI", "EspalierStore", "EspalierLMDB", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(name: "SetupTests", swiftSettings: settings),
        .testTarget(name: "TidyTests", swiftSettings: settings),
    ]
)
