#if Macros
import SwiftSyntax

/// The form in which a member of a type is stored: the type itself, or the type with its
/// existentials wrapped in `ErasedModel`.
indirect enum StoredForm {
    case itself(String)
    case erased(existential: String)
    case optional(StoredForm)
    case array(StoredForm)
    case dictionary(key: String, StoredForm)
    case field(StoredForm)

    init(_ type: TypeSyntax) {
        let form = StoredForm(walking: type)
        self = form.isErased ? form : .itself(type.trimmedDescription)
    }

    private init(walking type: TypeSyntax) {
        if let type = type.as(OptionalTypeSyntax.self) {
            self = .optional(StoredForm(walking: type.wrappedType))
        } else if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            self = .optional(StoredForm(walking: type.wrappedType))
        } else if let type = type.as(ArrayTypeSyntax.self) {
            self = .array(StoredForm(walking: type.element))
        } else if let type = type.as(DictionaryTypeSyntax.self) {
            self = .dictionary(key: type.key.trimmedDescription, StoredForm(walking: type.value))
        } else if let inner = type.parenthesized {
            self.init(walking: inner)
        } else if let type = type.as(SomeOrAnyTypeSyntax.self),
            type.someOrAnySpecifier.tokenKind == .keyword(.any)
        {
            self = .erased(existential: type.trimmedDescription)
        } else if let (name, arguments) = type.generic {
            switch (name, arguments.count) {
            case ("Optional", 1): self = .optional(StoredForm(walking: arguments[0]))
            case ("Array", 1): self = .array(StoredForm(walking: arguments[0]))
            case ("Field", 1): self = .field(StoredForm(walking: arguments[0]))
            case ("Dictionary", 2):
                self = .dictionary(
                    key: arguments[0].trimmedDescription, StoredForm(walking: arguments[1]))
            default: self = .itself(type.trimmedDescription)
            }
        } else {
            self = .itself(type.trimmedDescription)
        }
    }

    var isErased: Bool {
        switch self {
        case .itself: false
        case .erased: true
        case .optional(let inner), .array(let inner), .dictionary(_, let inner), .field(let inner):
            inner.isErased
        }
    }

    /// The stored type.
    var type: String {
        switch self {
        case .itself(let type): type
        case .erased(let existential): "EspalierModels.ErasedModel<\(existential)>"
        case .optional(let inner): "\(inner.type)?"
        case .array(let inner): "[\(inner.type)]"
        case .dictionary(let key, let inner): "[\(key): \(inner.type)]"
        case .field(let inner): "EspalierRecords.Field<\(inner.type)>"
        }
    }

    /// Returns code that converts `expression`, a value of the declared type, to the stored type.
    func wrapping(_ expression: String) -> String {
        converting(expression) { type, model in "\(type)(\(model))" }
    }

    /// Returns code that converts `expression`, a stored value, to the declared type.
    func unwrapping(_ expression: String) -> String {
        converting(expression) { _, erased in "\(erased).model" }
    }

    private func converting(
        _ expression: String, _ convert: (_ type: String, _ expression: String) -> String
    ) -> String {
        switch self {
        case .itself: expression
        case .erased: convert(type, expression)
        case .optional(let inner), .array(let inner), .field(let inner):
            "\(expression).map { \(inner.converting("$0", convert)) }"
        case .dictionary(_, let inner):
            "\(expression).mapValues { \(inner.converting("$0", convert)) }"
        }
    }

    /// Returns code that reads a field and converts it to `type`, the declared type.
    ///
    /// - Parameters:
    ///   - decode: The function that reads a field.
    ///   - value: The value of a field that is absent.
    func decoding(_ decode: String, key: String, default value: String?, of type: TypeSyntax)
        -> String
    {
        guard isErased else {
            return "\(decode)(forKey: \(key)\(value.map { ", default: \($0)" } ?? ""))"
        }
        let arguments =
            if let value {
                "forKey: \(key), default: "
                    + wrapping("(\(value) as \(type.unforced.trimmedDescription))")
            } else {
                "\(self.type).self, forKey: \(key)"
            }
        let call = "\(decode)(\(arguments))"
        return unwrapping(decode.hasPrefix("try ") ? "(\(call))" : call)
    }
}

extension TypeSyntax {
    /// The type in a pair of parentheses.
    var parenthesized: TypeSyntax? {
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
            let element = tuple.elements.first,
            element.firstName == nil
        else { return nil }
        return element.type
    }

    /// The name and the arguments of `Array<Int>` or `Swift.Array<Int>`.
    var generic: (name: String, arguments: [TypeSyntax])? {
        let clause: GenericArgumentClauseSyntax?
        let name: String
        if let type = self.as(IdentifierTypeSyntax.self) {
            (name, clause) = (type.name.text, type.genericArgumentClause)
        } else if let type = self.as(MemberTypeSyntax.self),
            ["Swift", "Espalier", "EspalierRecords"].contains(type.baseType.trimmedDescription)
        {
            (name, clause) = (type.name.text, type.genericArgumentClause)
        } else {
            return nil
        }
        guard let clause else { return nil }
        return (
            name,
            clause.arguments.compactMap { TypeSyntax("\(raw: $0.argument.trimmedDescription)") }
        )
    }

    /// Whether the type is written as an optional.
    var isOptional: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
            || generic?.name == "Optional" || parenthesized?.isOptional == true
    }

    /// Whether a variable of the type is nil without an initial value. One of the type
    /// `Optional<T>` is not.
    var isNilByDefault: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }

    var isFunction: Bool {
        if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.isFunction }
        return self.is(FunctionTypeSyntax.self) || parenthesized?.isFunction == true
    }

    /// Returns whether `name` occurs anywhere in the type.
    func mentions(_ name: String) -> Bool {
        tokens(viewMode: .sourceAccurate).contains { $0.text == name }
    }

    /// Whether the type is a scalar of the standard library, or an optional or array of scalars.
    /// Such a type holds no model.
    var isScalar: Bool {
        if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.isScalar }
        if let type = self.as(ArrayTypeSyntax.self) { return type.element.isScalar }
        guard let type = self.as(IdentifierTypeSyntax.self), type.genericArgumentClause == nil
        else { return false }
        return Self.scalars.contains(type.name.text)
    }

    static let scalars: Set<String> = [
        "Bool", "String", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
        "UInt8", "UInt16", "UInt32", "UInt64",
    ]

    /// The type as an expression may name it: `T?` for `T!`, which only declarations may use.
    var unforced: TypeSyntax {
        self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map {
            "\(raw: $0.wrappedType.trimmedDescription)?"
        } ?? self
    }
}

extension SyntaxProtocol {
    /// Returns the text with `Self` replaced by `name`, so that it means the same in another type.
    func replacingSelf(with name: String) -> String {
        trimmed.tokens(viewMode: .sourceAccurate).map { token in
            token.tokenKind == .keyword(.Self)
                ? token.with(\.tokenKind, .identifier(name)).description : token.description
        }.joined()
    }
}
#endif
