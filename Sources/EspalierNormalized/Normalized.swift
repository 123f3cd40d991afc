#if Macros
// The names of members are not listed: the compiler (6.3) would make an enum's only when one of
// them is asked for, and say nothing of a payload that can't be stored.

/// Makes a struct, a final class or an enum a model: what `NormalizedModel`, `Model` and `Hashable`
/// ask for is generated.
///
/// ```swift
/// @Normalized struct Message {
///     let id: String
///     let text: String
///     let sender: Person                  // another model: stored once, however many messages it sent
///     let attachment: Attachment?
/// }
///
/// let changed = message.copy { $0.text = "Meow" }
/// ```
///
/// **Identifier.** A type with an `id`, stored or computed, is a node: its `modelIdentifier` is the
/// type's name and the `id`, here `Message:42`. An `id` is anything with a text: a string, a
/// number, a `UUID`, a raw value. A type without is an inline node, stored in its parent.
/// `@Normalized(type:)` chooses the name, `@Normalized(identifier:)` the whole identifier. A nested
/// type has its innermost name; a generic one the names of its arguments too, `Page<Message>`. What
/// a type around it is generic over is not in the name: an `id` in a generic type needs `type:`, or
/// a `modelIdentifier`. In an extension that can't be seen.
///
/// **Generated**, each unless the type itself defines it, all of it `nonisolated` and as accessible
/// as the type: `modelIdentifier` and `projectionIdentifier`; `map` and `forEach`, which find
/// children in optionals, arrays, sets, values of dictionaries, payloads and any nesting of them;
/// `==` and `hash(into:)`; `merge` for projections of one identifier; `encode(to:)` and
/// `init(from:)` for records; and, not for enums, `Builder`, a struct with a variable for each
/// property, with `copy(_:)`, which makes a changed value. Classes get a memberwise initialiser
/// where they have no other. What an extension defines can't be seen from here: write it in the
/// type. With a `==` of the type's own nothing is hashed, since what it looks at is not known:
/// write `hash(into:)` next to it, or sets of such models are slow.
///
/// **Properties** are stored under their names, or those of the type's own `CodingKeys`, so that
/// records are the ones that its `Codable` conformance would write. ``Stored(_:)`` chooses another
/// name, `@Stored(default:)` a value for records without the field, ``NotStored()`` leaves a
/// property out. A constant, `let version = 2`, is not stored. A type of a property is a
/// `FieldValue`, which models are, or `Codable`. Enums are stored as their `Codable` conformance
/// would: `{"link": {"_0": ...}}`.
///
/// **Existentials.** `any Attachable`, in optionals, arrays and dictionaries too, may be any model:
/// its type is stored with it. Behind a type alias it can't be seen.
///
/// **Access.** Where imports are internal by default, the file of a public model says `public
/// import Espalier`. In a module whose default is the main actor models are not on it; a type of
/// yours that they hold, and that is `Codable`, has to be `nonisolated`.
///
/// **Errors.** What the syntax shows is said where it stands, mostly with a fix-it: a class that is
/// not final, an optional `id`, two properties of one stored name, a generic parameter without
/// constraint, an argument beside a `modelIdentifier`. A property of a type that can't be stored is
/// an error of the line that encodes it. What is generated throws what encoder and decoder throw.
///
/// **Cost.** No calls through existentials and no casts, but for `any`, and in generic types and
/// extensions, where `map` and `forEach` look for models at run time in what the compiler doesn't
/// know for one; a record that holds just the type's fields is read and written straight down.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, Hashable, names: named(init))
public macro Normalized() = #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model, with a name for its identifiers that stays when the type's name changes.
///
/// ```swift
/// @Normalized(type: "person") struct Person { let id: Int; let name: String }      // person:7
/// ```
///
/// Two types of one name are projections of the same records: each reads and writes its own fields.
/// Else as ``Normalized()``. The name is a literal and not empty, and the type has an `id`.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, Hashable, names: named(init))
public macro Normalized(type: String) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Makes a type a model whose identifier is the text of one property, as it is: for identifiers
/// that are unique anyway.
///
/// ```swift
/// @Normalized(identifier: \.urn) struct Member { let urn: String; let name: String }      // urn:li:member:7
/// ```
///
/// The property may be optional: a value without is an inline node. A path, `\.header.urn`, works
/// too. Else as ``Normalized()``.
@attached(member, names: arbitrary)
@attached(
    extension, conformances: NormalizedModel, Model, ProjectedModel, Hashable, names: named(init))
public macro Normalized(identifier: KeyPath<AnyProperty, AnyProperty>) =
    #externalMacro(module: "EspalierMacros", type: "NormalizedMacro")

/// Has every property, so that `\.urn` can be written where the type of the model is not known yet.
/// There are no values.
@dynamicMemberLookup
public struct AnyProperty {
    private init() {}

    public subscript(dynamicMember name: String) -> AnyProperty { self }
}
#endif
