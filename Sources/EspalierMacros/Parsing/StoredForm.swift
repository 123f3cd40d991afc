#if Macros
import SwiftSyntax

/// How a member's type is stored, as its syntax shows: as it is, or with the existentials in it
/// wrapped in `ErasedModel`.
indirect enum StoredForm {
    case itself(String)
    case erased(existential: String)
    case optional(StoredForm)
    case array(StoredForm)
    case dictionary(key: String, StoredForm)

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
        case .optional(let inner), .array(let inner), .dictionary(_, let inner): inner.isErased
        }
    }

    /// The type that is stored.
    var type: String {
        switch self {
        case .itself(let type): type
        case .erased(let existential): "EspalierModels.ErasedModel<\(existential)>"
        case .optional(let inner): "\(inner.type)?"
        case .array(let inner): "[\(inner.type)]"
        case .dictionary(let key, let inner): "[\(key): \(inner.type)]"
        }
    }

    /// The value `expression` of the declared type, as it is stored.
    func wrapping(_ expression: String) -> String {
        switch self {
        case .itself: expression
        case .erased: "\(type)(\(expression))"
        case .optional(let inner), .array(let inner):
            "\(expression).map { \(inner.wrapping("$0")) }"
        case .dictionary(_, let inner): "\(expression).mapValues { \(inner.wrapping("$0")) }"
        }
    }

    /// The stored value `expression`, as the member has it.
    func unwrapping(_ expression: String) -> String {
        switch self {
        case .itself: expression
        case .erased: "\(expression).model"
        case .optional(let inner), .array(let inner):
            "\(expression).map { \(inner.unwrapping("$0")) }"
        case .dictionary(_, let inner): "\(expression).mapValues { \(inner.unwrapping("$0")) }"
        }
    }
}
#endif
