// swift-tools-version: 6.2
import PackageDescription

// The attacks are a package of their own: nothing of them enters the library, and they use only its
// public interface. The build leaves out swift-syntax, and takes two minutes.
//
// The trait `CommandLine` adds the tool, through which the attack `input` imports its documents.
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
