#if Macros
/// Stores a property, or a case of an enum, under another name than its own.
///
/// ```swift
/// @Normalized struct Person {
///     let id: String
///     @Stored("display_name") let name: String
/// }
/// ```
///
/// Only inside of a type with ``Normalized()``, on a stored property; the name is a literal, not
/// empty, and no other property has it. Costs nothing.
@attached(peer)
public macro Stored(_ name: String) = #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property a value where a record has no such field, as those written before the property
/// was added.
///
/// ```swift
/// @Stored(default: 0) let likes: Int
/// @Stored(default: Tone.plain) let tone: Tone          // not .plain: an attribute doesn't know the property's type
/// ```
///
/// Without, such a record is a miss, unless the property is optional. A field that is there and
/// can't be read is a miss all the same. The expression is evaluated when it is needed.
@attached(peer)
public macro Stored<Value>(default: Value) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property an empty list for records without the field: `@Stored(default: []) let tags:
/// [String]`.
@attached(peer)
public macro Stored(default: [Any]) = #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property an empty dictionary for records without the field: `@Stored(default: [:]) let
/// counts: [String: Int]`.
@attached(peer)
public macro Stored(default: [AnyHashable: Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// A stored name and a value for records without the field: `@Stored("n", default: 0) let count:
/// Int`.
@attached(peer)
public macro Stored<Value>(_ name: String, default: Value) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// A stored name and an empty list for records without the field.
@attached(peer)
public macro Stored(_ name: String, default: [Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// A stored name and an empty dictionary for records without the field.
@attached(peer)
public macro Stored(_ name: String, default: [AnyHashable: Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Leaves a property out of the record. A model read from the cache has its default value there.
///
/// ```swift
/// @Normalized struct Message {
///     let id: String
///     @NotStored var isExpanded = false
/// }
/// ```
///
/// Needs a default value; an optional `var` has nil. The property is compared, copied and visited
/// for children as any other. One with a property wrapper, or `lazy`, is left alone altogether:
/// neither compared nor part of the builder.
@attached(peer)
public macro NotStored() = #externalMacro(module: "EspalierMacros", type: "NotStoredMacro")
#endif
