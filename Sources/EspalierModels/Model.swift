/// A model that is replaced only as a whole: its children are not kept consistent.
///
/// A conforming type needs `modelIdentifier` and, unless it is `Equatable`, `isEqual(to:)`.
///
/// ```swift
/// struct Badge: SimpleModel, Equatable {
///     let id: String
///     let count: Int
///     var modelIdentifier: String? { "Badge:\(id)" }
/// }
/// ```
public protocol SimpleModel: ConsistencyManagerModel {
    /// Returns whether replacing this model with `model` would change nothing. The default for
    /// `Equatable` types is `==`.
    func isEqual(to model: any SimpleModel) -> Bool
}

extension SimpleModel {
    /// Returns this model: a `SimpleModel` shows no children.
    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? { self }

    /// Does nothing: a `SimpleModel` shows no children.
    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {}

    /// Returns `isEqual(to: other)`, or `false` if `other` is not a `SimpleModel`.
    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? any SimpleModel).map { isEqual(to: $0) } ?? false
    }
}

extension SimpleModel where Self: Equatable {
    /// Returns whether `model` has the same type and is equal by `==`.
    public func isEqual(to model: any SimpleModel) -> Bool {
        (model as? Self).map { $0 == self } ?? false
    }
}

/// A model whose children are kept consistent too: when a child changes, the parent is rebuilt with
/// the new child.
///
/// ```swift
/// struct Message: Model, Equatable {
///     let id: Int
///     let sender: Person
///     var modelIdentifier: String? { "Message:\(id)" }
///
///     func map(_ transform: (any Model) -> (any Model)?) -> Message? {
///         // The sender is required: deleting it deletes the message.
///         guard let sender = transform(sender) as? Person else { return nil }
///         return Message(id: id, sender: sender)
///     }
///
///     func forEach(_ visit: (any Model) -> Void) { visit(sender) }
/// }
/// ```
///
/// `@Normalized` generates these functions. Models are immutable and `Sendable`; a class must be
/// final. The functions are called on any thread, also concurrently.
public protocol Model: SimpleModel, ModelField {
    /// Returns whether replacing this model with `model` would change nothing. The default for
    /// `Equatable` types is `==`.
    func isEqual(to model: any Model) -> Bool

    /// Returns a copy of this model in which `transform` has replaced each direct child.
    ///
    /// - Parameter transform: Returns the child itself to keep it, a new child to replace it, or
    ///   `nil` to delete it. A deleted optional child becomes `nil`, and a deleted element leaves
    ///   its container.
    /// - Returns: The copy; `nil` if a required child was deleted, which deletes this model as
    ///   well.
    func map(_ transform: (any Model) -> (any Model)?) -> Self?

    /// Calls `visit` with each direct child, in the order of `map`.
    func forEach(_ visit: (any Model) -> Void)

    /// Returns this model with the values of `model`, which is another projection with the same
    /// identifier.
    ///
    /// Only types with projections implement it. With the default, a model of the same type
    /// replaces this one. A model of another type leaves this one unchanged, because the parents of
    /// this model have no place for the other type.
    ///
    /// - Returns: A model of the type of this model.
    func merge(_ model: any Model) -> any Model
}

extension Model {
    /// Returns `model` if it has the type of this model, and this model otherwise.
    public func merge(_ model: any Model) -> any Model { model is Self ? model : self }
}

extension Model where Self: Equatable {
    /// Returns whether `model` has the same type and is equal by `==`.
    public func isEqual(to model: any Model) -> Bool {
        (model as? Self).map { $0 == self } ?? false
    }
}

// The requirements of `ConsistencyManagerModel` and `SimpleModel` in terms of `Model`. The closures
// state their types: without the types, each call would resolve to the function that contains it.
extension Model {
    /// Calls `map` of `Model`; a replacement that is not a `Model` deletes the child.
    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? {
        let mapped: Self? = map { (child: any Model) -> (any Model)? in
            transform(child) as? any Model
        }
        return mapped
    }

    /// Calls `forEach` of `Model`.
    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
        forEach { (child: any Model) -> Void in visit(child) }
    }

    /// Calls `isEqual(to:)` of `Model`; returns `false` if `other` is not a `Model`.
    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? any Model).map { isEqual(to: $0) } ?? false
    }

    /// Calls `isEqual(to:)` of `Model`; returns `false` if `model` is not a `Model`.
    public func isEqual(to model: any SimpleModel) -> Bool {
        (model as? any Model).map { isEqual(to: $0) } ?? false
    }

    /// Calls `merge`; returns this model if `model` is not a `Model`.
    public func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel {
        (model as? any Model).map { merge($0) } ?? self
    }
}
