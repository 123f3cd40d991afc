/// What a model does with each of its members, whatever their types: the calls that `@Normalized`
/// writes.
///
/// Each name has several overloads, of which the compiler takes the one that says most about the
/// member's type, so that the same call can be written for a child, a list of children and a
/// number. Hand-written models can use them, too:
///
/// ```swift
/// struct Message: Model {
///     let id: Int
///     let sender: Person
///     let likers: [Person]
///     var modelIdentifier: String? { "Message:\(ModelMembers.identifier(of: id))" }
///
///     func map(_ transform: (any Model) -> (any Model)?) -> Message? {
///         guard let sender = ModelMembers.map(sender, transform), let likers = ModelMembers.map(likers, transform) else {
///             return nil
///         }
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
/// The choice is the compiler's, at the place of the call: inside of generic code it knows a
/// parameter's constraints and no more. Members of such types take the calls that end in
/// `Dynamically`. An existential (`any Model`) is no `ModelField` in a container: wrap it in an
/// `ErasedModel`. All functions are pure and can be called on any thread.
public enum ModelMembers {
    // MARK: Mapping

    /// The member with its children put through `transform`; nil where it can't do without one that
    /// was deleted, so that the model is deleted, too.
    @inlinable
    public static func map<Value: ModelField>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        value.mapModels(transform)
    }

    /// A member that holds no children: itself.
    @inlinable
    @_disfavoredOverload
    public static func map<Value>(_ value: Value, _ transform: (any Model) -> (any Model)?)
        -> Value?
    { value }

    /// The same for a member of which perhaps only run time tells whether it holds children, as in
    /// generic types and in extensions, which may be of such. Where the compiler knows a
    /// `ModelField`, it is `map`.
    @inlinable
    public static func mapDynamically<Value: ModelField>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        value.mapModels(transform)
    }

    /// Where it does not, this costs a cast, about 100 ns.
    @_disfavoredOverload
    public static func mapDynamically<Value>(
        _ value: Value, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        guard let field = value as? any ModelField else { return value }
        return mapOpened(field, transform)
    }

    private static func mapOpened<Field: ModelField, Value>(
        _ field: Field, _ transform: (any Model) -> (any Model)?
    ) -> Value? {
        guard let mapped = field.mapModels(transform) else { return nil }
        return mapped as? Value
    }

    // MARK: Visiting

    /// Calls `visit` with the children the member holds, in the order of `map`.
    @inlinable
    public static func forEach<Value: ModelField>(_ value: Value, _ visit: (any Model) -> Void) {
        value.forEachModel(visit)
    }

    /// A member that holds no children.
    @inlinable
    @_disfavoredOverload
    public static func forEach<Value>(_ value: Value, _ visit: (any Model) -> Void) {}

    /// The same as `mapDynamically` for `forEach`.
    @inlinable
    public static func forEachDynamically<Value: ModelField>(
        _ value: Value, _ visit: (any Model) -> Void
    ) {
        value.forEachModel(visit)
    }

    /// The same as `mapDynamically` for `forEach`, where the compiler does not know a `ModelField`.
    @_disfavoredOverload
    public static func forEachDynamically<Value>(_ value: Value, _ visit: (any Model) -> Void) {
        (value as? any ModelField)?.forEachModel(visit)
    }
}
