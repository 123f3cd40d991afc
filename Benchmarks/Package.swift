// swift-tools-version: 6.2
import PackageDescription

// Benchmarks are a package of their own, so that what they are compared with never enters the library's graph.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Espalier", path: "..")],
    targets: [
        .executableTarget(name: "Writing", dependencies: [.product(name: "Espalier", package: "Espalier")])
    ]
)
