// swift-tools-version: 6.2
import PackageDescription

// The attacks are a package of their own: nothing of them enters the library, and they take nothing
// of the library but its public interface. Without swift-syntax, the build takes two minutes.
//
// The tool comes along, because the attack with mutated input goes through it.
let package = Package(
    name: "Torture",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Espalier", path: "../..", traits: ["CommandLine"])],
    targets: [
        .target(name: "CFaults"),
        .executableTarget(
            name: "torture",
            dependencies: ["CFaults", .product(name: "Espalier", package: "Espalier")],
            path: "Sources/Torture",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
