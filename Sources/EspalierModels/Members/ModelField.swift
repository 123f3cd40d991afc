/// A member that is a child, or may hold children: what `map` and `forEach` of a model go through.
///
/// Conforming: every `Model`; optionals, arrays, sets and the values of dictionaries of conforming
/// types, in any nesting; `ErasedModel`. A container of your own that holds models conforms by
/// handing both calls on, or its children are taken for plain values:
///
/// ```swift
/// extension NonEmpty: ModelField where Element: ModelField {
///     func mapModels(_ transform: (any Model) -> (any Model)?) -> NonEmpty? {
///         elements.mapModels(transform).flatMap(NonEmpty.init)      // nil once it is empty: deleted with its last child
///     }
///
///     func forEachModel(_ visit: (any Model) -> Void) { elements.forEachModel(visit) }
/// }
/// ```
///
/// Costs a call per child and the containers that are made anew; no casts but of what `transform`
/// returns. Called on any thread, several at a time.
public protocol ModelField {
    /// This value with every child, not their children, put through `transform`. A child for which
    /// it returns nil, or something that is not of the child's type, is left out: an optional
    /// becomes nil, an element or an entry goes. Nil where that leaves nothing to stand here: what
    /// holds this value is deleted, too, or does without it in turn.
    func mapModels(_ transform: (any Model) -> (any Model)?) -> Self?

    /// Calls `visit` with every child, not with their children, in the order of `mapModels`.
    func forEachModel(_ visit: (any Model) -> Void)

    /// Whether replacing this value by `other` would change nothing, for types that are not
    /// `Equatable`. The given implementation finds out at run time whether this one is.
    func isEqualField(to other: Self) -> Bool
}

extension ModelField {
    public func isEqualField(to other: Self) -> Bool {
        (self as? any Equatable).map { ModelMembers.isSame($0, other) } ?? false
    }
}

extension Model {
    public func mapModels(_ transform: (any Model) -> (any Model)?) -> Self? {
        transform(self) as? Self
    }

    public func forEachModel(_ visit: (any Model) -> Void) { visit(self) }

    public func isEqualField(to other: Self) -> Bool {
        let other: any Model = other
        return isEqual(to: other)
    }
}
