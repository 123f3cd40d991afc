#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds mistakes in what decides the identifiers of a model: the arguments of `@Normalized`, `id`
/// and `modelIdentifier`.
struct IdentifierDiagnostics {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    var all: [Diagnostic] { argumentProblems + identifierProblems }

    // MARK: Arguments

    private var argumentProblems: [Diagnostic] {
        let arguments = model.arguments
        if model.own.contains(.modelIdentifier),
            let argument = arguments.type ?? arguments.identifier
        {
            return [unusedArgument(argument)]
        }
        if let type = arguments.type {
            if arguments.identifier != nil {
                return [
                    Diagnostic(
                        "typeAndIdentifier", at: type,
                        """
                        'type:' and 'identifier:' exclude each other, because 'identifier:' gives \
                        the whole identifier: remove one of them
                        """)
                ]
            }
            return typeProblems(type)
        }
        guard let identifier = arguments.identifier, arguments.identifierPath == nil else {
            return []
        }
        return [
            Diagnostic(
                "identifierPath", at: identifier,
                "'identifier:' must be a key path of properties, such as \\.urn")
        ]
    }

    private func unusedArgument(_ argument: ExprSyntax) -> Diagnostic {
        let attribute = model.attribute
        let bare = AttributeSyntax(attributeName: attribute.attributeName.trimmed)
            .with(\.leadingTrivia, attribute.leadingTrivia)
            .with(\.trailingTrivia, attribute.trailingTrivia)
        return Diagnostic(
            "unusedArgument", at: argument,
            """
            this argument has no effect, because '\(model.name)' defines 'modelIdentifier': \
            remove one of them
            """, fixIt: .replacing(attribute, with: bare, "remove the argument"))
    }

    private func typeProblems(_ type: ExprSyntax) -> [Diagnostic] {
        guard let text = type.literalText else {
            return [
                Diagnostic(
                    "typeLiteral", at: type,
                    "'type:' must be a string literal without interpolations")
            ]
        }
        if text.isEmpty {
            return [
                Diagnostic(
                    "emptyType", at: type,
                    """
                    'type:' must not be empty, because identifiers of different types would \
                    collide: remove it to use '\(model.name)'
                    """,
                    fixIt: .replacing(
                        type, with: ExprSyntax("\"\(raw: model.name)\""),
                        "replace with \"\(model.name)\""))
            ]
        }
        guard !model.own.contains(.identifier) else { return [] }
        return [
            Diagnostic(
                "typeWithoutIdentifier", at: type,
                """
                'type:' is the prefix of an identifier, and '\(model.name)' has no 'id': add one, \
                or name another property with @Normalized(identifier:)
                """)
        ]
    }

    // MARK: Properties

    private var identifierProblems: [Diagnostic] {
        if let own = model.modelIdentifier { return modelIdentifierProblems(own) }
        guard model.arguments.identifier == nil else { return [] }
        return optionalIdentifierProblems + genericContextProblems
    }

    private func modelIdentifierProblems(_ own: PatternBindingSyntax) -> [Diagnostic] {
        let type = own.typeAnnotation?.type
        let text = type?.trimmedDescription.replacing("Swift.", with: "")
        guard text != "String?", text != "Optional<String>" else { return [] }
        let fixIt = type.map {
            FixIt.replacing(
                $0, with: TypeSyntax("String?").with(\.trailingTrivia, $0.trailingTrivia),
                "replace with 'String?'")
        }
        return [
            Diagnostic(
                "identifierType", at: type.map(Syntax.init) ?? Syntax(own.pattern),
                "'modelIdentifier' must be a String?: the cache ignores a property of another type",
                fixIt: fixIt)
        ]
    }

    private var optionalIdentifierProblems: [Diagnostic] {
        guard let type = model.id?.typeAnnotation?.type, type.isOptional else { return [] }
        let message = """
            an 'id' that is nil identifies no record: remove the '?', or use \
            @Normalized(identifier: \\.id), which makes the text of 'id' the whole identifier and \
            stores a value without one in its parent
            """
        let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType
        let fixIt = wrapped.map {
            FixIt.replacing(
                type, with: $0.with(\.trailingTrivia, type.trailingTrivia), "remove '?'")
        }
        return [Diagnostic("optionalIdentifier", at: type, message, fixIt: fixIt)]
    }

    /// Two instantiations of the outer type would overwrite each other's records.
    private var genericContextProblems: [Diagnostic] {
        guard model.isInGeneric, model.arguments.type == nil, model.own.contains(.identifier) else {
            return []
        }
        return [
            Diagnostic(
                "genericContext", at: model.attribute,
                """
                '\(model.name)' is nested in a generic type, whose arguments are not in its \
                identifiers: move it out, define 'modelIdentifier', or use @Normalized(type: \
                "...") to share the records between all arguments
                """)
        ]
    }
}
#endif
