// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses the cache fetches a web server.
let package = Package(
    name: "Server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Espalier", path: "../..", traits: ["Macros", "Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Espalier", package: "Espalier"),
                .product(name: "EspalierServer", package: "Espalier"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
