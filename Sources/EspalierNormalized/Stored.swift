#if Macros
/// Stores a property, or a case of an enum, under another name.
///
/// ```swift
/// @Normalized struct Person {
///     let id: String
///     @Stored("display_name") let name: String
/// }
/// ```
///
/// Apply it to stored properties and cases of a type with ``Normalized()``.
///
/// - Parameter name: The name in the record: a string literal that is not empty, and that no other
///   property of the type has.
@attached(peer)
public macro Stored(_ name: String) = #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property a value for records without the field, such as records that were written before
/// the property existed.
///
/// ```swift
/// @Stored(default: 0) let likes: Int
/// @Stored(default: Tone.plain) let tone: Tone  // an attribute can't infer the type of `.plain`
/// ```
///
/// Without a default, reading such a record is a miss unless the property is optional. If the
/// record has the field but its value does not fit the type, the read is a miss with a default,
/// too.
///
/// - Parameter default: An expression of the property's type, evaluated each time it is needed.
@attached(peer)
public macro Stored<Value>(default: Value) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property an empty array or set for records without the field.
///
/// ```swift
/// @Stored(default: []) let tags: [String]
/// ```
///
/// - Parameter default: The literal `[]`, or another array literal.
@attached(peer)
public macro Stored(default: [Any]) = #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Gives a property an empty dictionary for records without the field.
///
/// ```swift
/// @Stored(default: [:]) let counts: [String: Int]
/// ```
///
/// - Parameter default: The literal `[:]`, or another dictionary literal.
@attached(peer)
public macro Stored(default: [AnyHashable: Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Stores a property under another name, and gives it a value for records without the field.
///
/// ```swift
/// @Stored("n", default: 0) let count: Int
/// ```
///
/// - Parameters:
///   - name: The name in the record, as in ``Stored(_:)``.
///   - default: An expression of the property's type, evaluated each time it is needed.
@attached(peer)
public macro Stored<Value>(_ name: String, default: Value) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Stores a property under another name, and gives it an empty array or set for records without the
/// field.
///
/// - Parameters:
///   - name: The name in the record, as in ``Stored(_:)``.
///   - default: The literal `[]`, or another array literal.
@attached(peer)
public macro Stored(_ name: String, default: [Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Stores a property under another name, and gives it an empty dictionary for records without the
/// field.
///
/// - Parameters:
///   - name: The name in the record, as in ``Stored(_:)``.
///   - default: The literal `[:]`, or another dictionary literal.
@attached(peer)
public macro Stored(_ name: String, default: [AnyHashable: Any]) =
    #externalMacro(module: "EspalierMacros", type: "StoredMacro")

/// Leaves a property out of the record. A model that is read from the cache has the default value
/// of the property.
///
/// ```swift
/// @Normalized struct Message {
///     let id: String
///     @NotStored var isExpanded = false
/// }
/// ```
///
/// The property needs a default value; that of an optional `var` is nil. The generated code
/// compares, copies and visits the property like any other. It ignores a property that is `lazy` or
/// has a wrapper: such a property is not compared, and not part of the builder.
@attached(peer)
public macro NotStored() = #externalMacro(module: "EspalierMacros", type: "NotStoredMacro")
#endif
