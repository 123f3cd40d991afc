#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// What `@Normalized(...)` says, and `id`.
extension Validation {
    var argumentProblems: [Diagnostic] {
        let arguments = model.arguments
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
        guard let identifier = arguments.identifier, arguments.identifierPath == nil else { return [] }
        return [
            Self.problem(
                "identifierPath", at: identifier, "'identifier:' takes a key path of properties, such as \\.urn")
        ]
    }

    private func typeProblems(_ type: ExprSyntax) -> [Diagnostic] {
        guard let text = type.literalText else {
            return [Self.problem("typeLiteral", at: type, "'type:' takes a string literal without interpolations")]
        }
        if text.isEmpty {
            return [
                Self.problem(
                    "emptyType", at: type,
                    "an empty 'type:' would mix identifiers of different types; leave it out for '\(model.name)'",
                    fixIt: .replacing(type, with: ExprSyntax("\"\(raw: model.name)\""), "replace by \"\(model.name)\""))
            ]
        }
        guard !model.own.contains(.identifier), !model.own.contains(.modelIdentifier) else { return [] }
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
        guard model.arguments.identifier == nil, !model.own.contains(.modelIdentifier),
            let type = model.id?.typeAnnotation?.type, type.isOptional
        else { return [] }
        let message = """
            an 'id' that may be nil names no record; remove the '?', or write @Normalized(identifier: \\.id), which takes the \
            text of 'id' as the whole identifier and makes values without one parts of their parents
            """
        let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType
        let fixIt = wrapped.map {
            FixIt.replacing(type, with: $0.with(\.trailingTrivia, type.trailingTrivia), "remove '?'")
        }
        return [Self.problem("optionalIdentifier", at: type, message, fixIt: fixIt)]
    }
}
#endif
