#if Macros
import SwiftSyntax

/// One stored property of a struct or class. A constant with a value, `let x = 5`, is not a member.
struct Member {
    /// The name as it is written, with backticks where it needs them.
    let name: String
    let bareName: String
    /// Nil if the declaration does not show the type.
    let type: TypeSyntax?
    /// The level of the member's own modifier; internal without one.
    let access: AccessLevel
    let isVariable: Bool
    let initializer: ExprSyntax?
    let attribute: StoredAttribute
    /// `lazy`, `weak` or `unowned`.
    let modifier: DeclModifierSyntax?
    /// Nil if the member is not stored.
    let storedName: String?
    let isOmittedByCodingKeys: Bool
    let binding: PatternBindingSyntax

    var form: StoredForm { type.map { StoredForm($0) } ?? .itself("") }

    /// Whether the generated code ignores the member, because only its wrapper or the compiler can
    /// set and read it.
    var isIgnored: Bool { attribute.wrapper != nil || modifier != nil }

    /// Whether an initializer may omit the member.
    var hasDefault: Bool { initializer != nil || isVariable && type?.isNilByDefault == true }

    /// Whether the syntax alone shows that the member holds no model.
    var isScalar: Bool { type?.isScalar == true }

    /// Returns the members that one declaration declares.
    static func all(in variable: VariableDeclSyntax, keys: CodingKeysTable?) -> [Member] {
        guard !variable.isTypeProperty else { return [] }
        let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
        let attribute = StoredAttribute(variable.attributes)
        var type: TypeSyntax?
        // In `let a, b: String` the type stands after the last name.
        let members = variable.bindings.reversed().compactMap { binding -> Member? in
            type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
                !binding.isComputed, isVariable || binding.initializer == nil
            else { return nil }
            let bareName = pattern.identifier.bareText
            let keyed = keys.map { $0.storedName(of: bareName) } ?? bareName
            let isStored = attribute.notStored == nil
            return Member(
                name: pattern.identifier.text, bareName: bareName,
                type: type ?? binding.literalType,
                access: AccessLevel(variable.modifiers) ?? .internal, isVariable: isVariable,
                initializer: binding.initializer?.value, attribute: attribute,
                modifier: variable.modifiers.first {
                    ["lazy", "weak", "unowned"].contains($0.name.text)
                },
                storedName: isStored ? attribute.name ?? keyed : nil,
                isOmittedByCodingKeys: isStored && attribute.nameExpression == nil && keyed == nil,
                binding: binding)
        }
        return members.reversed()
    }
}

/// One case of an enum.
struct EnumCase {
    let name: String
    let bareName: String
    /// Nil if the `CodingKeys` of the type omit the case.
    let storedName: String?
    let payloads: [Payload]
    let attribute: StoredAttribute
    let node: EnumCaseElementSyntax

    /// One associated value of a case.
    struct Payload {
        let label: String?
        /// The label or, without one, `_` and the position, as in `Codable`. Nil if the coding keys
        /// of the case omit the value.
        let storedName: String?
        let type: TypeSyntax
        let defaultValue: ExprSyntax?

        var form: StoredForm { StoredForm(type) }

        fileprivate init(
            _ parameter: EnumCaseParameterSyntax, at position: Int, keys: CodingKeysTable?
        ) {
            let label = parameter.firstName.flatMap { $0.tokenKind == .wildcard ? nil : $0 }
            let key = label?.bareText ?? "_\(position)"
            self.label = label?.text
            storedName = keys.map { $0.storedName(of: key) } ?? key
            type = parameter.type
            defaultValue = parameter.defaultValue?.value
        }

        /// Returns `value` as an argument of the case, with its label.
        func argument(_ value: String) -> String { label.map { "\($0): \(value)" } ?? value }
    }

    /// Returns the cases that one declaration declares.
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

extension VariableDeclSyntax {
    /// Whether the property belongs to the type and not to its values.
    var isTypeProperty: Bool { modifiers.contains { ["static", "class"].contains($0.name.text) } }
}

extension PatternBindingSyntax {
    /// The call without arguments with which the initial value begins, such as `UUID()` in
    /// `UUID().uuidString`.
    var leadingCall: FunctionCallExprSyntax? {
        var value = initializer?.value
        while let part = value?.as(MemberAccessExprSyntax.self) { value = part.base }
        guard let call = value?.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
            call.trailingClosure == nil
        else { return nil }
        return call
    }

    /// Whether the initial value is a new UUID or the present date.
    var isMadeAnew: Bool {
        guard var text = initializer?.value.trimmedDescription else { return false }
        if text.hasPrefix("Foundation.") { text.removeFirst("Foundation.".count) }
        if text.hasPrefix("."), let type = typeAnnotation?.type.trimmedDescription {
            text = (type.split(separator: ".").last.map(String.init) ?? "") + text
        }
        return ["UUID()", "UUID.init()", "Date()", "Date.init()", "Date.now"].contains {
            text == $0 || text.hasPrefix($0 + ".")
        }
    }

    /// Whether the property has a getter. A property with observers is stored.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case nil: false
        case .getter: true
        case .accessors(let accessors):
            !accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }

    /// The type that the compiler infers from a literal.
    fileprivate var literalType: TypeSyntax? {
        guard let value = initializer?.value else { return nil }
        let unsigned = value.as(PrefixOperatorExprSyntax.self)?.expression ?? value
        let name: String? =
            switch unsigned.kind {
            case .integerLiteralExpr: "Int"
            case .floatLiteralExpr: "Double"
            case .booleanLiteralExpr: "Bool"
            case .stringLiteralExpr: "String"
            default: nil
            }
        return name.map { "\(raw: $0)" }
    }
}
#endif
