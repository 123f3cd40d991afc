// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the cache fetches a web server. It does without the
// macro: swift-syntax takes minutes to build.
let package = Package(
    name: "FleetService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Espalier", path: "../..", traits: []),
        .package(name: "Fleet", path: "../../Fleet"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "FleetService",
            dependencies: [
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "EspalierFleet", package: "Fleet"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
