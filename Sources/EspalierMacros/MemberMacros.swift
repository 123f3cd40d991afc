#if Macros
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Stored`: only says something to `@Normalized`, which reads it.
package struct StoredMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// `@NotStored`: only says something to `@Normalized`, which reads it.
package struct NotStoredMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}
#endif
