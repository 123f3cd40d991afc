#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds what the syntax of a declaration shows to be wrong.
struct Validation {
    let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    /// In the order of the text; nothing else is looked at in a type that can't be a model.
    var problems: [Diagnostic] {
        let unsuitable = typeProblems
        guard unsuitable.isEmpty else { return unsuitable }
        let problems =
            accessProblems + argumentProblems + identifierProblems + itemProblems + memberProblems
            + storedNameProblems
            + caseProblems
        return problems.sorted { $0.position < $1.position }
    }

    static func problem(
        _ id: String, at node: some SyntaxProtocol, _ message: String, fixIt: FixIt? = nil
    ) -> Diagnostic {
        Diagnostic(
            node: Syntax(node), message: Problem(message: message, id: id),
            fixIts: fixIt.map { [$0] } ?? [])
    }

    // MARK: The type

    private var typeProblems: [Diagnostic] {
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
            Self.problem(
                "kind", at: keyword,
                "@Normalized is for structs, final classes and enums; \(what) is no value that can be stored"
            )
        ]
    }

    private static func notFinal(_ declaration: ClassDeclSyntax) -> Diagnostic {
        let keyword = declaration.classKeyword
        let final = TokenSyntax(
            .identifier("final class"), leadingTrivia: keyword.leadingTrivia,
            trailingTrivia: keyword.trailingTrivia,
            presence: .present)
        return problem(
            "notFinal", at: keyword,
            "a class with @Normalized has to be final: a subclass would be stored as this class",
            fixIt: .replacing(keyword, with: final, "insert 'final'"))
    }

    private func enumProblems(_ declaration: EnumDeclSyntax) -> [Diagnostic] {
        if model.cases.isEmpty {
            return [
                Self.problem(
                    "noCases", at: declaration.name,
                    "an enum without cases has no value that can be stored")
            ]
        }
        guard let raw = declaration.inheritanceClause?.inheritedTypes.first,
            Self.rawTypes.contains(raw.type.trimmedDescription),
            !model.cases.contains(where: { !$0.payloads.isEmpty })
        else { return [] }
        let name = declaration.name.text
        let inherited = raw.type.trimmedDescription
        return [
            Self.problem(
                "rawEnum", at: declaration.name,
                """
                an enum with raw values is stored as its raw value and needs no @Normalized: \
                enum \(name): \(inherited), FieldValue
                """,
                fixIt: .replacing(
                    raw,
                    with: raw.with(
                        \.type, "\(raw: inherited), FieldValue\(raw: raw.type.trailingTrivia)"),
                    "insert 'FieldValue', and remove '@Normalized'"))
        ]
    }

    private static let rawTypes: Set<String> = [
        "String", "Character", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
        "UInt8", "UInt16",
        "UInt32", "UInt64",
    ]
}
#endif
