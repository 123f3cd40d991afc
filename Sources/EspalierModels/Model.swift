/// A model whose children are kept consistent too: when one changes, this model is made anew with
/// it.
///
/// ```swift
/// struct Message: Model, Equatable {
///     let id: Int
///     let sender: Person
///     var modelIdentifier: String? { "Message:\(id)" }
///
///     func map(_ transform: (any Model) -> (any Model)?) -> Message? {
///         guard let sender = transform(sender) as? Person else { return nil }      // required: the deletion goes on
///         return Message(id: id, sender: sender)
///     }
///
///     func forEach(_ visit: (any Model) -> Void) { visit(sender) }
/// }
/// ```
///
/// Immutable and `Sendable`; classes have to be final. Called on any thread, several at a time.
public protocol Model: SimpleModel, ModelField {
    /// Whether replacing this model by `model` would change nothing. `==` for `Equatable` types.
    func isEqual(to model: any Model) -> Bool

    /// This model with every child, not their children, put through `transform`. A child for which
    /// it returns nil is left out: an optional becomes nil, an element goes, and where the child is
    /// required the answer is nil, which deletes this model too.
    func map(_ transform: (any Model) -> (any Model)?) -> Self?

    /// Calls `visit` with every child, not with their children, in the order of `map`.
    func forEach(_ visit: (any Model) -> Void)

    /// This model with what `model`, another projection of the same identifier, says. Always of
    /// this model's type.
    ///
    /// Only projections need to define it: a model of the same type replaces this one. One of
    /// another type, with nothing said about merging it, leaves this one as it is, because taking
    /// it would remove this model from its parents.
    func merge(_ model: any Model) -> any Model
}

extension Model {
    public func merge(_ model: any Model) -> any Model { model is Self ? model : self }
}

extension Model where Self: Equatable {
    public func isEqual(to model: any Model) -> Bool {
        (model as? Self).map { $0 == self } ?? false
    }
}
