#if Macros
import SwiftSyntax

extension Rendering {
    var map: DeclSyntax? {
        guard !model.own.contains(.map) else { return nil }
        return declaration(
            "func map(_ transform: \(Self.transform)) -> \(model.name)?",
            isBuilt ? mapping : caseMapping)
    }

    var forEach: DeclSyntax? {
        guard !model.own.contains(.forEach) else { return nil }
        return declaration(
            "func forEach(_ visit: \(Self.visit))", isBuilt ? visiting : caseVisiting)
    }

    private var mapping: [String] {
        let members = nestingMembers
        guard !members.isEmpty else { return ["return self"] }
        let mapped = members.map { self.mapped($0.form.wrapping("self.\($0.name)")) }
        let bindings = mapped.enumerated().map { "let mapped\($0) = \($1)" }.joined(
            separator: ",\n    ")
        let settings = members.enumerated().map { index, member in
            "builder.\(member.name) = \(member.form.unwrapping("mapped\(index)"))"
        }
        return [
            "guard \(bindings)\nelse {\n    return nil\n}", "var builder = \(builderName)(self)",
        ] + settings + [
            "return \(model.name)(builder)"
        ]
    }

    private var visiting: [String] {
        nestingMembers.map { visited($0.form.wrapping("self.\($0.name)")) }
    }

    /// Those in which a model may stand.
    private var nestingMembers: [Member] { model.openMembers.filter { !$0.isScalar } }

    // What a constraint says is not for the syntax to tell: `Model` may be a protocol of the app.
    // The compiler knows.
    func mapped(_ value: String) -> String {
        "\(Self.models).\(model.mayMentionParameters ? "mapDynamically" : "map")(\(value), transform)"
    }

    func visited(_ value: String) -> String {
        "\(Self.models).\(model.mayMentionParameters ? "forEachDynamically" : "forEach")(\(value), visit)"
    }
}
#endif
