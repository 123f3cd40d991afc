#if Macros
import SwiftSyntax

extension Rendering {
    var map: DeclSyntax? {
        guard !model.own.contains(.map) else { return nil }
        return declaration(
            "func map(_ transform: \(Self.transform)) -> \(model.name)?", isBuilt ? mapping : caseMapping)
    }

    var forEach: DeclSyntax? {
        guard !model.own.contains(.forEach) else { return nil }
        return declaration("func forEach(_ visit: \(Self.visit))", isBuilt ? visiting : caseVisiting)
    }

    private var mapping: [String] {
        let members = nestingMembers
        guard !members.isEmpty else { return ["return self"] }
        let mapped = members.map { member in
            Self.mapped(
                member.form.wrapping("self.\(member.name)"), isDynamic: member.isDynamic(in: model.parameters))
        }
        let bindings = mapped.enumerated().map { "let mapped\($0) = \($1)" }.joined(separator: ",\n    ")
        let settings = members.enumerated().map { index, member in
            "builder.\(member.name) = \(member.form.unwrapping("mapped\(index)"))"
        }
        return ["guard \(bindings)\nelse {\n    return nil\n}", "var builder = \(builderName)(self)"] + settings + [
            "return \(model.name)(builder)"
        ]
    }

    private var visiting: [String] {
        nestingMembers.map { member in
            Self.visited(
                member.form.wrapping("self.\(member.name)"), isDynamic: member.isDynamic(in: model.parameters))
        }
    }

    /// Those in which a model may stand.
    private var nestingMembers: [Member] { model.openMembers.filter { !$0.isScalar } }

    static func mapped(_ value: String, isDynamic: Bool) -> String {
        "\(models).\(isDynamic ? "mapDynamically" : "map")(\(value), transform)"
    }

    static func visited(_ value: String, isDynamic: Bool) -> String {
        "\(models).\(isDynamic ? "forEachDynamically" : "forEach")(\(value), visit)"
    }
}
#endif
