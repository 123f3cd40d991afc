#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Normalized`: reads the declaration into a `ModelDeclaration`, which `Validation` judges and
/// `Rendering` writes out.
///
/// All but a struct's initialisers stands in the type itself, where the names its members' types
/// are written with mean the same; an extension of a nested type doesn't see the types around it. A
/// struct's initialisers stand in the extension, so that the struct keeps its memberwise
/// initialiser.
package struct NormalizedMacro {
    private static func model(
        _ attribute: AttributeSyntax, _ declaration: some DeclGroupSyntax,
        _ context: some MacroExpansionContext
    ) -> ModelDeclaration {
        ModelDeclaration(declaration, attribute: attribute, lexicalContext: context.lexicalContext)
    }
}

extension NormalizedMacro: MemberMacro {
    package static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let model = model(node, declaration, context)
        let problems = Validation(model).problems
        // Said here and not again when the extension is made.
        for problem in problems { context.diagnose(problem) }
        return problems.isEmpty ? Rendering(model).members : []
    }
}

extension NormalizedMacro: ExtensionMacro {
    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let model = model(node, declaration, context)
        guard Validation(model).problems.isEmpty else { return [] }
        return try Rendering(model).extensions(of: type.trimmedDescription, conformingTo: protocols)
    }
}
#endif
