public import EspalierRecords

/// A read that missed: what it asked for, and why it could not be had.
///
/// ```swift
/// cache.observeMisses { miss in
///     if case .notFound = miss.reason { return }
///     log("\(miss.type) \(miss.identifier): \(miss.reason)")
/// }
/// ```
///
/// Threading: a value. Cost: two strings and a reason. Errors: none. Identifiers are the caller's
/// data, and a reason's detail may contain values: think before either leaves the device.
public struct Miss: Sendable, Hashable {
    /// The type asked for, as `CacheStatistics` names it; of a collection that of its elements.
    public var type: String
    /// Whether a node was asked for, what is set under a key, or a collection.
    public var nameSpace: NameSpace
    /// The identifier or the key that was asked for.
    public var identifier: String
    public var reason: MissReason

    public init(type: String, nameSpace: NameSpace, identifier: String, reason: MissReason) {
        self.type = type
        self.nameSpace = nameSpace
        self.identifier = identifier
        self.reason = reason
    }
}
