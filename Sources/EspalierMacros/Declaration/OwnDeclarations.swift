#if Macros
import SwiftSyntax

/// The members that a type defines itself. The macro does not generate those.
enum OwnDeclaration {
    case modelIdentifier, projectionIdentifier, identifier, identifierPrefix, identifierOfID
    case map, forEach, equality, hash, merge, storedValue, encode, decode, builder, copy
    case encodeValue, sameEncoding
    /// Any initializer other than `init(from: inout RecordDecoder)`.
    case initializer
    /// `init(from: any Decoder)`, `encode(to: any Encoder)` and `CodingKeys`.
    case decodable, encodable, codingKeys

    static func all(in members: MemberBlockItemListSyntax, of type: OwnType) -> Set<Self> {
        Set(
            members.flatMap { item -> [Self?] in
                if let variable = item.decl.as(VariableDeclSyntax.self) {
                    return variable.bindings.map {
                        Self($0, isTypeProperty: variable.isTypeProperty)
                    }
                }
                if let function = item.decl.as(FunctionDeclSyntax.self) {
                    return [Self(function, in: type)]
                }
                if let initializer = item.decl.as(InitializerDeclSyntax.self) {
                    let first = initializer.signature.parameterClause.parameters.first?.type
                    if first?.mentions("RecordDecoder") == true { return [.decode] }
                    let isDecodable = first?.mentions("Decoder") == true
                    return isDecodable ? [.initializer, .decodable] : [.initializer]
                }
                switch item.decl.asProtocol((any NamedDeclSyntax).self)?.name.text {
                case "Builder": return [.builder]
                case "CodingKeys": return [.codingKeys]
                default: return []
                }
            }.compactMap(\.self))
    }

    private init?(_ binding: PatternBindingSyntax, isTypeProperty: Bool) {
        switch binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText {
        case "modelIdentifier" where !isTypeProperty: self = .modelIdentifier
        case "projectionIdentifier" where !isTypeProperty: self = .projectionIdentifier
        case "id" where !isTypeProperty: self = .identifier
        case "identifierPrefix" where isTypeProperty: self = .identifierPrefix
        default: return nil
        }
    }

    // A function replaces the generated one only if it has the same type. Any other function of the
    // name is an overload.
    private init?(_ function: FunctionDeclSyntax, in own: OwnType) {
        let parameters = function.signature.parameterClause.parameters
        let type = parameters.first?.type
        switch (function.name.bareText, parameters.map(\.firstName.text)) {
        case ("map", ["_"]) where type?.mentions("Model") == true: self = .map
        case ("forEach", ["_"]) where type?.mentions("Model") == true: self = .forEach
        case ("merge", ["_"]) where type?.mentions("Model") == true: self = .merge
        case ("==", _) where own.isEquality(function): self = .equality
        case ("hash", ["into"]) where type?.mentions("Hasher") == true: self = .hash
        case ("storedValue", ["_"]) where type?.mentions("String") == true: self = .storedValue
        case ("encode", ["to"]) where type?.mentions("RecordEncoder") == true: self = .encode
        case ("encode", ["to"]) where type?.mentions("Encoder") == true: self = .encodable
        case ("encodeValue", ["into"]): self = .encodeValue
        case ("hasSameEncoding", ["as"]): self = .sameEncoding
        case ("modelIdentifier", ["id"]): self = .identifierOfID
        case ("copy", ["_"]) where type?.isFunction == true: self = .copy
        default: return nil
        }
    }
}

/// The ways in which the members of a type may write the type itself.
struct OwnType {
    /// The names from the outermost visible type to this one.
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

    /// Returns whether the function is the requirement of `Equatable`.
    ///
    /// If the generated `==` called an operator of other types, it would call itself endlessly.
    func isEquality(_ function: FunctionDeclSyntax) -> Bool {
        let operands = function.signature.parameterClause.parameters
        let result = function.signature.returnClause?.type.names?.last?.name
        return operands.count == 2 && operands.allSatisfy { isWritten($0.type) } && result == "Bool"
    }

    /// Returns whether `type` is this type, written as `Self` or by name. The names of outer types
    /// may precede the name, and its own generic parameters may follow.
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
    /// The names in `Feed.Page<Item>` with their generic arguments; nil if the type is not written
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
