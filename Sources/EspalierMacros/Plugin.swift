#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        NormalizedMacro.self, StoredMacro.self, NotStoredMacro.self,
    ]
}
#else
/// The plugin of a package whose trait `Macros` is off: a macro target can't be left out.
@main
struct Disabled {
    static func main() {}
}
#endif
