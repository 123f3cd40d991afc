#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The mistakes that the syntax of a declaration shows.
///
/// A message says what is wrong and what to do. The compiler finds all other mistakes: they are
/// errors in the generated code, in a line that names the member.
extension ModelDeclaration {
    /// The problems in the order of the text. If the type can't be a model, only that is reported.
    var problems: [Diagnostic] {
        if let problem = kindProblem { return [problem] }
        return (accessProblems + identifierProblems + memberProblems + caseProblems).sorted {
            $0.position < $1.position
        }
    }

    // MARK: The kind of type

    private var kindProblem: Diagnostic? {
        if let declaration = node.as(EnumDeclSyntax.self) { return enumProblem(declaration) }
        guard kind == .unsuitable else { return nil }
        if let declaration = node.as(ClassDeclSyntax.self) {
            return Self.notFinal(declaration.classKeyword)
        }
        let (what, keyword): (String, TokenSyntax) =
            if let declaration = node.as(ActorDeclSyntax.self) {
                ("an actor", declaration.actorKeyword)
            } else if let declaration = node.as(ProtocolDeclSyntax.self) {
                ("a protocol", declaration.protocolKeyword)
            } else {
                ("an extension", node.introducer)
            }
        return Diagnostic(
            "kind", at: keyword,
            "\(what) can't be stored: apply @Normalized to a struct, a final class or an enum")
    }

    private static func notFinal(_ keyword: TokenSyntax) -> Diagnostic {
        let final = TokenSyntax(
            .identifier("final class"), leadingTrivia: keyword.leadingTrivia,
            trailingTrivia: keyword.trailingTrivia, presence: .present)
        return Diagnostic(
            "notFinal", at: keyword,
            "a class with @Normalized must be final: a subclass would be stored as this class",
            fixIt: .replacing(keyword, with: final, "insert 'final'"))
    }

    private func enumProblem(_ declaration: EnumDeclSyntax) -> Diagnostic? {
        guard !cases.isEmpty else {
            return Diagnostic(
                "noCases", at: declaration.name,
                "an enum without cases has no values: add a case or remove @Normalized")
        }
        guard let raw = declaration.inheritanceClause?.inheritedTypes.first,
            Self.rawTypes.contains(raw.type.trimmedDescription),
            cases.allSatisfy(\.payloads.isEmpty)
        else { return nil }
        let inherited = raw.type.trimmedDescription
        let both: TypeSyntax = "\(raw: inherited), FieldValue\(raw: raw.type.trailingTrivia)"
        return Diagnostic(
            "rawEnum", at: declaration.name,
            """
            an enum with raw values is stored as its raw value: remove @Normalized and declare \
            'enum \(declaration.name.text): \(inherited), FieldValue'
            """,
            fixIt: .replacing(
                raw, with: raw.with(\.type, both),
                "insert 'FieldValue', which makes '@Normalized' unnecessary"))
    }

    private static let rawTypes = TypeSyntax.scalars.subtracting(["Bool"]).union(["Character"])

    // MARK: Access

    /// Private declarations that the generated code would not see.
    private var accessProblems: [Diagnostic] {
        var problems: [Diagnostic] = []
        if isNested, let modifier = node.modifiers.privateModifier {
            problems.append(
                Diagnostic(
                    "privateModel", at: modifier,
                    "the generated extension can't see the private '\(name)': make it fileprivate",
                    fixIt: Self.fileprivate(modifier)))
        }
        guard hasBuilder else { return problems }
        for item in node.memberBlock.members {
            guard let modifiers = item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                let modifier = modifiers.privateModifier, !item.decl.is(VariableDeclSyntax.self),
                let name = item.decl.asProtocol((any NamedDeclSyntax).self)?.name.text,
                let member = includedMembers.first(where: { $0.type?.mentions(name) == true })
            else { continue }
            problems.append(
                Diagnostic(
                    "privateMemberType", at: modifier,
                    """
                    the generated builder can't see the private '\(name)', the type of \
                    '\(member.bareName)': make it fileprivate
                    """, fixIt: Self.fileprivate(modifier)))
        }
        return problems
    }

    private static func `fileprivate`(_ modifier: DeclModifierSyntax) -> FixIt {
        let name = TokenSyntax.keyword(
            .fileprivate, leadingTrivia: modifier.name.leadingTrivia,
            trailingTrivia: modifier.name.trailingTrivia)
        return .replacing(
            modifier, with: modifier.with(\.name, name), "replace 'private' with 'fileprivate'")
    }
}

extension StoredAttribute {
    /// Returns the problem of the name in `@Stored`, without which the stored name is `name`.
    func nameProblem(of name: String) -> Diagnostic? {
        guard let nameExpression else { return nil }
        guard let given = self.name else {
            return Diagnostic(
                "storedLiteral", at: nameExpression,
                "the name in @Stored must be a string literal without interpolations")
        }
        guard given.isEmpty else { return nil }
        return Diagnostic(
            "emptyName", at: nameExpression,
            "a stored name must not be empty: without @Stored it is '\(name)'",
            fixIt: .replacing(nameExpression, withLiteral: name))
    }
}

extension DeclModifierListSyntax {
    fileprivate var privateModifier: DeclModifierSyntax? {
        first { $0.name.tokenKind == .keyword(.private) && $0.detail == nil }
    }
}

// MARK: Messages

private struct ProblemMessage: DiagnosticMessage {
    let message: String
    /// Identifies the kind of problem to tools.
    let id: String
    var severity = DiagnosticSeverity.error

    var diagnosticID: MessageID { MessageID(domain: "EspalierMacros", id: id) }
}

extension Diagnostic {
    init(_ id: String, at node: some SyntaxProtocol, _ message: String, fixIt: FixIt? = nil) {
        self.init(
            node: Syntax(node), message: ProblemMessage(message: message, id: id),
            fixIts: fixIt.map { [$0] } ?? [])
    }

    static func warning(
        _ id: String, at node: some SyntaxProtocol, _ message: String
    ) -> Diagnostic {
        Diagnostic(
            node: Syntax(node),
            message: ProblemMessage(message: message, id: id, severity: .warning))
    }

    static func sameName(
        at node: Syntax, _ earlier: String, _ later: String, storedAs name: String
    ) -> Diagnostic {
        Diagnostic(
            "sameName", at: node,
            """
            '\(earlier)' and '\(later)' are both stored as "\(name)": give one of them another \
            name
            """)
    }
}

private struct FixItText: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "EspalierMacros", id: message) }
}

extension FixIt {
    init(_ message: String, changes: [FixIt.Change]) {
        self.init(message: FixItText(message: message), changes: changes)
    }

    static func replacing(
        _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String
    ) -> FixIt {
        FixIt(message, changes: [.replacing(old, with: new)])
    }

    static func replacing(_ old: ExprSyntax, withLiteral text: String) -> FixIt {
        .replacing(old, with: ExprSyntax("\"\(raw: text)\""), "replace with \"\(text)\"")
    }
}

extension FixIt.Change {
    static func replacing(_ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> Self {
        .replace(oldNode: Syntax(old), newNode: Syntax(new))
    }
}
#endif
