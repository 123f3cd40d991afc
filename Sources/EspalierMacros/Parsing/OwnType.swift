#if Macros
import SwiftSyntax

/// The type that has the macro, as its own members may write it.
struct OwnType {
    /// From the outermost type in sight to this one.
    private let path: [String]
    private let parameters: [String]

    init(_ declaration: some DeclGroupSyntax, in lexicalContext: [Syntax]) {
        let names = ([Syntax(declaration)] + lexicalContext).map(Self.names)
        path = names.reversed().flatMap(\.self)
        parameters =
            declaration.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause?
            .parameters
            .map(\.name.text) ?? []
    }

    /// Whether the function is what `Equatable` asks for: a `==` of something else would be called
    /// by itself without end.
    func isEquality(_ function: FunctionDeclSyntax) -> Bool {
        let operands = function.signature.parameterClause.parameters
        let result = function.signature.returnClause?.type.names?.last?.name
        return operands.count == 2 && operands.allSatisfy { isWritten($0.type) } && result == "Bool"
    }

    /// Whether `type` is this one: `Self`, or its name, after those of types around it and with its
    /// own parameters or none.
    func isWritten(_ type: TypeSyntax) -> Bool {
        if let type = type.as(AttributedTypeSyntax.self) { return isWritten(type.baseType) }
        if let inner = type.parenthesized { return isWritten(inner) }
        guard let names = type.names, let last = names.last else { return false }
        if names.count == 1, last.name == "Self" { return true }
        return path.suffix(names.count) == names.map(\.name)[...]
            && names.dropLast().allSatisfy(\.arguments.isEmpty)
            && (last.arguments.isEmpty || last.arguments == parameters)
    }

    private static func names(of declaration: Syntax) -> [String] {
        if let type = declaration.as(ExtensionDeclSyntax.self)?.extendedType {
            return type.names?.map(\.name) ?? []
        }
        return declaration.asProtocol((any NamedDeclSyntax).self).map { [$0.name.bareText] } ?? []
    }
}

extension TypeSyntax {
    /// The names in `Feed.Page<Item>`, with what they are generic over; nil for what is not written
    /// with names.
    fileprivate var names: [(name: String, arguments: [String])]? {
        if let type = self.as(IdentifierTypeSyntax.self) {
            return [(type.name.bareText, Self.texts(type.genericArgumentClause))]
        }
        guard let type = self.as(MemberTypeSyntax.self), let base = type.baseType.names else {
            return nil
        }
        return base + [(type.name.bareText, Self.texts(type.genericArgumentClause))]
    }

    private static func texts(_ clause: GenericArgumentClauseSyntax?) -> [String] {
        clause?.arguments.map { $0.argument.trimmedDescription } ?? []
    }
}
#endif
