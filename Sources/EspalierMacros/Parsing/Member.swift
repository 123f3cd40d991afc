#if Macros
import SwiftSyntax

/// One stored property of a struct or class. A constant, `let x = 5`, is none.
struct Member {
    /// As it is written, with backticks where it needs them.
    let name: String
    let bareName: String
    /// Nil where it has to be written and is not.
    let type: TypeSyntax?
    /// What the member's own modifier says; internal without one.
    let access: AccessLevel
    let isVariable: Bool
    let initializer: ExprSyntax?
    let attribute: StoredAttribute
    /// `lazy`, `weak` or `unowned`.
    let modifier: DeclModifierSyntax?
    /// Nil for what is not stored.
    let storedName: String?
    /// Whether the type's `CodingKeys` leave it out.
    let isLeftOutOfCodingKeys: Bool
    let binding: PatternBindingSyntax

    var form: StoredForm { type.map { StoredForm($0) } ?? .itself("") }

    /// Whether the generated code leaves it alone: what only its wrapper can make and read.
    var isLeftAlone: Bool { attribute.wrapper != nil || modifier != nil }

    /// Whether an initialiser may leave it out.
    var hasDefault: Bool { initializer != nil || (isVariable && type?.isOptional == true) }

    /// Whether the syntax alone shows that there is no model in it.
    var isScalar: Bool { type?.isScalar == true }
}

extension Member {
    /// The members that one declaration declares.
    static func all(in variable: VariableDeclSyntax, keys: CodingKeysTable?) -> [Member] {
        guard !variable.isOfTheType else { return [] }
        let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
        let attribute = StoredAttribute(variable.attributes)
        var type: TypeSyntax?
        // `let a, b: String`: the type stands behind the last one.
        let members = variable.bindings.reversed().compactMap { binding -> Member? in
            type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
                !binding.isComputed,
                isVariable || binding.initializer == nil
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
                isLeftOutOfCodingKeys: isStored && attribute.nameExpression == nil && keyed == nil,
                binding: binding)
        }
        return members.reversed()
    }
}

extension VariableDeclSyntax {
    /// Whether it belongs to the type and not to its values.
    var isOfTheType: Bool { modifiers.contains { ["static", "class"].contains($0.name.text) } }
}

extension PatternBindingSyntax {
    /// Whether it has a getter; observers leave a property stored.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case nil: false
        case .getter: true
        case .accessors(let accessors):
            !accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }

    /// The type that a literal gives.
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
