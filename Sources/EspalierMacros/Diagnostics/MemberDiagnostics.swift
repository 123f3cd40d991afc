#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds mistakes in the properties of a model.
struct MemberDiagnostics {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    var all: [Diagnostic] {
        declarationProblems + model.members.compactMap(problem) + storedNameProblems
    }

    // MARK: Declarations

    /// Declarations that the macro can't read as members.
    private var declarationProblems: [Diagnostic] {
        model.node.memberBlock.members.flatMap { item -> [Diagnostic] in
            if let variable = item.decl.as(VariableDeclSyntax.self) {
                return problems(of: variable)
            }
            guard let condition = item.decl.as(IfConfigDeclSyntax.self), condition.declaresMembers
            else { return [] }
            return [
                Diagnostic(
                    "conditionalMember",
                    at: condition.clauses.first?.poundKeyword ?? .poundEndifToken(),
                    """
                    @Normalized can't tell which of these members are compiled: declare them \
                    outside of #if, or the whole type in each branch
                    """)
            ]
        }
    }

    private func problems(of variable: VariableDeclSyntax) -> [Diagnostic] {
        let attribute = StoredAttribute(variable.attributes)
        let isConstant =
            variable.bindingSpecifier.tokenKind == .keyword(.let)
            && variable.bindings.allSatisfy { $0.initializer != nil }
        let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
        for (macro, node) in [("@Stored", attribute.stored), ("@NotStored", attribute.notStored)] {
            guard let node else { continue }
            let reason: String? =
                if variable.isTypeProperty {
                    "belongs to the type"
                } else if variable.bindings.contains(where: \.isComputed) {
                    "is computed"
                } else if isConstant && macro == "@Stored" {
                    "is a constant with the same value everywhere"
                } else {
                    nil
                }
            if let reason {
                return [
                    Diagnostic(
                        "notAMember", at: node,
                        "'\(name)' \(reason) and is never stored: remove \(macro)")
                ]
            }
        }
        guard !variable.isTypeProperty, !model.members.isEmpty || model.hasBuilder else {
            return []
        }
        return variable.bindings.filter { !$0.pattern.is(IdentifierPatternSyntax.self) }.map { _ in
            Diagnostic(
                "pattern", at: variable.bindingSpecifier,
                "@Normalized can't read a pattern: declare each property by itself")
        }
    }

    // MARK: Members

    /// Returns the first problem of a member, because it may cause the others.
    private func problem(of member: Member) -> Diagnostic? {
        attributeProblem(of: member) ?? wrapperProblem(of: member) ?? defaultProblem(of: member)
            ?? typeProblem(of: member)
    }

    private func attributeProblem(of member: Member) -> Diagnostic? {
        let attribute = member.attribute
        guard let stored = attribute.stored else { return nil }
        if attribute.notStored != nil {
            return Diagnostic(
                "storedAndNot", at: stored,
                "'\(member.bareName)' can't have both @Stored and @NotStored: remove one of them")
        }
        guard let expression = attribute.nameExpression else { return nil }
        guard let name = attribute.name else {
            return Diagnostic(
                "storedLiteral", at: expression,
                "the name in @Stored must be a string literal without interpolations")
        }
        guard name.isEmpty else { return nil }
        return Diagnostic(
            "emptyName", at: expression,
            "a stored name must not be empty: without @Stored it is '\(member.bareName)'",
            fixIt: .replacing(
                expression, with: ExprSyntax("\"\(raw: member.bareName)\""),
                "replace with \"\(member.bareName)\""))
    }

    private func wrapperProblem(of member: Member) -> Diagnostic? {
        guard member.attribute.notStored == nil else { return nil }
        if let wrapper = member.attribute.wrapper {
            return Diagnostic(
                "wrapper", at: wrapper,
                """
                @Normalized can't set a property with a wrapper: remove the wrapper of \
                '\(member.bareName)', or add @NotStored and a default value
                """)
        }
        guard let modifier = member.modifier else { return nil }
        let reason =
            modifier.name.text == "lazy"
            ? "a lazy property changes when it is read, but models are immutable"
            : "a model owns its children, but \(modifier.name.text) references don't own anything"
        return Diagnostic(
            "modifier", at: modifier,
            "\(reason): make '\(member.bareName)' a computed property, or add @NotStored")
    }

    private func defaultProblem(of member: Member) -> Diagnostic? {
        guard member.storedName == nil, !member.hasDefault, member.modifier?.name.text != "weak"
        else { return nil }
        let reason = member.isOmittedByCodingKeys ? "CodingKeys omits it" : "it is @NotStored"
        return Diagnostic(
            "noDefault", at: member.binding,
            """
            '\(member.bareName)' needs a default value for models that are read from the cache, \
            because \(reason)
            """, fixIt: Self.addingDefault(to: member))
    }

    /// Makes the member a variable as well: a constant with a value would be the same in every
    /// model, and therefore not a member.
    private static func addingDefault(to member: Member) -> FixIt {
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
            messages.append("replace 'let' with 'var'")
        }
        if member.type?.isOptional != true {
            changes.append(
                .replace(
                    oldNode: Syntax(member.binding), newNode: Syntax(member.binding.withDefault)))
            messages.append("insert ' = <#default#>'")
        }
        return FixIt(messages.joined(separator: " and "), changes: changes)
    }

    private func typeProblem(of member: Member) -> Diagnostic? {
        guard let type = member.type else {
            guard !member.isIgnored else { return nil }
            return Diagnostic(
                "noType", at: member.binding.pattern,
                "write the type of '\(member.bareName)': @Normalized can't infer it from the value")
        }
        guard member.storedName != nil else { return nil }
        return model.typeProblem(
            type, of: "'\(member.bareName)'", remedy: "use another type, or add @NotStored")
    }

    // MARK: Names

    private var storedNameProblems: [Diagnostic] {
        var first: [String: Member] = [:]
        return model.storedMembers.compactMap { member in
            guard let name = member.storedName else { return nil }
            guard let earlier = first[name] else {
                first[name] = member
                return nil
            }
            // Reported where a name was chosen: at least one of the two has such a name.
            let node =
                member.attribute.nameExpression.map(Syntax.init) ?? earlier.attribute.nameExpression
                .map(Syntax.init) ?? Syntax(member.binding.pattern)
            return Diagnostic(
                "sameName", at: node,
                """
                '\(earlier.bareName)' and '\(member.bareName)' are both stored as "\(name)": give \
                one of them another name
                """)
        }
    }
}

extension IfConfigDeclSyntax {
    /// Whether one of the branches declares a stored property or a case.
    fileprivate var declaresMembers: Bool {
        clauses.contains { clause in
            clause.elements?.as(MemberBlockItemListSyntax.self)?.contains { item in
                if let variable = item.decl.as(VariableDeclSyntax.self) {
                    return !variable.isTypeProperty && variable.bindings.contains { !$0.isComputed }
                }
                if let nested = item.decl.as(IfConfigDeclSyntax.self) {
                    return nested.declaresMembers
                }
                return item.decl.is(EnumCaseDeclSyntax.self)
            } == true
        }
    }
}

extension PatternBindingSyntax {
    /// The binding with a placeholder for a value, before a comment on the same line.
    fileprivate var withDefault: PatternBindingSyntax {
        let end = typeAnnotation?.trailingTrivia ?? pattern.trailingTrivia
        let insertion = InitializerClauseSyntax(
            equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
            value: ExprSyntax("<#default#>").with(\.trailingTrivia, end))
        return with(\.pattern, typeAnnotation == nil ? pattern.with(\.trailingTrivia, []) : pattern)
            .with(\.typeAnnotation, typeAnnotation?.with(\.trailingTrivia, []))
            .with(\.initializer, insertion)
    }
}

// MARK: Types that can't be stored

extension ModelDeclaration {
    /// Returns the problem of a stored type, which is the type of `subject`.
    func typeProblem(_ type: TypeSyntax, of subject: String, remedy: String) -> Diagnostic? {
        if let unstorable = type.unstorable {
            return Diagnostic(
                "unstorable", at: type,
                """
                \(subject) can't be stored, because \(unstorable) is neither a FieldValue nor \
                Codable: \(remedy)
                """)
        }
        guard
            let parameter = parameters.first(where: {
                $0.constraints.isEmpty && type.mentions($0.name)
            })
        else { return nil }
        let name = parameter.name
        return Diagnostic(
            "unconstrained", at: type,
            """
            '\(name)' in the type of \(subject) has no constraint, so a model in it would be \
            stored inside its parent: constrain '\(name)' to NormalizedModel & Model, or to \
            FieldValue or Codable if it is never a model
            """, fixIt: parameter.node.map(Self.constraining))
    }

    private static func constraining(_ parameter: GenericParameterSyntax) -> FixIt {
        let constrained = parameter.with(\.name, .identifier(parameter.name.text))
            .with(\.colon, .colonToken(trailingTrivia: .space))
            .with(\.inheritedType, "NormalizedModel & Model")
            .with(\.trailingTrivia, parameter.trailingTrivia)
        return .replacing(parameter, with: constrained, "insert ': NormalizedModel & Model'")
    }
}

extension TypeSyntax {
    /// The part of the type that can never be stored, in words.
    fileprivate var unstorable: String? {
        if self.is(FunctionTypeSyntax.self) { return "a function" }
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.unstorable }
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.unstorable }
        if let type = self.as(ArrayTypeSyntax.self) { return type.element.unstorable }
        if let type = self.as(DictionaryTypeSyntax.self) { return type.value.unstorable }
        if let inner = parenthesized { return inner.unstorable }
        if self.is(TupleTypeSyntax.self) { return "a tuple" }
        if self.is(MetatypeTypeSyntax.self) { return "a metatype" }
        let text = trimmedDescription
        return ["Any", "AnyObject", "any Any", "any AnyObject", "any Sendable"].contains(text)
            ? "'\(text)'" : nil
    }
}
#endif
