#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds the mistakes that the syntax of a declaration shows.
///
/// A message says what is wrong and what to do. The compiler finds all other mistakes: they are
/// errors in the generated code, in a line that names the member.
struct ModelDiagnostics {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    /// The problems in the order of the text. If the type can't be a model, only that is reported.
    var all: [Diagnostic] {
        let unsuitable = kindProblems
        guard unsuitable.isEmpty else { return unsuitable }
        let problems =
            accessProblems + IdentifierDiagnostics(model).all + MemberDiagnostics(model).all
            + CaseDiagnostics(model).all
        return problems.sorted { $0.position < $1.position }
    }

    // MARK: The kind of type

    private var kindProblems: [Diagnostic] {
        if let declaration = model.node.as(ClassDeclSyntax.self) {
            return model.kind == .unsuitable ? [Self.notFinal(declaration)] : []
        }
        if let declaration = model.node.as(EnumDeclSyntax.self) { return enumProblems(declaration) }
        guard model.kind == .unsuitable else { return [] }
        let (what, keyword): (String, TokenSyntax) =
            if let declaration = model.node.as(ActorDeclSyntax.self) {
                ("an actor", declaration.actorKeyword)
            } else if let declaration = model.node.as(ProtocolDeclSyntax.self) {
                ("a protocol", declaration.protocolKeyword)
            } else {
                ("an extension", model.node.introducer)
            }
        return [
            Diagnostic(
                "kind", at: keyword,
                "\(what) can't be stored: apply @Normalized to a struct, a final class or an enum")
        ]
    }

    private static func notFinal(_ declaration: ClassDeclSyntax) -> Diagnostic {
        let keyword = declaration.classKeyword
        let final = TokenSyntax(
            .identifier("final class"), leadingTrivia: keyword.leadingTrivia,
            trailingTrivia: keyword.trailingTrivia, presence: .present)
        return Diagnostic(
            "notFinal", at: keyword,
            "a class with @Normalized must be final: a subclass would be stored as this class",
            fixIt: .replacing(keyword, with: final, "insert 'final'"))
    }

    private func enumProblems(_ declaration: EnumDeclSyntax) -> [Diagnostic] {
        if model.cases.isEmpty {
            return [
                Diagnostic(
                    "noCases", at: declaration.name,
                    "an enum without cases has no values: add a case or remove @Normalized")
            ]
        }
        guard let raw = declaration.inheritanceClause?.inheritedTypes.first,
            Self.rawTypes.contains(raw.type.trimmedDescription),
            !model.cases.contains(where: { !$0.payloads.isEmpty })
        else { return [] }
        let name = declaration.name.text
        let inherited = raw.type.trimmedDescription
        return [
            Diagnostic(
                "rawEnum", at: declaration.name,
                """
                an enum with raw values is stored as its raw value: remove @Normalized and declare \
                'enum \(name): \(inherited), FieldValue'
                """,
                fixIt: .replacing(
                    raw,
                    with: raw.with(
                        \.type, "\(raw: inherited), FieldValue\(raw: raw.type.trailingTrivia)"),
                    "insert 'FieldValue', which makes '@Normalized' unnecessary"))
        ]
    }

    private static let rawTypes: Set<String> = [
        "String", "Character", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
        "UInt8", "UInt16", "UInt32", "UInt64",
    ]

    // MARK: Access

    /// Private declarations that the generated code would not see.
    private var accessProblems: [Diagnostic] {
        var problems: [Diagnostic] = []
        if model.isNested, let modifier = model.node.modifiers.privateModifier {
            problems.append(
                Diagnostic(
                    "privateModel", at: modifier,
                    """
                    the generated extension can't see the private '\(model.name)': make it \
                    fileprivate
                    """, fixIt: Self.fileprivate(modifier)))
        }
        guard model.hasBuilder else { return problems }
        for item in model.node.memberBlock.members {
            guard let modifiers = item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                let modifier = modifiers.privateModifier, !item.decl.is(VariableDeclSyntax.self),
                let name = item.decl.asProtocol((any NamedDeclSyntax).self)?.name.text,
                let member = model.includedMembers.first(where: { $0.type?.mentions(name) == true })
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

extension DeclModifierListSyntax {
    fileprivate var privateModifier: DeclModifierSyntax? {
        first { $0.name.tokenKind == .keyword(.private) && $0.detail == nil }
    }
}

// MARK: Messages

private struct ErrorMessage: DiagnosticMessage {
    let message: String
    /// Identifies the kind of problem to tools.
    let id: String

    var diagnosticID: MessageID { MessageID(domain: "EspalierMacros", id: id) }
    var severity: DiagnosticSeverity { .error }
}

extension Diagnostic {
    init(_ id: String, at node: some SyntaxProtocol, _ message: String, fixIt: FixIt? = nil) {
        self.init(
            node: Syntax(node), message: ErrorMessage(message: message, id: id),
            fixIts: fixIt.map { [$0] } ?? [])
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
        FixIt(message, changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
#endif
