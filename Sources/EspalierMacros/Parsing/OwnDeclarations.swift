#if Macros
import SwiftSyntax

/// What a type defines itself, and what is therefore not generated.
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
    /// Any initialiser but that from a record.
    static let initializer = OwnDeclarations(rawValue: 1 << 12)

    static let projectionIdentifier = OwnDeclarations(rawValue: 1 << 13)

    init(rawValue: Int) { self.rawValue = rawValue }

    init(_ members: MemberBlockItemListSyntax, of type: OwnType) {
        self = []
        for item in members {
            if let variable = item.decl.as(VariableDeclSyntax.self), !variable.isOfTheType {
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

    // Only what has the type of the generated one: anything else of its name is an overload, and
    // stands beside it.
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
#endif
