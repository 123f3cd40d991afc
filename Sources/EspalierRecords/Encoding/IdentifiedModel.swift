/// A model that may have an identifier. With one it is a node and gets a record of its own;
/// without, it is inline in its parent's record.
///
/// Conform to `NormalizedModel` or `ConsistencyManagerModel`, which refine this.
public protocol IdentifiedModel: Sendable {
    /// A globally unique string: any length, any bytes, but not empty. Nil for an inline node.
    var modelIdentifier: String? { get }
    /// Which of several types over the same record this is; the type's name unless defined
    /// otherwise.
    ///
    /// The name is the innermost one: types nested in different ones, as code generators make them,
    /// may share it. Two such types over the same identifiers count as one projection, each
    /// replacing the other's fields; give them names here.
    var projectionIdentifier: String { get }
}

extension IdentifiedModel {
    public var projectionIdentifier: String { TypeName.of(Self.self) }
}

/// Names of types as shapes state them.
package enum TypeName {
    /// The name without its module, as `String(describing:)` gives it, from the runtime's own
    /// cache.
    ///
    /// Never inlined: where the optimiser sees the type it puts in a name of its own, which for a
    /// private type is `(Name in _59A7...)`, and optimised and debug builds would not know each
    /// other's records.
    @inline(never)
    package static func of(_ type: Any.Type) -> String { _typeName(type, qualified: false) }
}
