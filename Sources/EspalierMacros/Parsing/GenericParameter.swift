#if Macros
import SwiftSyntax

/// A generic parameter that the members of a type may mention.
struct GenericParameter {
    let name: String
    /// Nil for one of a type around it, whose text is out of a fix-it's reach.
    let node: GenericParameterSyntax?
    /// What it is constrained to, in the parameter list and the `where` clause.
    let constraints: [TypeSyntax]

    /// Those of `declaration` and of the types around it.
    static func all(of declaration: some SyntaxProtocol, in lexicalContext: [Syntax])
        -> [GenericParameter]
    {
        parameters(of: Syntax(declaration), isOwn: true)
            + lexicalContext.flatMap { parameters(of: $0, isOwn: false) }
    }

    private static func parameters(of declaration: Syntax, isOwn: Bool) -> [GenericParameter] {
        guard let declaration = declaration.asProtocol((any WithGenericParametersSyntax).self),
            let clause = declaration.genericParameterClause
        else { return [] }
        let requirements = (declaration.genericWhereClause?.requirements).map(Array.init) ?? []
        return clause.parameters.map { parameter in
            let name = parameter.name.text
            let further = requirements.compactMap { requirement -> TypeSyntax? in
                switch requirement.requirement {
                case .conformanceRequirement(let requirement)
                where requirement.leftType.trimmedDescription == name:
                    requirement.rightType
                case .sameTypeRequirement(let requirement)
                where requirement.leftType.trimmedDescription == name:
                    TypeSyntax("\(raw: requirement.rightType.trimmedDescription)")
                default: nil
                }
            }
            return GenericParameter(
                name: name, node: isOwn ? parameter : nil,
                constraints: (parameter.inheritedType.map { [$0] } ?? []) + further)
        }
    }
}
#endif
