// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// The hand-written baseline of the benchmarks does without the compiler's memory safety.
let unsafeSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let settings = unsafeSettings + [.strictMemorySafety()]

/// RocketData's signatures pass values that are not `Sendable`, which mode 6 does not allow.
let swift5Settings: [SwiftSetting] = [
    .swiftLanguageMode(.v5),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

/// Returns a product of swift-syntax, which SwiftPM fetches only for the trait `Macros`.
func syntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

/// Returns a product that only the tool needs. SwiftPM fetches it only for the trait `CommandLine`.
func toolProduct(_ name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["CommandLine"]))
}

/// swift-crypto, which SwiftPM fetches only for the trait `Encryption`.
let crypto = Target.Dependency.product(
    name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"]))

/// Returns a product that only `EspalierServer` needs. SwiftPM fetches it only for the trait
/// `Server`.
func serverProduct(_ name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

// Only `make docs` sets this: other builds do not fetch the plugin.
let documentation: [Package.Dependency] =
    Context.environment["ESPALIER_DOCS"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

let package = Package(
    name: "Espalier",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Espalier", targets: ["Espalier"]),
        .library(name: "Macros", targets: ["EspalierNormalized"]),
        // For the tests of apps: needs Swift Testing.
        .library(name: "EspalierTesting", targets: ["EspalierTesting"]),
        // Logs and metrics of servers: empty without the trait Server.
        .library(name: "EspalierServer", targets: ["EspalierServer"]),
        // The layers above the cache alone, without LMDB and zstd.
        .library(name: "Consistency", targets: ["EspalierConsistency", "EspalierModels"]),
        .library(
            name: "Providers",
            targets: ["EspalierProviders", "EspalierConsistency", "EspalierModels"]),
        // RocketData's own modules, for apps that change nothing but their dependency.
        .library(name: "RocketData", targets: ["RocketData", "ConsistencyManager"]),
        .library(name: "ConsistencyManager", targets: ["ConsistencyManager"]),
        .executable(name: "espalier", targets: ["EspalierMain"]),
        // Models from the JSON Schemas of a target, at each build.
        .plugin(name: "EspalierGenerate", targets: ["EspalierGenerate"]),
        // For this project's own packages, without any promise to others.
        .library(name: "_EspalierSharedRecords", targets: ["EspalierSharedRecords"]),
        .library(name: "_EspalierCharts", targets: ["EspalierCharts"]),
        .library(name: "_EspalierFixtures", targets: ["EspalierFixtures"]),
    ],
    traits: [
        .trait(
            name: "Macros",
            description:
                "@Normalized, which generates models. Only this part needs swift-syntax."
        ),
        .trait(
            name: "CommandLine",
            description:
                "The command-line tool. Needs swift-argument-parser and hdrhistogram-swift."
        ),
        .trait(
            name: "Encryption",
            description: "Encryption at rest, with a key of the app's. Needs swift-crypto."
        ),
        .trait(
            name: "Server",
            description: "Logs and metrics. Needs swift-log and swift-metrics."
        ),
        .default(enabledTraits: ["Macros"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
    ] + documentation,
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

        .target(name: "EspalierConfinement", swiftSettings: settings),
        .target(
            name: "EspalierEncryption", dependencies: ["EspalierConfinement", crypto],
            swiftSettings: settings),
        .target(
            name: "EspalierLMDB",
            dependencies: ["CLMDB", "EspalierConfinement", "EspalierEncryption"],
            swiftSettings: settings),
        .target(
            name: "EspalierRecords", dependencies: ["EspalierConfinement"],
            swiftSettings: settings),
        .target(name: "EspalierModels", dependencies: ["EspalierRecords"], swiftSettings: settings),
        .macro(
            name: "EspalierMacros",
            dependencies: [
                syntax("SwiftCompilerPlugin"), syntax("SwiftDiagnostics"), syntax("SwiftSyntax"),
                syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
        .target(
            name: "EspalierNormalized",
            dependencies: [
                "EspalierModels", "EspalierRecords",
                .target(name: "EspalierMacros", condition: .when(traits: ["Macros"])),
            ],
            swiftSettings: settings),
        .target(
            name: "EspalierConsistency", dependencies: ["EspalierModels", "EspalierRecords"],
            swiftSettings: settings),
        .target(
            name: "EspalierProviders",
            dependencies: ["EspalierConsistency", "EspalierModels", "EspalierRecords"],
            swiftSettings: settings),
        .target(
            name: "ConsistencyManager", dependencies: ["EspalierConsistency", "EspalierModels"],
            swiftSettings: swift5Settings),
        .target(
            name: "RocketData",
            dependencies: [
                "ConsistencyManager", "EspalierProviders", "EspalierConsistency", "EspalierModels",
            ],
            swiftSettings: swift5Settings),
        .target(
            name: "EspalierCompression", dependencies: ["CZstd", "EspalierConfinement"],
            swiftSettings: settings),
        .target(
            name: "EspalierStore",
            dependencies: [
                "EspalierLMDB", "EspalierCompression", "EspalierRecords", "EspalierModels",
                "EspalierConfinement", "EspalierEncryption",
            ],
            swiftSettings: settings),
        // Records by name, for the package `Fleet`.
        .target(
            name: "EspalierSharedRecords",
            dependencies: [
                "EspalierStore", "EspalierRecords", "EspalierModels", "EspalierCompression",
                "EspalierConfinement",
            ],
            swiftSettings: settings),
        // What tools need and applications do without, except for `verify(deep:)`.
        .target(
            name: "EspalierInspection",
            dependencies: ["EspalierStore", "EspalierLMDB", "EspalierRecords"],
            swiftSettings: settings),
        .target(
            name: "Espalier",
            dependencies: [
                "EspalierStore", "EspalierInspection", "EspalierProviders", "EspalierConsistency",
                "EspalierNormalized", "EspalierEncryption",
                "EspalierModels", "EspalierRecords",
            ],
            swiftSettings: settings),
        // A sample, to be read and run: `swift run Messages`.
        .executableTarget(
            name: "Messages", dependencies: ["Espalier"], path: "Examples/Messages",
            exclude: ["output.txt"],
            swiftSettings: settings),

        .target(name: "EspalierCharts", path: "Benchmarks/Charts", swiftSettings: settings),
        .target(
            name: "EspalierFixtures",
            dependencies: [
                "CLMDB", "EspalierStore", "EspalierInspection", "EspalierModels",
                "EspalierRecords", toolProduct("Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Benchmarks/Fixtures", swiftSettings: unsafeSettings),
        .target(
            name: "EspalierBench",
            dependencies: [
                "EspalierStore", "EspalierInspection", "EspalierModels", "EspalierRecords",
                "EspalierCompression", "EspalierEncryption", "EspalierCharts", "EspalierFixtures",
            ],
            path: "Benchmarks/Suites", swiftSettings: settings),
        .target(
            name: "EspalierTesting", dependencies: ["Espalier"], swiftSettings: settings),
        .target(
            name: "EspalierServer",
            dependencies: [
                "EspalierRecords", "EspalierStore",
                serverProduct("Logging", package: "swift-log"),
                serverProduct("Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        // Types for JSON. Knows Foundation alone, because every package that uses the plugin builds
        // it.
        .target(name: "EspalierGeneration", swiftSettings: settings),
        .executableTarget(
            name: "espalier-generate", dependencies: ["EspalierGeneration"],
            swiftSettings: settings),
        .plugin(
            name: "EspalierGenerate", capability: .buildTool(),
            dependencies: ["espalier-generate"]),
        .executableTarget(
            name: "EspalierMain", dependencies: ["EspalierCLI"], swiftSettings: settings),
        .target(
            name: "EspalierCLI",
            dependencies: [
                "EspalierStore", "EspalierInspection", "EspalierModels", "EspalierRecords",
                "EspalierLMDB", "EspalierCompression", "EspalierEncryption", "EspalierCharts",
                "EspalierFixtures", "EspalierBench", "EspalierGeneration",
                toolProduct("ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),

        .target(
            name: "EspalierTestSupport",
            dependencies: ["EspalierRecords", "EspalierModels"],
            path: "Tests/EspalierTestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "EspalierConfinementTests", dependencies: ["EspalierConfinement"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierEncryptionTests", dependencies: ["EspalierEncryption"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierLMDBTests", dependencies: ["EspalierLMDB", "EspalierTestSupport"],
            exclude: ["MustNotCompile"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierRecordsTests", dependencies: ["EspalierRecords", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierModelsTests", dependencies: ["EspalierModels", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierConsistencyTests",
            dependencies: ["EspalierConsistency", "EspalierModels", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierProvidersTests",
            dependencies: [
                "EspalierProviders", "EspalierConsistency", "EspalierModels", "EspalierTestSupport",
            ],
            swiftSettings: settings),
        // A client of RocketData, with the language mode and the imports that it has there.
        .testTarget(
            name: "RocketDataTests",
            dependencies: ["RocketData", "ConsistencyManager", "EspalierModels"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "EspalierStoreTests",
            dependencies: [
                "EspalierStore", "EspalierInspection", "EspalierLMDB", "EspalierCompression",
                "EspalierEncryption", "EspalierTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierSharedRecordsTests",
            dependencies: [
                "EspalierSharedRecords", "EspalierStore", "EspalierInspection", "EspalierModels",
                "EspalierRecords", "EspalierTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierCLITests",
            dependencies: [
                "EspalierCLI", "EspalierBench", "EspalierCharts", "EspalierFixtures",
                "EspalierStore", "EspalierInspection", "EspalierLMDB", "EspalierEncryption",
                "EspalierTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierGenerationTests", dependencies: ["EspalierGeneration", "Espalier"],
            exclude: ["Fixtures"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierChartsTests", dependencies: ["EspalierCharts"], swiftSettings: settings),
        .testTarget(
            name: "EspalierMacrosTests",
            dependencies: [
                .target(name: "EspalierMacros", condition: .when(traits: ["Macros"])),
                syntax("SwiftDiagnostics"), syntax("SwiftParser"), syntax("SwiftSyntax"),
                syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacroExpansion"),
                syntax("SwiftSyntaxMacros"),
                syntax("SwiftSyntaxMacrosGenericTestSupport"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierTests", dependencies: ["Espalier", "EspalierTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierNormalizedTests", dependencies: ["Espalier"], swiftSettings: settings),
        // Models of apps that default to the main actor, and of apps in Swift 5 mode.
        .testTarget(
            name: "EspalierMainActorTests", dependencies: ["Espalier"],
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "EspalierSwift5Tests", dependencies: ["Espalier"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "EspalierTestingTests", dependencies: ["Espalier", "EspalierTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "EspalierServerTests",
            dependencies: [
                "EspalierServer", "EspalierStore", "EspalierRecords", "EspalierModels",
                "EspalierTestSupport", serverProduct("Logging", package: "swift-log"),
                serverProduct("Metrics", package: "swift-metrics"),
                serverProduct("MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(name: "SetupTests", swiftSettings: settings),
        .testTarget(name: "TidyTests", swiftSettings: settings),
    ]
)

// ESPALIER_TARGETS names targets, separated by spaces. The package then consists of these targets
// and their dependencies. `make races` builds only the test targets that it runs with the thread
// sanitizer.
if let names = Context.environment["ESPALIER_TARGETS"] {
    var needed: Set<String> = []
    var needsPackages = false
    func need(_ name: String) {
        guard needed.insert(name).inserted else { return }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): need(name)
            case .productItem: needsPackages = true
            @unknown default: break
            }
        }
    }
    for name in names.split(separator: " ") { need(String(name)) }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products =
        needed.contains("EspalierMain")
        ? [.executable(name: "espalier", targets: ["EspalierMain"])] : []
    if !needsPackages { package.dependencies = [] }
}

// `Scripts/races` sets this, for its copy of the sources: see `Tests/SanitizedSynchronization`.
if Context.environment["ESPALIER_RACES"] != nil {
    let name = "SanitizedSynchronization"
    for target in package.targets where ![.system, .macro, .plugin].contains(target.type) {
        target.dependencies.append(.target(name: name))
    }
    package.targets += [
        .target(name: name, path: "Tests/\(name)", swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests", dependencies: [.target(name: name)], swiftSettings: settings),
    ]
}
