/// How large one keyspace is in one transaction.
///
/// ```swift
/// let entries = try environment.read { try $0.statistics(of: nodes).entries }
/// ```
///
/// Threading: a value. Cost: a few nanoseconds, nothing is walked. Errors: none of its own.
public struct KeyspaceStatistics: Sendable, Hashable {
    public let entries: Int
    /// Levels of the tree; 0 when empty.
    public let depth: Int
    public let branchPages: Int
    public let leafPages: Int
    public let overflowPages: Int

    public var pages: Int { branchPages + leafPages + overflowPages }
}
