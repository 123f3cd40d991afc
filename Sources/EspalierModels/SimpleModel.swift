/// A model for which consistency is kept at the top level only: it is replaced as a whole, its
/// children are not looked at.
///
/// Needs `modelIdentifier` and, unless it is `Equatable`, `isEqual(to:)`.
///
/// ```swift
/// struct Badge: SimpleModel, Equatable {
///     let id: String
///     let count: Int
///     var modelIdentifier: String? { "Badge:\(id)" }
/// }
/// ```
public protocol SimpleModel: ConsistencyManagerModel {
    /// Whether replacing this model by `model` would change nothing. `==` for `Equatable` types.
    func isEqual(to model: any SimpleModel) -> Bool
}

extension SimpleModel {
    public func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)? { self }

    public func forEach(_ visit: (any ConsistencyManagerModel) -> Void) {}

    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? any SimpleModel).map { isEqual(to: $0) } ?? false
    }
}

extension SimpleModel where Self: Equatable {
    public func isEqual(to model: any SimpleModel) -> Bool {
        (model as? Self).map { $0 == self } ?? false
    }
}
