/// What one commit did, by identifier. Handed on in the order of commits.
public struct ChangeSet: Sendable, Hashable {
    /// The number of the commit within its generation; ascending.
    public let commit: UInt64
    /// Nodes whose record was written because its content changed.
    public internal(set) var written: [String] = []
    /// Nodes deleted by the caller.
    public internal(set) var deleted: [String] = []
    /// Nodes evicted for the budget.
    public internal(set) var evicted: [String] = []
    /// Keys and collections whose entry changed or went.
    public internal(set) var keys: [String] = []
    /// Everything is gone: the cache was emptied.
    public internal(set) var isReset = false

    public var isEmpty: Bool {
        written.isEmpty && deleted.isEmpty && evicted.isEmpty && keys.isEmpty && !isReset
    }
}
