#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds mistakes in the cases of an enum.
struct CaseDiagnostics {
    private let model: ModelDeclaration

    init(_ model: ModelDeclaration) { self.model = model }

    var all: [Diagnostic] {
        var names: [String: EnumCase] = [:]
        return model.cases.flatMap { enumCase -> [Diagnostic] in
            let found =
                attributeProblems(of: enumCase)
                + enumCase.payloads.compactMap { payloadProblem($0, of: enumCase) }
            guard let name = enumCase.storedName else {
                return found + [
                    Diagnostic(
                        "noDefault", at: enumCase.node.name,
                        """
                        the case '\(enumCase.bareName)' can't be stored, because CodingKeys omits \
                        it: add it there
                        """)
                ]
            }
            defer { names[name] = enumCase }
            return found + (names[name].map { [sameName(enumCase, as: $0, name)] } ?? [])
        }
    }

    private func sameName(_ enumCase: EnumCase, as earlier: EnumCase, _ name: String) -> Diagnostic
    {
        Diagnostic(
            "sameName",
            at: enumCase.attribute.nameExpression.map(Syntax.init) ?? Syntax(enumCase.node.name),
            """
            '\(earlier.bareName)' and '\(enumCase.bareName)' are both stored as "\(name)": give \
            one of them another name
            """)
    }

    private func attributeProblems(of enumCase: EnumCase) -> [Diagnostic] {
        let attribute = enumCase.attribute
        if let node = attribute.notStored {
            return [
                Diagnostic(
                    "notStoredCase", at: node,
                    "every case of an enum is stored: remove @NotStored")
            ]
        }
        if let node = attribute.stored, attribute.defaultExpression != nil {
            return [
                Diagnostic(
                    "caseDefault", at: node,
                    "a case has no default value: give one to its associated value instead")
            ]
        }
        guard let expression = attribute.nameExpression else { return [] }
        guard let name = attribute.name else {
            return [
                Diagnostic(
                    "storedLiteral", at: expression,
                    "the name in @Stored must be a string literal without interpolations")
            ]
        }
        guard name.isEmpty else { return [] }
        return [
            Diagnostic(
                "emptyName", at: expression,
                "a stored name must not be empty: without @Stored it is '\(enumCase.bareName)'",
                fixIt: .replacing(
                    expression, with: ExprSyntax("\"\(raw: enumCase.bareName)\""),
                    "replace with \"\(enumCase.bareName)\""))
        ]
    }

    private func payloadProblem(_ payload: EnumCase.Payload, of enumCase: EnumCase) -> Diagnostic? {
        guard payload.storedName != nil else {
            return payload.defaultValue != nil
                ? nil
                : Diagnostic(
                    "noDefault", at: payload.type,
                    """
                    this value of '\(enumCase.bareName)' needs a default value, because the \
                    CodingKeys of the case omit it
                    """)
        }
        return model.typeProblem(
            payload.type, of: "this value of '\(enumCase.bareName)'", remedy: "use another type")
    }
}
#endif
