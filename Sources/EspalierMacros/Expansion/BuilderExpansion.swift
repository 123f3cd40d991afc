#if Macros
import SwiftSyntax

/// Generates the builder of a struct or class, and the functions that only such types have.
struct BuilderExpansion {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    /// The nested struct with all members as variables. `copy`, `map` and `merge` create changed
    /// values with it.
    var type: String? {
        let variables = model.includedMembers.map { member in
            let access = min(member.access, model.access).modifier
            return "\(access)var \(member.name): \(model.typeInBuilder(of: member))"
        }
        let access = model.access.modifier
        let copying = Code.block(
            "\(access)init(_ model: \(model.name))",
            model.includedMembers.map { "self.\($0.name) = model.\($0.name)" })
        let building = Code.block(
            "\(access)func build() -> \(model.name)", ["return \(model.name)(self)"])
        let isBuildFree = !model.includedMembers.contains { $0.bareName == "build" }
        let parts =
            [variables.joined(separator: "\n"), copying] + (isBuildFree ? [building] : [])
            + PropertyBodies(model).readFunctions
        return model.declaration(
            "struct \(model.builderName): \(model.isUnchecked ? "@unchecked " : "")Swift.Sendable",
            parts.filter { !$0.isEmpty }.flatMap { [$0, ""] }.dropLast())
    }

    /// `init(_ builder:)`.
    var initializer: String? {
        model.declaration(
            "init(_ builder: \(model.builderName))", access: model.builderInitializerAccess,
            model.includedMembers.map { "self.\($0.name) = builder.\($0.name)" })
    }

    var copy: String? {
        let builder = model.builderName
        let change = "(inout \(builder)) throws -> Swift.Void"
        return model.declaration(
            unless: .copy, "func copy(_ change: \(change)) rethrows -> \(model.name)",
            [
                "var builder = \(builder)(self)", "try change(&builder)",
                "return \(model.name)(builder)",
            ])
    }

    /// The memberwise initializer of a class. The compiler generates that of a struct.
    var memberwiseInitializer: String? {
        guard !model.own.contains(.initializer) else { return nil }
        let members = model.includedMembers
        let parameters = members.map { member in
            let type = member.type?.trimmedDescription ?? ""
            let escaping = member.type?.isFunction == true ? "@escaping " : ""
            let value = member.initializer?.trimmedDescription ?? (member.hasDefault ? "nil" : nil)
            return "\(member.name): \(escaping)\(type)" + (value.map { " = \($0)" } ?? "")
        }
        let access = members.map(\.access).reduce(model.access, min)
        return model.declaration(
            "init(\(parameters.joined(separator: ", ")))", access: access,
            members.map { "self.\($0.name) = \($0.name)" })
    }

    var merge: String? {
        let merged = model.storedMembers.map { member in
            "\(Code.modelMembers).take(&builder.\(member.name), named: \(member.key), from: other)"
        }
        let checks = """
            if model is \(model.name) {
                return model
            }
            guard let other = model as? any EspalierModels.ProjectedModel else {
                return self
            }
            """
        return model.declaration(
            unless: .merge,
            "func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model",
            merged.isEmpty
                ? ["return model is \(model.name) ? model : self"]
                : [checks, "var builder = \(model.builderName)(self)"] + merged + [
                    "return \(model.name)(builder)"
                ])
    }

    var storedValue: String? {
        // Without `as Any`, a nil would mean that the model has no member of that name.
        let cases = model.storedMembers.map { "case \($0.key): return self.\($0.name) as Any" }
        return model.declaration(
            unless: .storedValue, "func storedValue(_ name: Swift.String) -> Any?",
            cases.isEmpty
                ? ["return nil"]
                : ["switch name {\n\((cases + ["default: return nil"]).joined(separator: "\n"))\n}"]
        )
    }
}

extension ModelDeclaration {
    /// `Builder`, unless the model, one of its nested types or the type of a member has that name.
    var builderName: String {
        let isTaken =
            name == "Builder" || own.contains(.builder)
            || members.contains { $0.type?.mentions("Builder") == true }
        return isTaken ? "NormalizedBuilder" : "Builder"
    }

    /// Returns the type of a member as the builder writes it, in which `Self` would be the builder.
    func typeInBuilder(of member: Member) -> String {
        member.type?.replacingSelf(with: name) ?? ""
    }
}
#endif
