#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The mistakes in the cases of an enum.
extension ModelDeclaration {
    var caseProblems: [Diagnostic] {
        var names: [String: EnumCase] = [:]
        return cases.flatMap { enumCase -> [Diagnostic] in
            let found =
                [enumCase.attributeProblem].compactMap(\.self)
                + enumCase.payloads.compactMap { payloadProblem($0, of: enumCase) }
            guard let name = enumCase.storedName else {
                let problem = Diagnostic(
                    "noDefault", at: enumCase.node.name,
                    """
                    the case '\(enumCase.bareName)' can't be stored, because CodingKeys omits \
                    it: add it there
                    """)
                return found + [problem]
            }
            guard let earlier = names.updateValue(enumCase, forKey: name) else { return found }
            let node =
                enumCase.attribute.nameExpression.map(Syntax.init) ?? Syntax(enumCase.node.name)
            return found + [
                .sameName(at: node, earlier.bareName, enumCase.bareName, storedAs: name)
            ]
        }
    }

    private func payloadProblem(_ payload: EnumCase.Payload, of enumCase: EnumCase) -> Diagnostic? {
        if payload.storedName != nil {
            return typeProblem(
                payload.type, of: "this value of '\(enumCase.bareName)'",
                remedy: "use another type")
        }
        guard payload.defaultValue == nil else { return nil }
        return Diagnostic(
            "noDefault", at: payload.type,
            """
            this value of '\(enumCase.bareName)' needs a default value, because the \
            CodingKeys of the case omit it
            """)
    }
}

extension EnumCase {
    fileprivate var attributeProblem: Diagnostic? {
        if let node = attribute.notStored {
            return Diagnostic(
                "notStoredCase", at: node, "every case of an enum is stored: remove @NotStored")
        }
        if let merged = attribute.merged.first {
            return Diagnostic(
                "mergedCase", at: merged.node,
                "an enum is merged as a whole: remove @Merged")
        }
        if let node = attribute.stored, attribute.defaultExpression != nil {
            return Diagnostic(
                "caseDefault", at: node,
                "a case has no default value: give one to its associated value instead")
        }
        return attribute.nameProblem(of: bareName)
    }
}
#endif
