#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Declarations that can't be read as members.
extension Validation {
    var itemProblems: [Diagnostic] {
        model.node.memberBlock.members.flatMap { item -> [Diagnostic] in
            if let variable = item.decl.as(VariableDeclSyntax.self) {
                return problems(of: variable)
            }
            guard let condition = item.decl.as(IfConfigDeclSyntax.self), condition.declaresMembers
            else { return [] }
            return [
                Self.problem(
                    "conditionalMember",
                    at: condition.clauses.first?.poundKeyword ?? .poundEndifToken(),
                    """
                    @Normalized doesn't know which of these members there are; declare them outside of #if, or the whole type \
                    in each branch
                    """)
            ]
        }
    }

    private func problems(of variable: VariableDeclSyntax) -> [Diagnostic] {
        let attribute = StoredAttribute(variable.attributes)
        let computed = variable.bindings.first { $0.isComputed }
        let isConstant =
            variable.bindingSpecifier.tokenKind == .keyword(.let)
            && variable.bindings.allSatisfy { $0.initializer != nil }
        let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
        for (said, node) in [("@Stored", attribute.stored), ("@NotStored", attribute.notStored)] {
            guard let node else { continue }
            let what: String? =
                if variable.isOfTheType {
                    "belongs to the type"
                } else if computed != nil {
                    "is computed"
                } else if isConstant && said == "@Stored" {
                    "is a constant, the same in every value"
                } else {
                    nil
                }
            if let what {
                return [
                    Self.problem(
                        "notAMember", at: node,
                        "'\(name)' \(what) and is not stored anyway: remove \(said)")
                ]
            }
        }
        guard !variable.isOfTheType, !model.members.isEmpty || model.kind != .enumeration else {
            return []
        }
        return variable.bindings.filter { !$0.pattern.is(IdentifierPatternSyntax.self) }.map {
            binding in
            Self.problem(
                "pattern", at: variable.bindingSpecifier,
                "@Normalized takes one name at a time: declare each property by itself")
        }
    }
}

extension IfConfigDeclSyntax {
    /// Whether there is a stored property or a case in one of the branches.
    fileprivate var declaresMembers: Bool {
        clauses.contains { clause in
            clause.elements?.as(MemberBlockItemListSyntax.self)?.contains { item in
                if let variable = item.decl.as(VariableDeclSyntax.self) {
                    return !variable.isOfTheType && variable.bindings.contains { !$0.isComputed }
                }
                if let nested = item.decl.as(IfConfigDeclSyntax.self) {
                    return nested.declaresMembers
                }
                return item.decl.is(EnumCaseDeclSyntax.self)
            } == true
        }
    }
}
#endif
