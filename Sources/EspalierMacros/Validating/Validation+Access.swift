#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// What is `private` where generated code has to see it.
extension Validation {
    var accessProblems: [Diagnostic] {
        var problems: [Diagnostic] = []
        if model.isNested, let modifier = model.node.modifiers.privateModifier {
            problems.append(
                Self.problem(
                    "privateModel", at: modifier,
                    "the extension that makes '\(model.name)' a model can't see a private type: make it fileprivate",
                    fixIt: Self.fileprivate(modifier)))
        }
        guard model.kind != .enumeration else { return problems }
        for item in model.node.memberBlock.members {
            guard let modifiers = item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                let modifier = modifiers.privateModifier, !item.decl.is(VariableDeclSyntax.self),
                let name = item.decl.asProtocol((any NamedDeclSyntax).self)?.name.text,
                let member = model.openMembers.first(where: { $0.type?.mentions(name) == true })
            else { continue }
            problems.append(
                Self.problem(
                    "privateMemberType", at: modifier,
                    "'\(member.bareName)' is a part of the builder, which can't see the private '\(name)': make it fileprivate",
                    fixIt: Self.fileprivate(modifier)))
        }
        return problems
    }

    private static func `fileprivate`(_ modifier: DeclModifierSyntax) -> FixIt {
        let name = TokenSyntax.keyword(
            .fileprivate, leadingTrivia: modifier.name.leadingTrivia,
            trailingTrivia: modifier.name.trailingTrivia)
        return .replacing(
            modifier, with: modifier.with(\.name, name), "replace 'private' by 'fileprivate'")
    }
}

extension DeclModifierListSyntax {
    fileprivate var privateModifier: DeclModifierSyntax? {
        first { $0.name.tokenKind == .keyword(.private) && $0.detail == nil }
    }
}
#endif
