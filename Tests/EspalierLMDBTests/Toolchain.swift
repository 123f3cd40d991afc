import Foundation

/// The compiler, and the module as it was built for these tests.
enum Toolchain {
    static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(
        separator: ":"
    )
    .map { $0 + "/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Beside the test bundle, which is where SwiftPM puts the modules.
    static let modules: String? = {
        #if os(Linux)
        let executable = "/proc/self/exe"
        #else
        let executable = CommandLine.arguments[0]
        #endif
        var folder = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            let modules = folder.appendingPathComponent("Modules").path
            if FileManager.default.fileExists(atPath: modules + "/EspalierLMDB.swiftmodule") {
                return modules
            }
        }
        return nil
    }()

    static var isUsable: Bool { compiler != nil && modules != nil }
}
