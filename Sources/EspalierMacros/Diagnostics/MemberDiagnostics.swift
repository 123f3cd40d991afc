#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in the properties of a model.
extension ModelDeclaration {
    var memberProblems: [Diagnostic] {
        declarationProblems + members.compactMap(problem) + storedNameProblems
    }

    // MARK: Declarations

    /// Declarations that the macro can't read as members.
    private var declarationProblems: [Diagnostic] {
        node.memberBlock.members.flatMap { item -> [Diagnostic] in
            if let variable = item.decl.as(VariableDeclSyntax.self) {
                return unstoredProblem(of: variable).map { [$0] } ?? patternProblems(of: variable)
            }
            guard let condition = item.decl.as(IfConfigDeclSyntax.self), condition.declaresMembers
            else { return [] }
            let problem = Diagnostic(
                "conditionalMember",
                at: condition.clauses.first?.poundKeyword ?? .poundEndifToken(),
                """
                @Normalized can't tell which of these members are compiled: declare them \
                outside of #if, or the whole type in each branch
                """)
            return [problem]
        }
    }

    /// Returns the problem of an attribute of a property that is never stored.
    private func unstoredProblem(of variable: VariableDeclSyntax) -> Diagnostic? {
        let attribute = StoredAttribute(variable.attributes)
        let isConstant =
            variable.bindingSpecifier.tokenKind == .keyword(.let)
            && variable.bindings.allSatisfy { $0.initializer != nil }
        let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
        let attributes = [
            ("@Stored", attribute.stored), ("@NotStored", attribute.notStored),
            ("@Merged", attribute.merged.first?.node),
        ]
        for (macro, node) in attributes {
            guard let node else { continue }
            let reason: String
            if variable.isTypeProperty {
                reason = "belongs to the type"
            } else if variable.bindings.contains(where: \.isComputed) {
                reason = "is computed"
            } else if isConstant && macro != "@NotStored" {
                reason = "is a constant with the same value everywhere"
            } else {
                continue
            }
            return Diagnostic(
                "notAMember", at: node,
                "'\(name)' \(reason) and is never stored: remove \(macro)")
        }
        return nil
    }

    /// Warnings about constants such as `let createdAt = Date()`. A constant with an initial value
    /// is not stored, so each read would give it another value.
    var constantWarnings: [Diagnostic] {
        node.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
            .filter {
                $0.bindingSpecifier.tokenKind == .keyword(.let) && !$0.isTypeProperty
                    && StoredAttribute($0.attributes).notStored == nil
            }
            .flatMap(\.bindings)
            .compactMap { binding in
                guard let value = binding.initializer?.value, binding.isMadeAnew else {
                    return nil
                }
                let name = binding.pattern.trimmedDescription
                return .warning(
                    "changingConstant", at: binding.pattern,
                    """
                    '\(name)' is not stored, and '\(value.trimmedDescription)' gives each model \
                    that is read another value: declare '\(name)' without a value, or add @NotStored
                    """)
            }
    }

    private func patternProblems(of variable: VariableDeclSyntax) -> [Diagnostic] {
        guard !variable.isTypeProperty, !members.isEmpty || hasBuilder else { return [] }
        return variable.bindings.filter { !$0.pattern.is(IdentifierPatternSyntax.self) }.map { _ in
            Diagnostic(
                "pattern", at: variable.bindingSpecifier,
                "@Normalized can't read a pattern: declare each property by itself")
        }
    }

    // MARK: Members

    /// Returns the first problem of a member, because it may cause the others.
    private func problem(of member: Member) -> Diagnostic? {
        member.attributeProblem ?? member.wrapperProblem ?? member.defaultProblem
            ?? recursionProblem(of: member) ?? typeProblem(of: member) ?? ruleProblem(of: member)
    }

    /// A struct that contains itself without an array in between has no size. Without this problem
    /// the compiler would report the builder as well.
    private func recursionProblem(of member: Member) -> Diagnostic? {
        guard kind == .structure, let type = member.type, !member.isIgnored,
            type.unwrapped.trimmedDescription == name
        else { return nil }
        return Diagnostic(
            "recursive", at: type,
            "a struct can't contain itself: make '\(name)' a final class, or use an array")
    }

    private func typeProblem(of member: Member) -> Diagnostic? {
        guard let type = member.type else {
            guard !member.isIgnored else { return nil }
            return Diagnostic(
                "noType", at: member.binding.pattern,
                "write the type of '\(member.bareName)': @Normalized can't infer it from the value")
        }
        guard member.storedName != nil else { return nil }
        return typeProblem(
            type, of: "'\(member.bareName)'", remedy: "use another type, or add @NotStored")
    }

    private var storedNameProblems: [Diagnostic] {
        var first: [String: Member] = [:]
        return storedMembers.compactMap { member in
            guard let name = member.storedName else { return nil }
            guard let earlier = first[name] else {
                first[name] = member
                return nil
            }
            // Reported where a name was chosen: at least one of the two has such a name.
            let chosen = member.attribute.nameExpression ?? earlier.attribute.nameExpression
            return .sameName(
                at: chosen.map(Syntax.init) ?? Syntax(member.binding.pattern),
                earlier.bareName, member.bareName, storedAs: name)
        }
    }
}

extension Member {
    fileprivate var attributeProblem: Diagnostic? {
        guard let stored = attribute.stored, attribute.notStored != nil else {
            return attribute.nameProblem(of: bareName)
        }
        return Diagnostic(
            "storedAndNot", at: stored,
            "'\(bareName)' can't have both @Stored and @NotStored: remove one of them")
    }

    fileprivate var wrapperProblem: Diagnostic? {
        guard attribute.notStored == nil else { return nil }
        if let wrapper = attribute.wrapper {
            return Diagnostic(
                "wrapper", at: wrapper,
                """
                @Normalized can't set a property with a wrapper: remove the wrapper of \
                '\(bareName)', or add @NotStored and a default value
                """)
        }
        guard let modifier else { return nil }
        let reason =
            modifier.name.text == "lazy"
            ? "a lazy property changes when it is read, but models are immutable"
            : "a model owns its children, but \(modifier.name.text) references don't own anything"
        return Diagnostic(
            "modifier", at: modifier,
            "\(reason): make '\(bareName)' a computed property, or add @NotStored")
    }

    fileprivate var defaultProblem: Diagnostic? {
        guard storedName == nil, !hasDefault, modifier?.name.text != "weak" else { return nil }
        let reason = isOmittedByCodingKeys ? "CodingKeys omits it" : "it is @NotStored"
        return Diagnostic(
            "noDefault", at: binding,
            """
            '\(bareName)' needs a default value for models that are read from the cache, \
            because \(reason)
            """, fixIt: addingDefault)
    }

    /// Makes the member a variable as well: a constant with a value would be the same in every
    /// model, and therefore not a member.
    private var addingDefault: FixIt {
        var changes: [FixIt.Change] = []
        var messages: [String] = []
        let declaration = binding.parent?.parent?.as(VariableDeclSyntax.self)
        if !isVariable, let specifier = declaration?.bindingSpecifier {
            changes.append(.replacing(specifier, with: specifier.with(\.tokenKind, .keyword(.var))))
            messages.append("replace 'let' with 'var'")
        }
        if type?.isNilByDefault != true {
            changes.append(.replacing(binding, with: binding.withDefault))
            messages.append("insert ' = <#default#>'")
        }
        return FixIt(messages.joined(separator: " and "), changes: changes)
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
        return parameters.first { $0.constraints.isEmpty && type.mentions($0.name) }.map {
            Diagnostic(
                "unconstrained", at: type,
                """
                '\($0.name)' in the type of \(subject) has no constraint, so a model in it would \
                be stored inside its parent: constrain '\($0.name)' to NormalizedModel & Model, or \
                to FieldValue or Codable if it is never a model
                """, fixIt: $0.node.map(Self.constraining))
        }
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
    /// The type without the optionals around it.
    fileprivate var unwrapped: TypeSyntax {
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.unwrapped }
        return parenthesized?.unwrapped ?? self
    }

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
