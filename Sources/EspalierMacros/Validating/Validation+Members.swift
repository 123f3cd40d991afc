#if Macros
import SwiftDiagnostics
import SwiftSyntax

extension Validation {
    var memberProblems: [Diagnostic] { model.members.compactMap(problem) }

    /// The first problem of a member: the others may come from it.
    private func problem(of member: Member) -> Diagnostic? {
        attributeProblem(of: member) ?? wrapperProblem(of: member) ?? defaultProblem(of: member)
            ?? typeProblem(of: member)
    }

    private func attributeProblem(of member: Member) -> Diagnostic? {
        let attribute = member.attribute
        guard let stored = attribute.stored else { return nil }
        if attribute.notStored != nil {
            return Self.problem(
                "storedAndNot", at: stored,
                "@Stored and @NotStored exclude each other: '\(member.bareName)' is either stored or not"
            )
        }
        guard let expression = attribute.nameExpression else { return nil }
        guard let name = attribute.name else {
            return Self.problem(
                "storedLiteral", at: expression,
                "@Stored takes a string literal without interpolations")
        }
        guard name.isEmpty else { return nil }
        return Self.problem(
            "emptyName", at: expression,
            "a field needs a name; without @Stored it is '\(member.bareName)'",
            fixIt: .replacing(
                expression, with: ExprSyntax("\"\(raw: member.bareName)\""),
                "replace by \"\(member.bareName)\""))
    }

    private func wrapperProblem(of member: Member) -> Diagnostic? {
        guard member.attribute.notStored == nil else { return nil }
        if let wrapper = member.attribute.wrapper {
            return Self.problem(
                "wrapper", at: wrapper,
                """
                @Normalized can't make a property with a wrapper: store a plain '\(member.bareName)', or write @NotStored \
                and give it a default value
                """)
        }
        guard let modifier = member.modifier else { return nil }
        let reason =
            modifier.name.text == "lazy"
            ? "a lazy property changes when it is read, and models don't change"
            : "a model holds its children itself, and \(modifier.name.text) references nothing that can be stored"
        return Self.problem(
            "modifier", at: modifier,
            "\(reason): compute '\(member.bareName)', or write @NotStored before it")
    }

    private func defaultProblem(of member: Member) -> Diagnostic? {
        guard member.storedName == nil, !member.hasDefault, member.modifier?.name.text != "weak"
        else { return nil }
        let why =
            member.isLeftOutOfCodingKeys
            ? "CodingKeys leave '\(member.bareName)' out" : "@NotStored"
        return Self.problem(
            "noDefault", at: member.binding,
            "\(why), so a model read from the cache needs a default value for it",
            fixIt: Self.givingDefault(member))
    }

    // A constant with a value would be the same in every model, and no member.
    private static func givingDefault(_ member: Member) -> FixIt {
        var changes: [FixIt.Change] = []
        var messages: [String] = []
        if !member.isVariable,
            let specifier = member.binding.parent?.parent?.as(VariableDeclSyntax.self)?
                .bindingSpecifier
        {
            changes.append(
                .replace(
                    oldNode: Syntax(specifier),
                    newNode: Syntax(specifier.with(\.tokenKind, .keyword(.var)))))
            messages.append("replace 'let' by 'var'")
        }
        if member.type?.isOptional != true {
            changes.append(
                .replace(
                    oldNode: Syntax(member.binding), newNode: Syntax(member.binding.withDefault)))
            messages.append("insert ' = <#default#>'")
        }
        let message = messages.joined(separator: " and ")
        return FixIt(message: Remedy(message: message, id: message), changes: changes)
    }

    private func typeProblem(of member: Member) -> Diagnostic? {
        guard let type = member.type else {
            guard !member.isLeftAlone else { return nil }
            return Self.problem(
                "noType", at: member.binding.pattern,
                "write the type of '\(member.bareName)': @Normalized sees the text of its value, not its type"
            )
        }
        guard member.storedName != nil else { return nil }
        return typeProblem(type, of: "'\(member.bareName)'")
    }

    func typeProblem(_ type: TypeSyntax, of what: String) -> Diagnostic? {
        if let unstorable = type.unstorable {
            return Self.problem(
                "unstorable", at: type,
                """
                \(what) can't be stored: \(unstorable) is neither a FieldValue nor Codable. Use a type that is, or write \
                @NotStored
                """)
        }
        guard
            let parameter = model.parameters.first(where: {
                $0.constraints.isEmpty && type.mentions($0.name)
            })
        else {
            return nil
        }
        let name = parameter.name
        return Self.problem(
            "unconstrained", at: type,
            """
            \(what) has a type with '\(name)', of which nothing is known: a model in it would be stored as a part of its \
            parent. Constrain '\(name)' to NormalizedModel & Model; to FieldValue or Codable if it is never a model
            """,
            fixIt: parameter.node.map(Self.constraining))
    }

    private static func constraining(_ parameter: GenericParameterSyntax) -> FixIt {
        let constrained = parameter.with(\.name, .identifier(parameter.name.text))
            .with(\.colon, .colonToken(trailingTrivia: .space)).with(
                \.inheritedType, "NormalizedModel & Model"
            )
            .with(\.trailingTrivia, parameter.trailingTrivia)
        return .replacing(parameter, with: constrained, "insert ': NormalizedModel & Model'")
    }

    // MARK: Names

    var storedNameProblems: [Diagnostic] {
        var first: [String: Member] = [:]
        return model.storedMembers.compactMap { member in
            guard let name = member.storedName else { return nil }
            guard let earlier = first[name] else {
                first[name] = member
                return nil
            }
            // Said where a name was chosen; of two properties one has a chosen one.
            let node =
                member.attribute.nameExpression.map(Syntax.init) ?? earlier.attribute.nameExpression
                .map(Syntax.init)
                ?? Syntax(member.binding.pattern)
            return Self.problem(
                "sameName", at: node,
                "'\(earlier.bareName)' and '\(member.bareName)' are both stored as \"\(name)\": give one another name"
            )
        }
    }
}

extension PatternBindingSyntax {
    /// With a place for a value, before a comment on the same line.
    fileprivate var withDefault: PatternBindingSyntax {
        let end = typeAnnotation?.trailingTrivia ?? pattern.trailingTrivia
        let insertion = InitializerClauseSyntax(
            equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
            value: ExprSyntax("<#default#>").with(\.trailingTrivia, end))
        return with(\.pattern, typeAnnotation == nil ? pattern.with(\.trailingTrivia, []) : pattern)
            .with(\.typeAnnotation, typeAnnotation?.with(\.trailingTrivia, [])).with(
                \.initializer, insertion)
    }
}

extension TypeSyntax {
    /// What in the type can't be stored, whatever the types in it are.
    fileprivate var unstorable: String? {
        if self.is(FunctionTypeSyntax.self) { return "a function" }
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.unstorable }
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.unstorable }
        if let type = self.as(ArrayTypeSyntax.self) { return type.element.unstorable }
        if let type = self.as(DictionaryTypeSyntax.self) { return type.value.unstorable }
        if let inner = parenthesized { return inner.unstorable }
        if self.is(TupleTypeSyntax.self) { return "a tuple" }
        if self.is(MetatypeTypeSyntax.self) { return "a type" }
        let text = trimmedDescription
        return ["Any", "AnyObject", "any Any", "any AnyObject", "any Sendable"].contains(text)
            ? "'\(text)'" : nil
    }
}
#endif
