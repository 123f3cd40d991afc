import EspalierRecords

/// What one commit did, by identifier. Handed on in the order of commits.
///
/// A commit may be of many writes: what several of them changed is named several times, what was
/// written and then deleted is only deleted, and what is both deleted and written was deleted
/// first, so that its old parents have lost it.
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
    /// What was evicted, in its order.
    var victims: [Victim] = []
    /// How many writes the commit was of.
    var writeCount = 0

    public var isEmpty: Bool {
        written.isEmpty && deleted.isEmpty && evicted.isEmpty && keys.isEmpty && !isReset
    }

    mutating func add(_ victim: Victim) {
        victims.append(victim)
        for entry in victim.entries {
            if entry.nameSpace == .node {
                evicted.append(entry.identifier)
            } else {
                keys.append(entry.identifier)
            }
        }
    }

    mutating func delete(_ identifier: String) {
        written.removeAll { Identifier($0) == Identifier(identifier) }
        deleted.append(identifier)
    }
}
