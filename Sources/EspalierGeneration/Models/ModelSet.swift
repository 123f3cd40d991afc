/// The types that a schema or a sample describes: what both ways to read have in common.
///
/// A reader makes declarations without final names. `TypeNames` names them, and `SwiftEmitter`
/// prints them.
struct ModelSet: Sendable {
    /// The declarations. A `ValueType` refers to one by its index.
    var declarations: [Declaration] = []
    /// The type of a whole document; nil if a schema has definitions only.
    var root: ValueType?
    /// The name of the document's type, which also begins the name of the type for any JSON.
    var rootName: String

    /// Returns the index of a new declaration.
    mutating func add(_ declaration: Declaration) -> Int {
        declarations.append(declaration)
        return declarations.count - 1
    }
}

/// The type of a value.
indirect enum ValueType: Hashable, Sendable {
    case bool, integer, number, string, date, url, uuid
    /// A whole number that may be beyond `Int`, and is never negative.
    case unsigned
    /// Any JSON.
    case any
    case declared(Int)
    case array(ValueType)
    /// An object whose keys are data.
    case dictionary(ValueType)
    /// An element that may be null.
    case optional(ValueType)

    /// The declaration that a value of this type contains without an array or a dictionary between.
    var contained: Int? {
        switch self {
        case .declared(let index): index
        case .optional(let wrapped): wrapped.contained
        default: nil
        }
    }

    /// The declaration that this type mentions.
    var mentioned: Int? {
        switch self {
        case .declared(let index): index
        case .optional(let inner), .array(let inner), .dictionary(let inner): inner.mentioned
        default: nil
        }
    }

    /// Whether `other` stands in this type.
    func mentions(_ other: ValueType) -> Bool {
        switch self {
        case other: true
        case .optional(let inner), .array(let inner), .dictionary(let inner): inner.mentions(other)
        default: false
        }
    }

    /// Returns the type that also has null.
    func orNull(_ isNullable: Bool) -> ValueType {
        if case .optional = self { return self }
        return isNullable && self != .any ? .optional(self) : self
    }
}

/// One type of the generated source.
struct Declaration: Sendable {
    /// The name that the type has if no other type wants it.
    var shortName: String
    /// The name that the type has otherwise.
    var longName: String
    /// Whether the type keeps its short name if others want it, too.
    var isPrimary = false
    var documentation: String?
    var body: Body

    enum Body: Sendable {
        case object(ObjectBody)
        case enumeration(EnumerationBody)
        case union(UnionBody)
    }
}

/// An object with known members.
struct ObjectBody: Sendable {
    var members: [Member] = []
    var identity = Identity.none

    enum Identity: Hashable, Sendable {
        /// A node.
        ///
        /// - Parameters:
        ///   - key: The member with the identifier.
        ///   - record: What its identifiers begin with, if that is not the name of the type.
        case node(key: String, record: String?)
        /// No member looks like an identifier.
        case none
        /// A member looks like an identifier, and identifies nothing, for the reason given.
        case denied(reason: String)
    }
}

/// One member of an object.
struct Member: Sendable {
    /// The name in JSON.
    var key: String
    var type: ValueType
    var isRequired: Bool
    /// Whether the value may be null.
    var isNullable: Bool
    var documentation: String?
    /// The text that the value always is; nil if there is none.
    var constant: String?
}

/// A list of strings or integers. The generated enum has a case for all others.
struct EnumerationBody: Sendable {
    var values: Values

    enum Values: Sendable {
        case strings([String])
        case integers([Int])
    }
}

/// One of several types.
struct UnionBody: Sendable {
    var cases: [Case]
    /// The member whose constant tells which case it is.
    var discriminator: String?

    struct Case: Sendable {
        var name: String
        var type: ValueType
        /// The value of the discriminator.
        var tag: String?
    }
}
