public import EspalierRecords
public import Foundation

/// The functions by which a model processes its members, whatever their types. `@Normalized`
/// generates calls of them, and handwritten models can use them too.
///
/// Each name has several overloads. The compiler picks the most specific one for the type of the
/// member, so the same call works for a child, an array of children and a number:
///
/// ```swift
/// struct Message: Model {
///     let id: Int
///     let sender: Person
///     let likers: [Person]
///     var modelIdentifier: String? { "Message:\(ModelMembers.identifier(of: id))" }
///
///     func map(_ transform: (any Model) -> (any Model)?) -> Message? {
///         guard let sender = ModelMembers.map(sender, transform),
///             let likers = ModelMembers.map(likers, transform)
///         else { return nil }
///         return Message(id: id, sender: sender, likers: likers)
///     }
///
///     func forEach(_ visit: (any Model) -> Void) {
///         ModelMembers.forEach(sender, visit)
///         ModelMembers.forEach(likers, visit)
///     }
/// }
/// ```
///
/// The compiler decides at the call: in generic code it knows only the constraints of a type
/// parameter. Use the functions that end in `Dynamically` for members of such types. An existential
/// (`any Model`) inside a container is not a `ModelField`: wrap it in an `ErasedModel`.
///
/// All functions are pure, and can be called on any thread.
public enum ModelMembers {
    // MARK: Mapping

    /// Returns the member with `transform` applied to its children.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - transform: Returns the model that replaces a child, or `nil` to delete the child.
    /// - Returns: The new member; `nil` if a child that the member requires was deleted. The model
    ///   is then deleted as well.
    /// - Complexity: O(*n*) in the number of children.
    @inlinable
    public static func map<Value: ModelField>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        value.mapModels(transform)
    }

    /// Returns `value`: a member of this type has no children.
    ///
    /// - Parameters:
    ///   - value: The member, which has no children.
    ///   - transform: Not called.
    @inlinable
    @_disfavoredOverload
    public static func map<Value>(_ value: Value, _ transform: (any Model) -> (any Model)?)
        -> Value?
    { value }

    /// Returns the member with `transform` applied to its children. Chosen where the compiler knows
    /// that the type is a `ModelField`; it does the same as `map`.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - transform: Returns the model that replaces a child, or `nil` to delete the child.
    /// - Complexity: O(*n*) in the number of children.
    @inlinable
    public static func mapDynamically<Value: ModelField>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        value.mapModels(transform)
    }

    /// Returns the member with `transform` applied to its children, if the type turns out to be a
    /// `ModelField` at run time. For members whose types the compiler does not know: in generic
    /// types and in extensions of them.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - transform: Returns the model that replaces a child, or `nil` to delete the child.
    /// - Complexity: O(*n*) in the number of children, and one dynamic cast of about 100 ns.
    @_disfavoredOverload
    public static func mapDynamically<Value>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        guard let field = value as? any ModelField else { return value }
        guard let mapped = field.mapModels(transform) else { return nil }
        return mapped as? Value
    }

    // MARK: Visiting

    /// Calls `visit` with the children of the member, in the order of `map`.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - visit: Called once for each child.
    /// - Complexity: O(*n*) in the number of children.
    @inlinable
    public static func forEach<Value: ModelField>(_ value: Value, _ visit: (any Model) -> Void) {
        value.forEachModel(visit)
    }

    /// Does nothing: a member of this type has no children.
    ///
    /// - Parameters:
    ///   - value: The member, which has no children.
    ///   - visit: Not called.
    @inlinable
    @_disfavoredOverload
    public static func forEach<Value>(_ value: Value, _ visit: (any Model) -> Void) {}

    /// Calls `visit` with the children of the member. Chosen where the compiler knows that the type
    /// is a `ModelField`; it does the same as `forEach`.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - visit: Called once for each child.
    /// - Complexity: O(*n*) in the number of children.
    @inlinable
    public static func forEachDynamically<Value: ModelField>(
        _ value: Value, _ visit: (any Model) -> Void
    ) {
        value.forEachModel(visit)
    }

    /// Calls `visit` with the children of the member, if the type turns out to be a `ModelField` at
    /// run time.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - visit: Called once for each child.
    /// - Complexity: O(*n*) in the number of children, and one dynamic cast of about 100 ns.
    @_disfavoredOverload
    public static func forEachDynamically<Value>(_ value: Value, _ visit: (any Model) -> Void) {
        (value as? any ModelField)?.forEachModel(visit)
    }

    // MARK: Comparing

    /// Returns whether two values of a member are equal by `==`.
    ///
    /// - Parameters:
    ///   - a: The value of the member in one model.
    ///   - b: The value of the member in the other model.
    @inlinable
    public static func areEqual<Value: Equatable>(_ a: Value, _ b: Value) -> Bool { a == b }

    /// Returns whether two models, or containers of models, are equal by `isEqual(to:)`. Chosen for
    /// types that are not `Equatable`.
    ///
    /// - Parameters:
    ///   - a: The value of the member in one model.
    ///   - b: The value of the member in the other model.
    @inlinable
    @_disfavoredOverload
    public static func areEqual<Value: ModelField>(_ a: Value, _ b: Value) -> Bool {
        a.isEqualField(to: b)
    }

    /// Returns whether two values are equal by the `==` that the runtime finds for the value, or
    /// for the contents of an optional or an array.
    ///
    /// Objects without `==` are compared by identity. Values that cannot be compared count as
    /// different, so that no change is missed.
    ///
    /// - Parameters:
    ///   - a: The value of the member in one model.
    ///   - b: The value of the member in the other model.
    /// - Complexity: One or more dynamic casts of about 100 ns each.
    @_disfavoredOverload
    public static func areEqual<Value>(_ a: Value, _ b: Value) -> Bool {
        switch a {
        case let a as any Equatable: return isSame(a, b)
        case let a as any ModelField: return isSameField(a, b)
        case let a as any OptionalMember:
            guard let b = b as? any OptionalMember else { return false }
            switch (a.wrappedMember, b.wrappedMember) {
            case (nil, nil): return true
            case (let a?, let b?): return areEqual(a, b)
            default: return false
            }
        case let a as [Any]:
            guard let b = b as? [Any] else { return false }
            return a.elementsEqual(b) { areEqual($0, $1) }
        default:
            guard type(of: a as Any) is AnyObject.Type, type(of: b as Any) is AnyObject.Type else {
                return false
            }
            return (a as AnyObject) === (b as AnyObject)
        }
    }

    static func isSame<Value: Equatable>(_ a: Value, _ b: Any) -> Bool {
        guard let b = b as? Value else { return false }
        return a == b
    }

    private static func isSameField<Value: ModelField>(_ a: Value, _ b: Any) -> Bool {
        guard let b = b as? Value else { return false }
        return a.isEqualField(to: b)
    }

    // MARK: Hashing

    /// Feeds the member to `hasher`.
    @inlinable
    public static func hash<Value: Hashable>(_ value: Value, into hasher: inout Hasher) {
        hasher.combine(value)
    }

    /// Does nothing: a member of this type is not `Hashable`. Equal models still have equal hashes.
    @inlinable
    @_disfavoredOverload
    public static func hash<Value>(_ value: Value, into hasher: inout Hasher) {}
}

// MARK: - Encodings

extension ModelMembers {
    /// Returns whether both members certainly have the same encoding, see
    /// `FieldValue.hasSameEncoding(as:)`.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - other: The same member of another model.
    @inlinable
    public static func haveSameEncoding<Value: FieldValue>(_ value: Value, _ other: Value) -> Bool {
        value.hasSameEncoding(as: other)
    }

    /// Returns `false`: it is not known what a member of this type writes.
    ///
    /// - Parameters:
    ///   - value: The member.
    ///   - other: The same member of another model.
    @inlinable
    @_disfavoredOverload
    public static func haveSameEncoding<Value>(_ value: Value, _ other: Value) -> Bool { false }
}

/// An optional that is recognised at run time.
protocol OptionalMember {
    static var wrappedType: Any.Type { get }
    var wrappedMember: Any? { get }
}

extension Optional: OptionalMember {
    static var wrappedType: Any.Type { Wrapped.self }
    var wrappedMember: Any? { map { $0 } }
}

// MARK: - Identifiers

// The text of an `id`. Together with the name of the type it forms an identifier. An `id` of a type
// without overload does not compile.
extension ModelMembers {
    /// Returns the `description` of `id`.
    @inlinable
    public static func identifier<ID: LosslessStringConvertible>(of id: ID) -> String {
        id.description
    }

    /// Returns the `description` of the raw value of `id`.
    @inlinable
    public static func identifier<ID: RawRepresentable>(of id: ID) -> String
    where ID.RawValue: LosslessStringConvertible { id.rawValue.description }

    /// Returns the `description` of `id`, which takes precedence over the raw value.
    @inlinable
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable>(of id: ID)
        -> String
    where ID.RawValue: LosslessStringConvertible { id.description }

    // There is no overload of this one for optionals: for a `String?`, neither of the two would be
    // the more specific one.
    /// Returns the text of the raw value's raw value: `struct OrderID: RawRepresentable { let
    /// rawValue: Number }`, where `Number` is `RawRepresentable` too.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable>(of id: ID) -> String
    where ID.RawValue: RawRepresentable, ID.RawValue.RawValue: LosslessStringConvertible {
        identifier(of: id.rawValue)
    }

    /// Refuses an `id` without text, so that the compiler says what its type lacks.
    @available(
        *, unavailable,
        message: "an id must be a String, number, UUID or RawRepresentable; or compute the id"
    )
    @_disfavoredOverload
    public static func identifier<ID>(of id: ID) -> String { "" }

    /// Returns `uuidString`, which is in capital letters.
    @inlinable
    public static func identifier(of id: UUID) -> String { id.uuidString }

    /// Returns the `uuidString` of the raw value.
    @inlinable
    public static func identifier<ID: RawRepresentable<UUID>>(of id: ID) -> String {
        id.rawValue.uuidString
    }

    /// Returns the `description` of `id`, which takes precedence over the raw value.
    @inlinable
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable<UUID>>(of id: ID)
        -> String
    {
        id.description
    }

    // MARK: Optional identifiers

    /// Returns the `description` of `id`; `nil`, which makes the model an inline node, if `id` is
    /// `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible>(of id: ID?) -> String? {
        id?.description
    }

    /// Returns the `description` of the raw value of `id`, or `nil` if `id` is `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable>(of id: ID?) -> String?
    where ID.RawValue: LosslessStringConvertible { id?.rawValue.description }

    /// Returns the `description` of `id`, which takes precedence over the raw value, or `nil` if
    /// `id` is `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable>(of id: ID?)
        -> String?
    where ID.RawValue: LosslessStringConvertible { id?.description }

    /// Returns `uuidString`, which is in capital letters, or `nil` if `id` is `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier(of id: UUID?) -> String? { id?.uuidString }

    /// Returns the `uuidString` of the raw value, or `nil` if `id` is `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: RawRepresentable<UUID>>(of id: ID?) -> String? {
        id?.rawValue.uuidString
    }

    /// Returns the `description` of `id`, which takes precedence over the raw value, or `nil` if
    /// `id` is `nil`.
    @inlinable
    @_disfavoredOverload
    public static func identifier<ID: LosslessStringConvertible & RawRepresentable<UUID>>(
        of id: ID?
    ) -> String? {
        id?.description
    }

    /// Returns the name of `type` with which identifiers begin: the innermost name with its generic
    /// arguments, such as `Page<Person>`.
    public static func typeName(of type: Any.Type) -> String { TypeName.of(type) }
}

// MARK: - JSON

extension ModelMembers {
    /// Returns the value of a key, for an `init(from:)` that `@Normalized(.codable)` generates.
    ///
    /// - Parameters:
    ///   - values: The container.
    ///   - key: The key.
    /// - Throws: What the container throws.
    @_disfavoredOverload  // an optional is a value, too
    public static func decoded<Value: Decodable, Key: CodingKey>(
        _ values: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value {
        try values.decode(Value.self, forKey: key)
    }

    /// Returns the value of a key; nil for null and for a missing key.
    ///
    /// - Parameters:
    ///   - values: The container.
    ///   - key: The key.
    /// - Throws: What the container throws.
    public static func decoded<Value: Decodable, Key: CodingKey>(
        _ values: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value? {
        try values.decodeIfPresent(Value.self, forKey: key)
    }

    /// Returns the field of a key: absent for a missing key, null for null.
    ///
    /// - Parameters:
    ///   - values: The container.
    ///   - key: The key.
    /// - Throws: What the container throws.
    public static func decoded<Value: Decodable, Key: CodingKey>(
        _ values: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Field<Value> {
        try values.decode(Field<Value>.self, forKey: key)
    }
}
