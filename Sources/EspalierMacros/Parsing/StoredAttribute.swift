#if Macros
import SwiftSyntax

/// The attributes of a member, as far as storing is concerned.
struct StoredAttribute {
    /// `@Stored(...)`.
    let stored: AttributeSyntax?
    /// `@NotStored`.
    let notStored: AttributeSyntax?
    /// What looks like a property wrapper: an attribute that the language does not have.
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
        // The language's own begin with a small letter; global actors that of the main thread apart
        // are not for models.
        wrapper = all.first {
            !["Stored", "NotStored", "MainActor", "NSCopying", "IBInspectable", "IBOutlet"]
                .contains($0.simpleName)
                && $0.simpleName.first?.isUppercase == true
        }
        let arguments = stored?.arguments?.as(LabeledExprListSyntax.self)
        nameExpression = arguments?.first { $0.label == nil }?.expression
        defaultExpression = arguments?.first { $0.label?.text == "default" }?.expression
    }

    /// The name, if it is a plain literal.
    var name: String? { nameExpression?.literalText }
}

extension AttributeSyntax {
    /// `Stored` for `@Stored` and `@Espalier.Stored`.
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
#endif
