#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in `@Merged`.
extension ModelDeclaration {
    /// Returns the problem of the rule of a property.
    func ruleProblem(of member: Member) -> Diagnostic? {
        guard let merged = member.attribute.merged.first else { return nil }
        let name = member.bareName
        if member.attribute.merged.count > 1 {
            return Diagnostic(
                "mergedTwice", at: member.attribute.merged[1].node,
                "'\(name)' can't have two rules: remove one of them")
        }
        if !isNode {
            return Diagnostic(
                "mergedInline", at: merged.node,
                """
                @Merged has no effect, because '\(self.name)' has no identifier and is stored \
                as a part of its parent: add an 'id', or remove @Merged
                """)
        }
        if isIdentifier(member) {
            return Diagnostic(
                "mergedIdentifier", at: merged.node,
                """
                '\(name)' identifies the model and is the same in all versions: remove @Merged
                """)
        }
        if member.storedName == nil {
            return Diagnostic(
                "mergedNotStored", at: merged.node,
                "'\(name)' is never stored: remove @Merged")
        }
        return stampProblem(of: merged) ?? member.fittingProblem(of: merged)
    }

    private func stampProblem(of merged: MergedAttribute) -> Diagnostic? {
        guard let stamp = merged.stamp else { return nil }
        if let text = stamp.literalText {
            guard !storedMembers.contains(where: { $0.storedName == text }) else { return nil }
            return Diagnostic(
                "mergedStamp", at: stamp,
                "'\(self.name)' stores no property as \"\(text)\"")
        }
        guard stamp.is(KeyPathExprSyntax.self) else { return nil }
        guard let property = merged.stampProperty else {
            return Diagnostic(
                "mergedStamp", at: stamp,
                "'by:' must be a property of the same type, such as \\.updatedAt")
        }
        guard storedName(ofProperty: property) == nil else { return nil }
        return Diagnostic(
            "mergedStamp", at: stamp,
            "'\(self.name)' has no stored property '\(property)'")
    }
}

extension Member {
    /// Returns the problem of a rule that only arrays can follow.
    fileprivate func fittingProblem(of merged: MergedAttribute) -> Diagnostic? {
        guard let rule = merged.name, ["union", "append"].contains(rule), let type,
            type.isNoList
        else { return nil }
        return Diagnostic(
            "mergedMisfit", at: merged.node,
            """
            '.\(rule)' merges arrays and sets, but '\(bareName)' is \(type.trimmedDescription): \
            use another rule
            """)
    }
}

extension MergedAttribute {
    /// The problem of an attribute that no `@Normalized` reads.
    static func outsideProblem(at node: AttributeSyntax) -> Diagnostic {
        Diagnostic(
            "mergedOutside", at: node,
            """
            @Merged has no effect outside of a type with @Normalized: declare the rule in \
            'static let mergeRules', or add @Normalized to the type
            """)
    }
}

extension TypeSyntax {
    /// Whether the syntax shows that the type is neither an array nor a set, nor an optional or a
    /// `Field` of one. False in doubt.
    fileprivate var isNoList: Bool {
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.isNoList }
        if let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            return type.wrappedType.isNoList
        }
        if let inner = parenthesized { return inner.isNoList }
        if let (name, arguments) = generic {
            if ["Optional", "Field"].contains(name), arguments.count == 1 {
                return arguments[0].isNoList
            }
            return name == "Dictionary"
        }
        if self.is(DictionaryTypeSyntax.self) { return true }
        let others: Set<String> = ["Date", "Data", "UUID", "URL", "Decimal"]
        return !self.is(ArrayTypeSyntax.self)
            && (isScalar || others.contains(trimmedDescription))
    }
}
#endif
