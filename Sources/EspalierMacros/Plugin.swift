#if Macros
import SwiftCompilerPlugin
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Offers the macros to the compiler.
@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        NormalizedMacro.self, StoredMacro.self, NotStoredMacro.self, MergedMacro.self,
    ]
}

/// Implements `@Normalized`.
///
/// The macro reads the declaration into a ``ModelDeclaration``. Its ``ModelDeclaration/problems``
/// say what is wrong with it, and ``ModelExpansion`` generates the code for one without problems.
///
/// Nearly all generated members stand in the type itself, because a name means there what it means
/// in the declarations of the user's properties; an extension of a nested type does not see the
/// types around it. Only the initializers of a struct stand in the extension, so that the struct
/// keeps its memberwise initializer.
package struct NormalizedMacro {
    /// The macro writes its code with line breaks and indentation. Formatting the code again took a
    /// quarter of the time that a model took to compile.
    package static var formatMode: FormatMode { .disabled }

    private static func model(
        _ attribute: AttributeSyntax, _ declaration: some DeclGroupSyntax,
        _ context: some MacroExpansionContext
    ) -> ModelDeclaration {
        ModelDeclaration(
            declaration, attribute: attribute, lexicalContext: context.lexicalContext
        ) { node in
            let location = context.location(
                of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
            return location.map {
                SourceLine(file: $0.file.trimmedDescription, line: $0.line.trimmedDescription)
            }
        }
    }
}

extension NormalizedMacro: MemberMacro {
    package static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let model = model(node, declaration, context)
        let problems = model.problems
        // Reported here only: the expansion of the extension would report them a second time.
        let warnings = model.codingWarnings + (problems.isEmpty ? model.constantWarnings : [])
        for problem in problems + warnings { context.diagnose(problem) }
        guard problems.isEmpty else { return [] }
        return ModelExpansion(model).members.map(DeclSyntax.init(unparsed:))
    }
}

extension NormalizedMacro: ExtensionMacro {
    package static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let model = model(node, declaration, context)
        guard model.problems.isEmpty else { return [] }
        // The extension may use the type only where the type and those around it are available.
        let places =
            [declaration.attributes]
            + context.lexicalContext.compactMap {
                $0.asProtocol((any WithAttributesSyntax).self)?.attributes
            }
        let availability = places.joined().compactMap { $0.as(AttributeSyntax.self) }.filter {
            $0.attributeName.trimmedDescription == "available"
        }
        return ModelExpansion(model).extensions(
            of: type.trimmedDescription, conformingTo: protocols, availability: availability)
    }
}

/// Implements `@Stored`, which generates nothing: ``NormalizedMacro`` reads the attribute.
package struct StoredMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// Implements `@NotStored`, which generates nothing: ``NormalizedMacro`` reads the attribute.
package struct NotStoredMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// Implements `@Merged`, which generates nothing: ``NormalizedMacro`` reads the attribute. Reports
/// an attribute that ``NormalizedMacro`` does not see.
package struct MergedMacro: PeerMacro {
    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let type = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
        let isRead = type?.attributes.contains {
            $0.as(AttributeSyntax.self)?.simpleName == "Normalized"
        }
        if isRead != true { context.diagnose(MergedAttribute.outsideProblem(at: node)) }
        return []
    }
}
#else
/// The plugin of a build without the trait `Macros`: SwiftPM can't leave out a macro target.
@main
struct DisabledPlugin {
    static func main() {}
}
#endif
