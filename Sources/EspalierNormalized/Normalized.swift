@_exported public import EspalierModels
@_exported public import EspalierRecords

#if Macros
// The member macro declares `names: arbitrary` instead of listing the names. With a list, compiler
// 6.3 expands the members of an enum only when one of them is looked up, and then does not report
// a payload that can't be stored.

/// Makes a struct, a final class or an enum a model: generates the conformances to
/// `NormalizedModel`, `Model` and `Hashable`.
///
/// ```swift
/// @Normalized struct Message {
///     let id: String
///     let text: String
///     let sender: Person  // another model: stored once, however many messages refer to it
///     let attachment: Attachment?
/// }
///
/// let changed = message.copy { $0.text = "Meow" }
/// ```
///
/// ## Identifiers
///
/// A type with an `id`, stored or computed, is a node. Its `modelIdentifier` is the name of the
/// type, a colon and the `id`, such as `Message:42`. An `id` may be a string, a number, a `UUID`,
/// or any other `LosslessStringConvertible` or `RawRepresentable`. A type without an `id` is an
/// inline model, which is stored in the record of its parent.
///
/// ``Normalized(type:)`` replaces the name of the type in the identifier, and
/// ``Normalized(identifier:)`` replaces the whole identifier.
///
/// - The name of a nested type is its innermost name.
/// - The name of a generic type includes its arguments: `Page<Message>`.
/// - The name of a type nested in a generic type does not include the arguments of the outer type.
///   A type with an `id` there needs `type:` or its own `modelIdentifier`. In an extension, the
///   macro can't see whether the extended type is generic, and does not report this mistake.
///
/// ## Generated members
///
/// The macro generates each of these members unless the type itself defines it. All of them are
/// `nonisolated` and have the access level of the type:
///
/// - `modelIdentifier` and `projectionIdentifier`.
/// - For a type with an `id`: the conformance to ``NodeModel``, unless `id` has less access than
///   the type, or no written type.
/// - `map` and `forEach`, which find children in optionals, arrays, sets, dictionary values,
///   payloads, and any nesting of them.
/// - `==` and `hash(into:)` over all properties.
/// - `encode(to:)` and `init(from:)`, which write and read the record.
/// - For a struct or an enum whose encoding the macro generates: `hasSameEncoding(as:)`, by which
///   the cache finds out that a model is written again unchanged. It compares the stored
///   properties and the identifier, which must not depend on anything outside of the value.
/// - For structs and classes: `Builder`, a struct with a variable for each property; `copy(_:)`,
///   which returns a changed value; and `merge`, which applies a projection with the same
///   identifier.
/// - For a class without an initializer: a memberwise one.
///
/// The macro does not see members that an extension defines, so define them in the type. Next to a
/// `==` of your own, define `hash(into:)` too: the macro does not know what your `==` compares, so
/// the generated function hashes nothing, and sets of such models are slow.
///
/// ## Properties
///
/// A property is stored under its name, or under the name that the type's own `CodingKeys` give
/// it, so the record is the one that a `Codable` conformance would write. ``Stored(_:)`` chooses
/// another name, ``Stored(default:)-8x13a`` gives a value to records without the field, and
/// ``NotStored()`` leaves a property out. A constant with a value, such as `let version = 2`, is
/// not stored. The type of a property must be a model, another `FieldValue`, or `Codable`.
///
/// An enum is stored in the form of its `Codable` conformance: `{"link": {"_0": ...}}`.
///
/// A property of the type `any Attachable`, also in optionals, arrays and dictionaries, may hold
/// any model. The name of the model's type is stored with it. The macro does not see an `any`
/// behind a type alias.
///
/// ## Access and isolation
///
/// In a file whose imports are internal by default, a public model needs `public import Espalier`.
/// In a module whose default isolation is the main actor, models are `nonisolated` all the same. A
/// `Codable` type that a model holds must be declared `nonisolated` there.
///
/// ## Errors
///
/// The macro reports the mistakes that the syntax shows, most of them with a fix-it: for example a
/// class that is not final, an optional `id`, two properties with one stored name, or a generic
/// parameter without a constraint. If the type of a property can't be stored, the compiler reports
/// an error in the line of the property. The generated `encode(to:)` and `init(from:)` throw the
/// errors of the encoder and the decoder.
///
/// ## Performance
///
/// The generated code casts nothing and calls nothing through an existential, with two exceptions:
/// `any` properties, and generic types and extensions, in which `map` and `forEach` look for models
/// at run time wherever the compiler does not know them. A record with exactly the fields of the
/// type is written and read without comparing names.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized() = #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model whose identifiers keep their prefix when the type is renamed.
///
/// ```swift
/// @Normalized(type: "person") struct Person { let id: Int; let name: String }  // person:7
/// ```
///
/// Two types with the same name and `id` are projections of the same record: each reads and writes
/// its own fields. In all other respects this is ``Normalized()``.
///
/// - Parameter type: The prefix of the identifiers: a string literal that is not empty. The type
///   must have an `id`.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(type: String) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model whose whole identifier is the text of one property.
///
/// Use it for properties that are unique across all types, such as URNs:
///
/// ```swift
/// @Normalized(identifier: \.urn) struct Member { let urn: String; let name: String }
/// // urn:li:member:7
/// ```
///
/// In all other respects this is ``Normalized()``.
///
/// - Parameter identifier: A key path of one or more properties, such as `\.urn` or `\.header.urn`.
///   The value may be optional: a model whose value is nil is an inline model.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(identifier: KeyPath<AnyProperty, AnyProperty>) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model whose writes merge, or replace, unless their caller says otherwise.
///
/// ```swift
/// @Normalized(policy: .merge) struct User {
///     let id: Int
///     let login: String?         // nil: not fetched
///     let company: Field<String> // absent: not fetched; null: none
/// }
/// ```
///
/// The macro generates the type's `writePolicy`. In all other respects this is ``Normalized()``.
///
/// - Parameter policy: The policy of nodes of this type, in calls that give none.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(policy: WritePolicy) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model with a prefix of its own, as ``Normalized(type:)``, and with a policy, as
/// ``Normalized(policy:)``.
///
/// - Parameters:
///   - type: The prefix of the identifiers: a string literal that is not empty.
///   - policy: The policy of nodes of this type, in calls that give none.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(type: String, policy: WritePolicy) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model with the identifier of a property, as ``Normalized(identifier:)``, and with
/// a policy, as ``Normalized(policy:)``.
///
/// - Parameters:
///   - identifier: A key path of one or more properties.
///   - policy: The policy of nodes of this type, in calls that give none.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(identifier: KeyPath<AnyProperty, AnyProperty>, policy: WritePolicy) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model that is `Codable`, too, with one set of attributes for records and JSON.
///
/// ```swift
/// @Normalized(.codable) struct Repository {
///     let id: Int
///     @Stored("full_name") let name: String     // the name in JSON and in records
///     @Stored(default: []) let topics: [String]  // [] where JSON and records lack the field
///     @NotStored var isExpanded = false          // in neither
/// }
/// ```
///
/// The macro generates the conformance to `Codable`. Without `.codable`, `JSONDecoder` and
/// `JSONEncoder` do not know the attributes, and the compiler warns where a type that is declared
/// `Codable` uses them. `CodingKeys` and an `init(from:)` of the type's own take precedence.
///
/// A default applies where the key is missing. A null is an error, unless the property is optional
/// or a ``Field``. In all other respects this is ``Normalized()``.
///
/// - Parameters:
///   - coding: `.codable`.
///   - type: The prefix of the identifiers, as in ``Normalized(type:)``.
///   - identifier: A key path, as in ``Normalized(identifier:)``.
///   - policy: The policy of nodes of the type, as in ``Normalized(policy:)``.
///   - maxAge: How old records may be, as in ``Normalized(type:identifier:policy:maxAge:)``.
@attached(member, names: arbitrary)
@attached(
    extension,
    conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable, Encodable, Decodable,
    names: named(init))
public macro Normalized(
    _ coding: ModelCoding, type: String? = nil,
    identifier: KeyPath<AnyProperty, AnyProperty>? = nil, policy: WritePolicy? = nil,
    maxAge: Duration? = nil
) = #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model whose records expire.
///
/// ```swift
/// @Normalized(maxAge: .hours(24)) struct Weather {
///     let id: String
///     let degrees: Double
/// }
/// ```
///
/// A read that accepts fresh records only misses a tree with a record that was written more than
/// 24 hours ago, see ``IdentifiedModel/maxAge``. In all other respects this is ``Normalized()``.
///
/// - Parameters:
///   - type: The prefix of the identifiers, as in ``Normalized(type:)``.
///   - identifier: A key path, as in ``Normalized(identifier:)``.
///   - policy: The policy of nodes of the type, as in ``Normalized(policy:)``.
///   - maxAge: How old records of the type may be.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, NodeModel, Hashable,
    names: named(init))
public macro Normalized(
    type: String? = nil, identifier: KeyPath<AnyProperty, AnyProperty>? = nil,
    policy: WritePolicy? = nil, maxAge: Duration
) = #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// What ``Normalized(_:type:identifier:policy:maxAge:)`` generates besides the model.
public struct ModelCoding: Sendable {
    /// The conformance to `Codable`.
    public static let codable = ModelCoding()
}

/// A type with every property, so that ``Normalized(identifier:)`` accepts a key path such as
/// `\.urn` before the type of the model is known.
///
/// There are no values of this type.
@dynamicMemberLookup
public struct AnyProperty {
    private init() {}

    /// Accepts any property name in a key path.
    ///
    /// - Parameter name: The name of the property.
    /// - Returns: The same value, so that a key path may have several components.
    public subscript(dynamicMember name: String) -> AnyProperty { self }
}
#endif
