#if Macros
import SwiftDiagnostics
import SwiftSyntax

extension Validation {
    var caseProblems: [Diagnostic] {
        var names: [String: EnumCase] = [:]
        return model.cases.flatMap { enumCase -> [Diagnostic] in
            var found =
                attributeProblems(of: enumCase)
                + enumCase.payloads.compactMap { payloadProblem($0, of: enumCase) }
            if let name = enumCase.storedName {
                if let earlier = names[name] {
                    found.append(
                        Self.problem(
                            "sameName",
                            at: enumCase.attribute.nameExpression.map(Syntax.init)
                                ?? Syntax(enumCase.node.name),
                            """
                            '\(earlier.bareName)' and '\(enumCase.bareName)' are both stored as "\(name)": give one another \
                            name
                            """))
                }
                names[name] = enumCase
            } else {
                found.append(
                    Self.problem(
                        "noDefault", at: enumCase.node.name,
                        "CodingKeys leave the case '\(enumCase.bareName)' out, so it can't be stored: add it to them"
                    ))
            }
            return found
        }
    }

    private func attributeProblems(of enumCase: EnumCase) -> [Diagnostic] {
        let attribute = enumCase.attribute
        if let node = attribute.notStored {
            return [
                Self.problem(
                    "notStoredCase", at: node,
                    "a case can't be left out: a value that has it has to be stored")
            ]
        }
        if let node = attribute.stored, attribute.defaultExpression != nil {
            return [
                Self.problem(
                    "caseDefault", at: node, "a case has no default value: write it at the payload")
            ]
        }
        guard let expression = attribute.nameExpression else { return [] }
        guard let name = attribute.name else {
            return [
                Self.problem(
                    "storedLiteral", at: expression,
                    "@Stored takes a string literal without interpolations")
            ]
        }
        guard name.isEmpty else { return [] }
        return [
            Self.problem(
                "emptyName", at: expression,
                "a case needs a name; without @Stored it is '\(enumCase.bareName)'",
                fixIt: .replacing(
                    expression, with: ExprSyntax("\"\(raw: enumCase.bareName)\""),
                    "replace by \"\(enumCase.bareName)\""))
        ]
    }

    private func payloadProblem(_ payload: EnumCase.Payload, of enumCase: EnumCase) -> Diagnostic? {
        guard payload.storedName != nil else {
            return payload.defaultValue != nil
                ? nil
                : Self.problem(
                    "noDefault", at: payload.type,
                    "CodingKeys leave this value of '\(enumCase.bareName)' out, so it needs a default value"
                )
        }
        return typeProblem(payload.type, of: "this value of '\(enumCase.bareName)'")
    }
}
#endif
