#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// What `@Normalized(...)` says, and `id`.
extension Validation {
    var argumentProblems: [Diagnostic] {
        let arguments = model.arguments
        if model.own.contains(.modelIdentifier),
            let argument = arguments.type ?? arguments.identifier
        {
            return [unusedArgument(argument)]
        }
        if let type = arguments.type {
            if arguments.identifier != nil {
                return [
                    Self.problem(
                        "typeAndIdentifier", at: type,
                        """
                        'type:' and 'identifier:' exclude each other: 'identifier:' takes the text of the property as the \
                        whole identifier
                        """)
                ]
            }
            return typeProblems(type)
        }
        guard let identifier = arguments.identifier, arguments.identifierPath == nil else {
            return []
        }
        return [
            Self.problem(
                "identifierPath", at: identifier,
                "'identifier:' takes a key path of properties, such as \\.urn")
        ]
    }

    private func unusedArgument(_ argument: ExprSyntax) -> Diagnostic {
        let attribute = model.attribute
        let bare = AttributeSyntax(attributeName: attribute.attributeName.trimmed)
            .with(\.leadingTrivia, attribute.leadingTrivia).with(
                \.trailingTrivia, attribute.trailingTrivia)
        return Self.problem(
            "unusedArgument", at: argument,
            "'\(model.name)' has a 'modelIdentifier' of its own, which this would not change: remove one of them",
            fixIt: .replacing(attribute, with: bare, "remove the argument"))
    }

    private func typeProblems(_ type: ExprSyntax) -> [Diagnostic] {
        guard let text = type.literalText else {
            return [
                Self.problem(
                    "typeLiteral", at: type, "'type:' takes a string literal without interpolations"
                )
            ]
        }
        if text.isEmpty {
            return [
                Self.problem(
                    "emptyType", at: type,
                    "an empty 'type:' would mix identifiers of different types; leave it out for '\(model.name)'",
                    fixIt: .replacing(
                        type, with: ExprSyntax("\"\(raw: model.name)\""),
                        "replace by \"\(model.name)\""))
            ]
        }
        guard !model.own.contains(.identifier) else { return [] }
        return [
            Self.problem(
                "typeWithoutIdentifier", at: type,
                """
                'type:' stands before an identifier, and '\(model.name)' has no 'id': give it one, or name another \
                property with @Normalized(identifier:)
                """)
        ]
    }

    var identifierProblems: [Diagnostic] {
        if let own = model.modelIdentifier { return ownIdentifierProblems(own) }
        guard model.arguments.identifier == nil else { return [] }
        return optionalIdentifierProblems + genericContextProblems
    }

    private func ownIdentifierProblems(_ own: PatternBindingSyntax) -> [Diagnostic] {
        let type = own.typeAnnotation?.type
        let text = type?.trimmedDescription.replacing("Swift.", with: "")
        guard text != "String?", text != "Optional<String>" else { return [] }
        let fixIt = type.map {
            FixIt.replacing(
                $0, with: TypeSyntax("String?").with(\.trailingTrivia, $0.trailingTrivia),
                "replace by 'String?'")
        }
        return [
            Self.problem(
                "identifierType", at: type.map(Syntax.init) ?? Syntax(own.pattern),
                "a 'modelIdentifier' is a String?: one of another type is not what the cache asks for",
                fixIt: fixIt)
        ]
    }

    // Two types that write each other's records.
    private var genericContextProblems: [Diagnostic] {
        guard model.isInGeneric, model.arguments.type == nil, model.own.contains(.identifier) else {
            return []
        }
        return [
            Self.problem(
                "genericContext", at: model.attribute,
                """
                '\(model.name)' stands in a generic type and has the same identifiers for whatever that is generic over: move it \
                out, write a 'modelIdentifier', or say with @Normalized(type: "...") that its records are the same, too
                """)
        ]
    }

    private var optionalIdentifierProblems: [Diagnostic] {
        guard let type = model.id?.typeAnnotation?.type, type.isOptional
        else { return [] }
        let message = """
            an 'id' that may be nil names no record; remove the '?', or write @Normalized(identifier: \\.id), which takes the \
            text of 'id' as the whole identifier and makes values without one parts of their parents
            """
        let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType
        let fixIt = wrapped.map {
            FixIt.replacing(
                type, with: $0.with(\.trailingTrivia, type.trailingTrivia), "remove '?'")
        }
        return [Self.problem("optionalIdentifier", at: type, message, fixIt: fixIt)]
    }
}
#endif
