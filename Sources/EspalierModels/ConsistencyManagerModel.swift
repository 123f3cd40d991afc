public import EspalierRecords

/// A model that a consistency manager keeps up to date: a tree whose children can be visited and
/// replaced.
///
/// Most models conform to `Model` instead, whose requirements use `any Model` in place of
/// `any ConsistencyManagerModel`. `map` and `forEach` cover the direct children only; the caller
/// recurses.
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
/// Models are immutable and `Sendable`: their functions are called on any thread, also
/// concurrently.
public protocol ConsistencyManagerModel: IdentifiedModel {
    // `IdentifiedModel` declares the first five. They are repeated for clients that import only
    // this module.
    /// The globally unique identifier of the model; `nil` for a model that is a part of its parent.
    var modelIdentifier: String? { get }
    /// The name that tells apart several types with the same identifier. The default is the name of
    /// the type.
    var projectionIdentifier: String { get }
    /// How a write treats the stored fields of the records, if its caller does not say. The default
    /// is `replace`.
    static var writePolicy: WritePolicy { get }
    /// How a merge puts two versions of a field together. The default is no rule: the new version
    /// counts.
    static var mergeRules: MergeRules { get }
    /// Whether several reads may return the same model from memory. The default is true for structs
    /// and enums, false for classes.
    static var isCacheable: Bool { get }

    /// How old a record of this type may be for a read that accepts fresh records only. Default:
    /// nil, so that records do not expire.
    static var maxAge: Duration? { get }

    /// Returns a copy of this model in which `transform` has replaced each direct child.
    ///
    /// - Parameter transform: Returns the child itself to keep it, a new child to replace it, or
    ///   `nil` to delete it. A deleted optional child becomes `nil`, and a deleted element leaves
    ///   its container.
    /// - Returns: The copy, which has the type of this model; `nil` if a required child was
    ///   deleted, which deletes this model as well.
    func map(
        _ transform: (any ConsistencyManagerModel) -> (any ConsistencyManagerModel)?
    ) -> (any ConsistencyManagerModel)?

    /// Calls `visit` with each direct child, in the order of `map`.
    func forEach(_ visit: (any ConsistencyManagerModel) -> Void)

    /// Returns whether replacing this model with `other` would change nothing. The default for
    /// `Equatable` types is `==`.
    func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool

    /// Returns this model with the values of `model`, which is another projection with the same
    /// identifier.
    ///
    /// Only types with projections implement it. The default returns `model`, the newer version.
    ///
    /// - Returns: A model of the type of this model.
    func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel
}

extension ConsistencyManagerModel {
    /// The name of the type.
    public var projectionIdentifier: String { TypeName.of(Self.self) }

    /// `WritePolicy.replace`.
    public static var writePolicy: WritePolicy { .replace }

    /// No rules.
    public static var mergeRules: MergeRules { [:] }

    /// True for structs and enums, false for classes.
    @inlinable
    public static var isCacheable: Bool { !(Self.self is AnyObject.Type) }

    /// None: records of the type do not expire.
    @inlinable
    public static var maxAge: Duration? { nil }

    /// Returns `model`, which replaces this model.
    public func mergeModel(_ model: any ConsistencyManagerModel) -> any ConsistencyManagerModel {
        model
    }
}

extension ConsistencyManagerModel where Self: Equatable {
    /// Returns whether `other` has the same type and is equal by `==`.
    public func isEqualToModel(_ other: any ConsistencyManagerModel) -> Bool {
        (other as? Self).map { $0 == self } ?? false
    }
}

// MARK: - Children on demand

/// The outcome for one child of a model that is mapped.
package enum ChildOutcome {
    /// The child stays.
    case kept
    /// Another child takes its place. `nil` deletes the child.
    case replaced((any ConsistencyManagerModel)?)
}

// `Model` passes its children as `any Model`. Converting one to `any ConsistencyManagerModel`
// copies it into a new box, and converting it back is a dynamic cast. These conversions took half
// the time of an update that skips hundreds of children. The child is therefore passed as a
// closure, and only a caller that needs the child converts it.
extension ConsistencyManagerModel {
    /// Calls `visit` for each direct child, with a closure that returns the child.
    package func forEachChild(_ visit: (_ child: () -> any ConsistencyManagerModel) -> Void) {
        if let model = self as? any Model {
            model.forEach { (child: any Model) -> Void in visit { child } }
        } else {
            forEach { child in visit { child } }
        }
    }

    /// Maps the direct children, each given by a closure that returns it.
    package func mapChildren(
        _ transform: (_ child: () -> any ConsistencyManagerModel) -> ChildOutcome
    ) -> (any ConsistencyManagerModel)? {
        if let model = self as? any Model {
            let mapped: (any Model)? = model.map { (child: any Model) -> (any Model)? in
                switch transform({ child }) {
                case .kept: child
                case .replaced(let new): new as? any Model
                }
            }
            return mapped
        }
        return map { child in
            switch transform({ child }) {
            case .kept: child
            case .replaced(let new): new
            }
        }
    }
}
