// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // A call that need not wait does not change threads.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]

// The cache of a fleet of servers is a package of its own, so that hiredis never reaches those who
// use Espalier alone.
let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "EspalierFleet", targets: ["EspalierFleet", "EspalierRedis"]),
        .executable(name: "espalier-fleet", targets: ["espalier-fleet"]),
    ],
    dependencies: [
        // Without the macro: swift-syntax takes minutes to build.
        .package(name: "Espalier", path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CHiredis", pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
        .target(name: "EspalierRedis", dependencies: ["CHiredis"], swiftSettings: settings),
        .target(
            name: "EspalierFleet",
            dependencies: [
                "EspalierRedis",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "_EspalierSharedRecords", package: "Espalier"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .target(
            name: "FleetFixtures",
            dependencies: [
                "EspalierFleet", "EspalierRedis",
                .product(name: "Espalier", package: "Espalier"),
            ],
            path: "Tests/FleetFixtures", swiftSettings: settings),
        .executableTarget(
            name: "espalier-fleet",
            dependencies: [
                "EspalierFleet", "EspalierRedis",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "fleet-bench",
            dependencies: [
                "EspalierFleet", "EspalierRedis", "FleetFixtures",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "_EspalierSharedRecords", package: "Espalier"),
            ],
            path: "Benchmarks", swiftSettings: settings),
        // Fleets in virtual time, for `docs/FLEET.md`.
        .target(
            name: "FleetSimulation",
            dependencies: [.product(name: "_EspalierCharts", package: "Espalier")],
            path: "Simulation/Model", swiftSettings: settings),
        .executableTarget(
            name: "fleet-simulation",
            dependencies: ["FleetSimulation", "EspalierFleet", "EspalierRedis", "FleetFixtures"],
            path: "Simulation/Tool", swiftSettings: settings),
        // A host of the attacks in the tests, as a process of its own.
        .executableTarget(
            name: "fleet-host", dependencies: ["EspalierFleet", "FleetFixtures"],
            path: "Tests/fleet-host", swiftSettings: settings),
        .testTarget(
            name: "EspalierFleetTests",
            dependencies: [
                "EspalierFleet", "EspalierRedis", "FleetFixtures", "fleet-host",
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "_EspalierSharedRecords", package: "Espalier"),
            ],
            exclude: ["reader.py"], swiftSettings: settings),
        .testTarget(
            name: "FleetSimulationTests", dependencies: ["FleetSimulation"],
            swiftSettings: settings),
    ]
)
