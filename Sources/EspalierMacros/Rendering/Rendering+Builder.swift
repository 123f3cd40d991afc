#if Macros
import SwiftSyntax

extension Rendering {
    /// The nested struct of all members as variables, which `copy`, `map` and `merge` make changed
    /// values with.
    var builder: DeclSyntax? {
        let variables = model.openMembers.map { member in
            "\(min(member.access, model.access).modifier)var \(member.name): \(typeInBuilder(member))"
        }
        let access = model.access.modifier
        let copying = Self.block(
            "\(access)init(_ model: \(model.name))",
            model.openMembers.map { "self.\($0.name) = model.\($0.name)" })
        let building = Self.block(
            "\(access)func build() -> \(model.name)", ["return \(model.name)(self)"])
        let isBuildFree = !model.openMembers.contains { $0.bareName == "build" }
        let parts =
            [variables.joined(separator: "\n"), copying] + (isBuildFree ? [building] : [])
            + readings
        return declaration(
            "struct \(builderName): Swift.Sendable",
            parts.filter { !$0.isEmpty }.flatMap { [$0, ""] }.dropLast())
    }

    /// `init(_ builder:)`.
    var buildingInitializer: DeclSyntax? {
        declaration(
            "init(_ builder: \(builderName))", access: model.buildingAccess,
            model.openMembers.map { "self.\($0.name) = builder.\($0.name)" })
    }

    var copy: DeclSyntax? {
        guard !model.own.contains(.copy) else { return nil }
        return declaration(
            "func copy(_ change: (inout \(builderName)) throws -> Swift.Void) rethrows -> \(model.name)",
            [
                "var builder = \(builderName)(self)", "try change(&builder)",
                "return \(model.name)(builder)",
            ])
    }

    /// A class's memberwise initialiser, which structs have anyway.
    var memberwise: DeclSyntax? {
        guard !model.own.contains(.initializer) else { return nil }
        let members = model.openMembers
        let parameters = members.map { member in
            let type = member.type?.trimmedDescription ?? ""
            let escaping = member.type?.isFunction == true ? "@escaping " : ""
            let value = member.initializer?.trimmedDescription ?? (member.hasDefault ? "nil" : nil)
            return "\(member.name): \(escaping)\(type)" + (value.map { " = \($0)" } ?? "")
        }
        let access = members.map(\.access).reduce(model.access, min)
        return declaration(
            "init(\(parameters.joined(separator: ", ")))", access: access,
            members.map { "self.\($0.name) = \($0.name)" })
    }

    /// `Self` would be the builder in the builder.
    func typeInBuilder(_ member: Member) -> String {
        member.type?.replacingSelf(with: model.name) ?? ""
    }
}
#endif
