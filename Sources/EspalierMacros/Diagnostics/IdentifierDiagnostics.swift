#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in what decides the identifiers of a model: the arguments of `@Normalized`, `id`
/// and `modelIdentifier`.
extension ModelDeclaration {
    var identifierProblems: [Diagnostic] {
        let problems: [Diagnostic?] =
            if let modelIdentifier {
                [argumentProblem, typeProblem(ofOwn: modelIdentifier)]
            } else if arguments.identifier != nil {
                [argumentProblem]
            } else {
                [
                    argumentProblem, optionalIdentifierProblem, unstoredIdentifierProblem,
                    genericContextProblem,
                ]
            }
        return problems.compactMap(\.self)
    }

    // MARK: Arguments

    private var argumentProblem: Diagnostic? {
        if own.contains(.modelIdentifier), let argument = arguments.type ?? arguments.identifier {
            return unusedArgument(argument)
        }
        if let type = arguments.type {
            guard arguments.identifier != nil else { return typeArgumentProblem(type) }
            return Diagnostic(
                "typeAndIdentifier", at: type,
                """
                'type:' and 'identifier:' exclude each other, because 'identifier:' gives \
                the whole identifier: remove one of them
                """)
        }
        guard let identifier = arguments.identifier, arguments.identifierPath == nil else {
            return nil
        }
        return Diagnostic(
            "identifierPath", at: identifier,
            "'identifier:' must be a key path of properties, such as \\.urn")
    }

    private func unusedArgument(_ argument: ExprSyntax) -> Diagnostic {
        let bare = AttributeSyntax(attributeName: attribute.attributeName.trimmed)
            .with(\.leadingTrivia, attribute.leadingTrivia)
            .with(\.trailingTrivia, attribute.trailingTrivia)
        return Diagnostic(
            "unusedArgument", at: argument,
            """
            this argument has no effect, because '\(name)' defines 'modelIdentifier': \
            remove one of them
            """, fixIt: .replacing(attribute, with: bare, "remove the argument"))
    }

    private func typeArgumentProblem(_ type: ExprSyntax) -> Diagnostic? {
        guard let text = type.literalText else {
            return Diagnostic(
                "typeLiteral", at: type, "'type:' must be a string literal without interpolations")
        }
        if text.isEmpty {
            return Diagnostic(
                "emptyType", at: type,
                """
                'type:' must not be empty, because identifiers of different types would \
                collide: remove it to use '\(name)'
                """, fixIt: .replacing(type, withLiteral: name))
        }
        guard !own.contains(.identifier) else { return nil }
        return Diagnostic(
            "typeWithoutIdentifier", at: type,
            """
            'type:' is the prefix of an identifier, and '\(name)' has no 'id': add one, \
            or name another property with @Normalized(identifier:)
            """)
    }

    // MARK: Properties

    private func typeProblem(ofOwn modelIdentifier: PatternBindingSyntax) -> Diagnostic? {
        let type = modelIdentifier.typeAnnotation?.type
        let text = type?.trimmedDescription.replacing("Swift.", with: "")
        guard text != "String?", text != "Optional<String>" else { return nil }
        let fixIt = type.map {
            FixIt.replacing(
                $0, with: TypeSyntax("String?").with(\.trailingTrivia, $0.trailingTrivia),
                "replace with 'String?'")
        }
        return Diagnostic(
            "identifierType", at: type.map(Syntax.init) ?? Syntax(modelIdentifier.pattern),
            "'modelIdentifier' must be a String?: the cache ignores a property of another type",
            fixIt: fixIt)
    }

    private var optionalIdentifierProblem: Diagnostic? {
        guard let type = id?.typeAnnotation?.type, type.isOptional else { return nil }
        let message = """
            an 'id' that is nil identifies no record: remove the '?', or use \
            @Normalized(identifier: \\.id), which makes the text of 'id' the whole identifier and \
            stores a value without one in its parent
            """
        let fixIt = type.as(OptionalTypeSyntax.self).map {
            FixIt.replacing(
                type, with: $0.wrappedType.with(\.trailingTrivia, type.trailingTrivia),
                "remove '?'")
        }
        return Diagnostic("optionalIdentifier", at: type, message, fixIt: fixIt)
    }

    /// Each read would make a model with another `id` than that of its record.
    private var unstoredIdentifierProblem: Diagnostic? {
        guard let id, !id.isComputed,
            members.first(where: { $0.bareName == "id" })?.storedName == nil,
            let value = id.initializer?.value, let call = id.leadingCall
        else { return nil }
        let callee = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
        let type =
            id.typeAnnotation?.type.trimmedDescription
            ?? (value.is(FunctionCallExprSyntax.self) ? callee : nil)
            .flatMap { $0.first?.isUppercase == true ? $0 : nil }
        return Diagnostic(
            "unstoredIdentifier", at: id.pattern,
            """
            this 'id' is not stored, and '\(value.trimmedDescription)' makes another one at each \
            read: declare it as a stored property that initializers set\
            \(type.map { ", such as 'let id: \($0)'" } ?? "")
            """)
    }

    /// Two instantiations of the outer type would overwrite each other's records.
    private var genericContextProblem: Diagnostic? {
        guard isInGeneric, arguments.type == nil, own.contains(.identifier) else { return nil }
        return Diagnostic(
            "genericContext", at: attribute,
            """
            '\(name)' is nested in a generic type, whose arguments are not in its \
            identifiers: move it out, define 'modelIdentifier', or use @Normalized(type: \
            "...") to share the records between all arguments
            """)
    }
}
#endif
