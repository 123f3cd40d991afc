#if Macros
import SwiftSyntax

extension Rendering {
    var merge: DeclSyntax? {
        guard !model.own.contains(.merge) else { return nil }
        let taking = model.storedMembers.map { member in
            "\(Self.models).take(&builder.\(member.name), named: \(Self.key(member)), from: other)"
        }
        let merging = """
            if model is \(model.name) {
                return model
            }
            guard let other = model as? any EspalierModels.ProjectedModel else {
                return self
            }
            """
        return declaration(
            "func merge(_ model: any EspalierModels.Model) -> any EspalierModels.Model",
            taking.isEmpty
                ? ["return model is \(model.name) ? model : self"]
                : [merging, "var builder = \(builderName)(self)"] + taking + [
                    "return \(model.name)(builder)"
                ])
    }

    var storedValue: DeclSyntax? {
        guard !model.own.contains(.storedValue) else { return nil }
        // `as Any`, or a nil would be taken for a name that the model doesn't have.
        let cases = model.storedMembers.map {
            "case \(Self.key($0)): return self.\($0.name) as Any"
        }
        return declaration(
            "func storedValue(_ name: Swift.String) -> Any?",
            cases.isEmpty
                ? ["return nil"]
                : ["switch name {\n\((cases + ["default: return nil"]).joined(separator: "\n"))\n}"]
        )
    }
}
#endif
