#if Macros
import SwiftSyntax

extension TypeSyntax {
    /// The type in a pair of parentheses.
    var parenthesized: TypeSyntax? {
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
            let element = tuple.elements.first,
            element.firstName == nil
        else { return nil }
        return element.type
    }

    /// Name and arguments of `Array<Int>` and `Swift.Array<Int>`.
    var generic: (name: String, arguments: [TypeSyntax])? {
        let clause: GenericArgumentClauseSyntax?
        let name: String
        if let type = self.as(IdentifierTypeSyntax.self) {
            (name, clause) = (type.name.text, type.genericArgumentClause)
        } else if let type = self.as(MemberTypeSyntax.self),
            type.baseType.trimmedDescription == "Swift"
        {
            (name, clause) = (type.name.text, type.genericArgumentClause)
        } else {
            return nil
        }
        guard let clause else { return nil }
        return (
            name,
            clause.arguments.compactMap { TypeSyntax("\(raw: $0.argument.trimmedDescription)") }
        )
    }

    /// Whether an optional is what the syntax shows.
    var isOptional: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
            || generic?.name == "Optional" || parenthesized?.isOptional == true
    }

    var isFunction: Bool {
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.isFunction }
        return self.is(FunctionTypeSyntax.self) || parenthesized?.isFunction == true
    }

    func mentions(_ name: String) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { $0.text == name }
    }

    /// Scalars of the standard library, and lists of them: no models, whatever else there is in the
    /// module.
    var isScalar: Bool {
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.isScalar }
        if let type = self.as(ArrayTypeSyntax.self) { return type.element.isScalar }
        guard let type = self.as(IdentifierTypeSyntax.self), type.genericArgumentClause == nil
        else { return false }
        return Self.scalars.contains(type.name.text)
    }

    private static let scalars: Set<String> = [
        "Bool", "String", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
        "UInt8", "UInt16",
        "UInt32",
        "UInt64",
    ]

    /// The type as an expression may name it: an optional for `T!`, which only declarations may
    /// have.
    var unforced: TypeSyntax {
        self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map {
            "\(raw: $0.wrappedType.trimmedDescription)?"
        } ?? self
    }
}

extension SyntaxProtocol {
    /// The text with `Self` as `name`, so that it means the same inside another type.
    func replacingSelf(with name: String) -> String {
        trimmed.tokens(viewMode: .sourceAccurate).map { token in
            token.tokenKind == .keyword(.Self)
                ? token.with(\.tokenKind, .identifier(name)).description : token.description
        }.joined()
    }
}
#endif
