#if Macros
import SwiftSyntax

extension Rendering {
    /// `==`, under another name: an operator that a macro may make is found twice where the type
    /// has its own, and the compiler then takes neither.
    var equality: DeclSyntax? {
        let compared = isBuilt ? comparing : caseComparing
        let function = declaration(
            "static func isSame(_ a: \(model.name), _ b: \(model.name)) -> Swift.Bool",
            model.own.contains(.equality) ? ["return a == b"] : compared)
        return "@_implements(Swift.Equatable, ==(_:_:))\n\(function)"
    }

    var hash: DeclSyntax? {
        guard !model.own.contains(.hash) else { return nil }
        return declaration("func hash(into hasher: inout Swift.Hasher)", hashing)
    }

    private var comparing: [String] {
        let same = model.kind == .finalClass ? ["if a === b {\n    return true\n}"] : []
        return same
            + model.openMembers.map { member in
                let (a, b) = (
                    member.form.wrapping("a.\(member.name)"),
                    member.form.wrapping("b.\(member.name)")
                )
                return Self.unequal(a, b, isScalar: member.isScalar)
            } + ["return true"]
    }

    private var hashing: [String] {
        // What its own == looks at is not known here, not even that it looks at the identifier.
        guard !model.own.contains(.equality) else { return [] }
        guard isBuilt else { return caseHashing }
        return model.openMembers.map { member in
            Self.hashed(member.form.wrapping("self.\(member.name)"), isScalar: member.isScalar)
        }
    }

    static func unequal(_ a: String, _ b: String, isScalar: Bool) -> String {
        let condition = isScalar ? "\(a) == \(b)" : "\(models).areEqual(\(a), \(b))"
        return "guard \(condition) else {\n    return false\n}"
    }

    static func hashed(_ value: String, isScalar: Bool) -> String {
        isScalar ? "hasher.combine(\(value))" : "\(models).hash(\(value), into: &hasher)"
    }
}
#endif
