/// Where a change of a provider's data comes from.
public enum ChangeOrigin: Sendable, Hashable {
    /// A function of the provider itself.
    case own
    /// The cache, or a provider of the same collection that was asked in its place.
    case cache
    /// An edit by another provider of the same collection.
    case sibling
    /// A model that was updated or deleted elsewhere.
    case update
}

/// A change of a data provider's model.
public struct DataChange<T: Sendable>: Sendable {
    /// What is shown now.
    public let data: T?
    public let origin: ChangeOrigin
    /// What was passed along with the change.
    public let context: (any Sendable)?
}
