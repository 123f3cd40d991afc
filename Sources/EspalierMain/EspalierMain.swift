import EspalierCLI

/// The executable. All of the tool stands in a library: tests that import the module of an
/// executable are compiled before it is, now and then, in a package with macros.
@main
struct EspalierMain {
    @MainActor
    static func main() async { await Tool.main() }
}
