#if Macros
import SwiftSyntax

/// One case of an enum.
struct EnumCase {
    let name: String
    let bareName: String
    /// Nil when the type's `CodingKeys` leave it out.
    let storedName: String?
    let payloads: [Payload]
    let attribute: StoredAttribute
    let node: EnumCaseElementSyntax

    /// One value of a case.
    struct Payload {
        /// Nil where there is none.
        let label: String?
        /// The name it is stored under: the label, else its place, as `Codable` has it. Nil when
        /// `CodingKeys` leave it out.
        let storedName: String?
        let type: TypeSyntax
        let defaultValue: ExprSyntax?

        var form: StoredForm { StoredForm(type) }

        /// An argument of the case.
        func labelling(_ value: String) -> String { label.map { "\($0): \(value)" } ?? value }
    }

    static func all(
        in declaration: EnumCaseDeclSyntax, keys: CodingKeysTable?,
        members: MemberBlockItemListSyntax
    ) -> [EnumCase] {
        let attribute = StoredAttribute(declaration.attributes)
        return declaration.elements.map { element in
            let bareName = element.name.bareText
            let payloadKeys = CodingKeysTable(
                named: bareName.prefix(1).uppercased() + bareName.dropFirst() + "CodingKeys",
                in: members)
            let payloads = (element.parameterClause?.parameters).map(Array.init) ?? []
            return EnumCase(
                name: element.name.text, bareName: bareName,
                storedName: attribute.name ?? keys.map { $0.storedName(of: bareName) } ?? bareName,
                payloads: payloads.enumerated().map { Payload($1, at: $0, keys: payloadKeys) },
                attribute: attribute, node: element)
        }
    }
}

extension EnumCase.Payload {
    fileprivate init(_ parameter: EnumCaseParameterSyntax, at place: Int, keys: CodingKeysTable?) {
        let label = parameter.firstName.flatMap { $0.tokenKind == .wildcard ? nil : $0 }
        let key = label?.bareText ?? "_\(place)"
        self.label = label?.text
        storedName = keys.map { $0.storedName(of: key) } ?? key
        type = parameter.type
        defaultValue = parameter.defaultValue?.value
    }
}
#endif
