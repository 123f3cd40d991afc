#if Macros
import SwiftSyntax

extension Rendering {
    var modelIdentifier: DeclSyntax? {
        guard !model.own.contains(.modelIdentifier) else { return nil }
        return declaration("var modelIdentifier: Swift.String?", [identifierExpression])
    }

    /// The type's name, which the runtime takes longer to tell; what a generic type is named is
    /// known to it alone.
    var projectionIdentifier: DeclSyntax? {
        guard !model.own.contains(.projectionIdentifier), !model.isGeneric else { return nil }
        return declaration(
            "var projectionIdentifier: Swift.String", [Self.quoted(model.name.filter { $0 != "`" })]
        )
    }

    private var identifierExpression: String {
        if let path = model.arguments.identifierPath {
            // A `String!` would be taken for a `String`, and a nil for a mistake.
            if path.count == 1, let type = model.type(of: path[0]),
                type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
            {
                return
                    "\(Self.models).identifier(of: self.\(path[0]) as \(type.unforced.trimmedDescription))"
            }
            return "\(Self.models).identifier(of: self.\(path.joined(separator: ".")))"
        }
        guard model.own.contains(.identifier) else { return "nil" }
        let identifier = "\(Self.models).identifier(of: self.id)"
        if let type = model.arguments.type?.literalText {
            return "\(Self.quoted(type + ":")) + \(identifier)"
        }
        // What a generic type is named is known when the program runs: Page<Person> and
        // Page<Message> are two types.
        if model.isGeneric {
            return "\(Self.models).typeName(of: Self.self) + \":\" + \(identifier)"
        }
        return "\(Self.quoted(model.name.filter { $0 != "`" } + ":")) + \(identifier)"
    }
}
#endif
