#if CommandLine
import EspalierCLI

/// The executable. The tool itself is a library: in a package with macros, SwiftPM sometimes
/// compiles tests that import the module of an executable before the executable.
@main
struct EspalierMain {
    @MainActor
    static func main() async { await Tool.main() }
}
#else
import Foundation

/// Says how to build the tool. SwiftPM cannot leave out a target that a trait does not enable.
@main
struct EspalierMain {
    static func main() {
        let message = """
            espalier: this build has no command-line tool, because its trait is off. Build it with
                swift build -c release --traits CommandLine --product espalier
            or, in a checkout of Espalier, with
                make release

            """
        try? FileHandle.standardError.write(contentsOf: Data(message.utf8))
        exit(64)  // EX_USAGE of sysexits(3)
    }
}
#endif
