#if Macros
import SwiftSyntax

/// The members that a type defines itself. The macro does not generate those.
struct OwnDeclarations: OptionSet {
    let rawValue: Int

    static let modelIdentifier = OwnDeclarations(rawValue: 1 << 0)
    static let map = OwnDeclarations(rawValue: 1 << 1)
    static let forEach = OwnDeclarations(rawValue: 1 << 2)
    static let equality = OwnDeclarations(rawValue: 1 << 3)
    static let hash = OwnDeclarations(rawValue: 1 << 4)
    static let merge = OwnDeclarations(rawValue: 1 << 5)
    static let storedValue = OwnDeclarations(rawValue: 1 << 6)
    static let encode = OwnDeclarations(rawValue: 1 << 7)
    static let decode = OwnDeclarations(rawValue: 1 << 8)
    static let builder = OwnDeclarations(rawValue: 1 << 9)
    static let copy = OwnDeclarations(rawValue: 1 << 10)
    static let identifier = OwnDeclarations(rawValue: 1 << 11)
    /// Any initializer other than `init(from: inout RecordDecoder)`.
    static let initializer = OwnDeclarations(rawValue: 1 << 12)
    static let projectionIdentifier = OwnDeclarations(rawValue: 1 << 13)

    init(rawValue: Int) { self.rawValue = rawValue }

    init(_ members: MemberBlockItemListSyntax, of type: OwnType) {
        self = []
        for item in members {
            if let variable = item.decl.as(VariableDeclSyntax.self), !variable.isTypeProperty {
                for binding in variable.bindings { formUnion(Self.of(binding)) }
            } else if let function = item.decl.as(FunctionDeclSyntax.self) {
                formUnion(Self.of(function, in: type))
            } else if let initializer = item.decl.as(InitializerDeclSyntax.self) {
                let decodes = initializer.signature.parameterClause.parameters.first?.type.mentions(
                    "RecordDecoder")
                insert(decodes == true ? .decode : .initializer)
            } else if item.decl.asProtocol((any NamedDeclSyntax).self)?.name.text == "Builder" {
                insert(.builder)
            }
        }
    }

    private static func of(_ binding: PatternBindingSyntax) -> OwnDeclarations {
        switch binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText {
        case "modelIdentifier": .modelIdentifier
        case "projectionIdentifier": .projectionIdentifier
        case "id": .identifier
        default: []
        }
    }

    // A function replaces the generated one only if it has the same type. Any other function of the
    // name is an overload.
    private static func of(_ function: FunctionDeclSyntax, in own: OwnType) -> OwnDeclarations {
        let parameters = function.signature.parameterClause.parameters
        let type = parameters.first?.type
        switch (function.name.bareText, parameters.map(\.firstName.text)) {
        case ("map", ["_"]) where type?.mentions("Model") == true: return .map
        case ("forEach", ["_"]) where type?.mentions("Model") == true: return .forEach
        case ("merge", ["_"]) where type?.mentions("Model") == true: return .merge
        case ("==", _) where own.isEquality(function): return .equality
        case ("hash", ["into"]) where type?.mentions("Hasher") == true: return .hash
        case ("storedValue", ["_"]) where type?.mentions("String") == true: return .storedValue
        case ("encode", ["to"]) where type?.mentions("RecordEncoder") == true: return .encode
        case ("copy", ["_"]) where type?.isFunction == true: return .copy
        default: return []
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
