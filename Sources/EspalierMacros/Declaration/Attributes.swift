#if Macros
import SwiftSyntax

/// The arguments of `@Normalized`.
struct NormalizedArguments {
    /// The expression in `@Normalized(type: "person")`.
    let type: ExprSyntax?
    /// The expression in `@Normalized(identifier: \.urn)`.
    let identifier: ExprSyntax?
    /// The expression in `@Normalized(policy: .merge)`.
    let policy: ExprSyntax?
    /// The expression in `@Normalized(maxAge: .hours(24))`.
    let maxAge: ExprSyntax?
    /// Whether the model is to be `Codable`, as `@Normalized(.codable)` asks for.
    let isCodable: Bool

    init(_ attribute: AttributeSyntax) {
        let arguments = attribute.arguments?.as(LabeledExprListSyntax.self)
        type = arguments?.first { $0.label?.text == "type" }?.expression
        identifier = arguments?.first { $0.label?.text == "identifier" }?.expression
        policy = arguments?.first { $0.label?.text == "policy" }?.expression
        maxAge = arguments?.first { $0.label?.text == "maxAge" }?.expression
        isCodable = arguments?.first { $0.label == nil } != nil
    }

    /// The property names along the key path; nil if the expression is no key path of properties.
    var identifierPath: [String]? {
        guard let components = identifier?.as(KeyPathExprSyntax.self)?.components,
            !components.isEmpty
        else { return nil }
        let names = components.map {
            $0.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text
        }
        guard names.allSatisfy({ $0 != nil }) else { return nil }
        return names.compactMap(\.self)
    }
}

/// The attributes of a property or case that decide how it is stored.
struct StoredAttribute {
    /// `@Stored(...)`.
    let stored: AttributeSyntax?
    /// `@NotStored`.
    let notStored: AttributeSyntax?
    /// All attributes `@Merged(...)`.
    let merged: [MergedAttribute]
    /// An attribute that looks like a property wrapper: its name is capitalized, and it is none of
    /// the language's own.
    let wrapper: AttributeSyntax?
    /// The expression of the name in `@Stored("name")`.
    let nameExpression: ExprSyntax?
    /// The expression in `@Stored(default: 0)`.
    let defaultExpression: ExprSyntax?

    init(_ attributes: AttributeListSyntax) {
        let all = attributes.compactMap { $0.as(AttributeSyntax.self) }
        func named(_ name: String) -> AttributeSyntax? { all.first { $0.simpleName == name } }
        stored = named("Stored")
        notStored = named("NotStored")
        merged = all.filter { $0.simpleName == "Merged" }.map(MergedAttribute.init)
        // Nearly all attributes of the language begin with a lowercase letter. Global actors other
        // than the main actor look like wrappers too; models don't use them.
        wrapper = all.first {
            !Self.notWrappers.contains($0.simpleName)
                && $0.simpleName.first?.isUppercase == true
        }
        let arguments = stored?.arguments?.as(LabeledExprListSyntax.self)
        nameExpression = arguments?.first { $0.label == nil }?.expression
        defaultExpression = arguments?.first { $0.label?.text == "default" }?.expression
    }

    private static let notWrappers: Set<String> = [
        "Stored", "NotStored", "Merged", "MainActor", "NSCopying", "IBInspectable", "IBOutlet",
    ]

    /// The stored name, if it is written as a plain literal.
    var name: String? { nameExpression?.literalText }
}

/// One attribute `@Merged(...)` with its rule.
struct MergedAttribute {
    let node: AttributeSyntax
    /// The rule as it is written; nil without an argument, which the compiler reports.
    let rule: ExprSyntax?

    init(_ node: AttributeSyntax) {
        self.node = node
        rule = node.arguments?.as(LabeledExprListSyntax.self)?.first?.expression
    }

    /// The name of the rule, such as `union`.
    var name: String? {
        let function = rule?.as(FunctionCallExprSyntax.self)?.calledExpression ?? rule
        return function?.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// The argument of `.newest(by:)`: a key path, or the stored name of a field.
    var stamp: ExprSyntax? {
        guard name == "newest" else { return nil }
        return rule?.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
    }

    /// The name of the property in `.newest(by: \.updatedAt)`; nil if the key path has several
    /// components, or if there is none.
    var stampProperty: String? {
        guard let components = stamp?.as(KeyPathExprSyntax.self)?.components, components.count == 1
        else { return nil }
        return components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
            .declName.baseName.bareText
    }

    /// Returns the rule as an expression in the type. `storedName` returns the stored name of a
    /// property.
    func expression(_ storedName: (String) -> String?) -> String {
        if let property = stampProperty {
            return ".newest(by: \(Code.literal(storedName(property) ?? property)))"
        }
        return rule?.trimmedDescription ?? ".overwrite"
    }
}

/// The stored names in a `CodingKeys` enum of the type, so that the type has the records that its
/// `Codable` conformance would write.
struct CodingKeysTable {
    private let names: [String: String]

    /// Returns nil if the type has no enum of this name.
    init?(named name: String, in members: MemberBlockItemListSyntax) {
        let found = members.lazy.compactMap { $0.decl.as(EnumDeclSyntax.self) }.first {
            $0.name.text == name
        }
        guard let found else { return nil }
        var names: [String: String] = [:]
        for item in found.memberBlock.members {
            for element in item.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
                let key = element.name.bareText
                names[key] = element.rawValue?.value.literalText ?? key
            }
        }
        self.names = names
    }

    /// Returns the stored name of a member, or nil if the enum omits the member.
    func storedName(of member: String) -> String? { names[member] }
}

extension AttributeSyntax {
    /// `Stored` for `@Stored` and for `@Espalier.Stored`.
    var simpleName: String {
        if let type = attributeName.as(MemberTypeSyntax.self) { return type.name.text }
        return attributeName.as(IdentifierTypeSyntax.self)?.name.text
            ?? attributeName.trimmedDescription
    }
}

extension ExprSyntax {
    /// The text of a string literal without interpolations.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}

extension TokenSyntax {
    /// The name without backticks.
    var bareText: String { identifier?.name ?? text }
}
#endif
