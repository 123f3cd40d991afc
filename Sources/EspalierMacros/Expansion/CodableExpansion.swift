#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Generates what `@Normalized(.codable)` adds, so that JSON has the names, the defaults and the
/// fields that records have.
///
/// The compiler writes the conformance from the `CodingKeys` that stand here. Only a type with
/// `@Stored(default:)` gets an `init(from:)`, because the compiler's own ignores the default.
struct CodableExpansion {
    private let model: ModelDeclaration

    /// Returns nil for a model that is not to be `Codable`.
    init?(_ model: ModelDeclaration) {
        guard model.arguments.isCodable else { return nil }
        self.model = model
    }

    /// The declarations that stand in the type.
    var members: [String] {
        let own = model.kind == .finalClass ? [initializer] : []
        return ([codingKeys] + own).compactMap(\.self) + defaults
    }

    /// The initializer of a struct, which would replace the memberwise one if it stood in the type.
    var initializerOfStruct: String? { model.kind == .structure ? initializer : nil }

    private var codingKeys: String? {
        guard !model.own.contains(.codingKeys) else { return nil }
        let names =
            model.kind == .enumeration
            ? model.cases.map { ($0.name, $0.bareName, $0.storedName) }
            : model.storedMembers.map { ($0.name, $0.bareName, $0.storedName) }
        let cases = names.map { name, bareName, storedName in
            let value = storedName ?? bareName
            return "case \(name)" + (value == bareName ? "" : " = \(Code.literal(value))")
        }
        // An enum without cases can't have raw values.
        let inherited = cases.isEmpty ? "Swift.CodingKey" : "Swift.String, Swift.CodingKey"
        return Code.block("fileprivate enum CodingKeys: \(inherited)", cases)
    }

    private var initializer: String? {
        guard !model.own.contains(.decodable), !defaultedMembers.isEmpty else { return nil }
        let lines = model.storedMembers.map { member in
            let value = "try \(Code.modelMembers).decoded(values, .\(member.name))"
            guard let function = functions[member.bareName] else {
                return "self.\(member.name) = \(value)"
            }
            // A class can't use `Self` before all properties are set, and an extension may not see
            // the name.
            let type = model.kind == .finalClass ? model.name : "Self"
            let other = "\(type).\(function)()"
            return "self.\(member.name) = values.contains(.\(member.name)) ? \(value) : \(other)"
        }
        return model.declaration(
            "init(from decoder: any Swift.Decoder) throws",
            ["let values = try decoder.container(keyedBy: CodingKeys.self)"] + lines)
    }

    private var defaultedMembers: [Member] {
        model.storedMembers.filter { $0.attribute.defaultExpression != nil }
    }

    /// The names of the functions that return the default values, by those of the members.
    private var functions: [String: String] {
        Dictionary(
            defaultedMembers.enumerated().map { ($1.bareName, "defaultValue\($0)") }
        ) { first, _ in first }
    }

    /// Functions in the type, because an extension may not see the names in the expressions.
    private var defaults: [String] {
        guard initializer != nil else { return [] }
        return defaultedMembers.compactMap { member -> String? in
            guard let function = functions[member.bareName],
                let value = member.attribute.defaultExpression
            else { return nil }
            return model.declaration(
                "static func \(function)() -> \(model.typeInBuilder(of: member))",
                access: .fileprivate,
                ["return \(value.replacingSelf(with: model.name))"])
        }
    }
}

extension ModelDeclaration {
    /// Attributes that `JSONEncoder` and `JSONDecoder` do not follow: the type is `Codable`, and
    /// the compiler writes its conformance, which knows nothing of them.
    var codingWarnings: [Diagnostic] {
        let inherited = node.inheritanceClause?.inheritedTypes.map { type in
            type.type.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
        }
        let isDecodable = inherited?.contains { ["Codable", "Decodable"].contains($0) } == true
        let isEncodable = inherited?.contains { ["Codable", "Encodable"].contains($0) } == true
        let readsItself = !isDecodable || own.contains(.decodable)
        let writesItself = !isEncodable || own.contains(.encodable)
        guard !arguments.isCodable, !readsItself || !writesItself else { return [] }
        let hasKeys = own.contains(.codingKeys)
        return members.compactMap { member in
            let attribute = member.attribute
            if let node = attribute.stored, attribute.defaultExpression != nil, !readsItself {
                return Self.codingWarning(at: node, "@Stored(default:)", "JSONDecoder does")
            }
            // The names in CodingKeys are those of JSON, too.
            guard !hasKeys else { return nil }
            if let node = attribute.stored, attribute.nameExpression != nil {
                return Self.codingWarning(
                    at: node, "@Stored", "JSONDecoder and JSONEncoder do")
            }
            guard let node = attribute.notStored, !writesItself else { return nil }
            return Self.codingWarning(at: node, "@NotStored", "JSONEncoder does")
        }
    }

    private static func codingWarning(
        at node: AttributeSyntax, _ attribute: String, _ who: String
    ) -> Diagnostic {
        .warning(
            "coding", at: node,
            """
            \(who) not follow \(attribute), because the compiler writes the conformance to \
            Codable: use @Normalized(.codable), and remove the conformance
            """)
    }
}
#endif
