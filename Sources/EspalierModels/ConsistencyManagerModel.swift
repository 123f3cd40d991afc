public import EspalierRecords

/// A model that consistency is kept for: a tree whose children can be visited and replaced.
///
/// Most models conform to `Model`, which states the same with `any Model` in place of `any
/// ConsistencyManagerModel`; this protocol is what the consistency manager sees. Both walk one
/// level only: the caller recurses.
///
/// ```swift
/// struct Person: ConsistencyManagerModel, Equatable {
///     let id: String
///     let home: Place?
///     var modelIdentifier: String? { "Person:\(id)" }
///
///     func map(_ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?)
///         -> (any ConsistencyManagerModel)?
///     {
///         Person(id: id, home: home.flatMap { transform($0) as? Place })
///     }
///
///     func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {
///         if let home { visit(home) }
///     }
/// }
/// ```
///
/// Immutable and `Sendable`: the functions are called on any thread, several at a time.
public protocol ConsistencyManagerModel: IdentifiedModel {
    // Both are `IdentifiedModel`'s, said again so that a client who imports this module alone sees
    // them.
    /// A globally unique string; nil for a model that is a part of its parent.
    var modelIdentifier: String? { get }
    /// Which of several types over the same identifier this is; the type's name unless defined
    /// otherwise.
    var projectionIdentifier: String { get }

    /// This model with every child, not their children, put through `transform`. A child for which
    /// it returns nil is left out: an optional becomes nil, an element goes, and where the child is
    /// required the answer is nil, which deletes this model too.
    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)?

    /// Calls `visit` with every child, not with their children, in the order of `map`.
    func forEach(_ visit: (any ConsistencyManagerModel) -> Void)

    /// Whether replacing this model by `other` would change nothing. `==` for `Equatable` types.
    func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool

    /// This model with what `model`, another projection of the same identifier, says. Always of
    /// this model's type. Only projections need to define it: without them `model` is the newer
    /// version and is the answer.
    func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel
}

extension ConsistencyManagerModel {
    public var projectionIdentifier: String { TypeName.of(Self.self) }

    public func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel {
        model
    }
}

extension ConsistencyManagerModel where Self: Equatable {
    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? Self).map { $0 == self } ?? false
    }
}
