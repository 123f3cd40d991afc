// swift-tools-version: 6.2
import PackageDescription

// Benchmarks are a package of their own, so that what they are compared with never enters the library's graph.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Espalier", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDBRaw", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "CAllocations"),
        .executableTarget(
            name: "Models",
            dependencies: [
                "CLMDBRaw", "CAllocations",
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
