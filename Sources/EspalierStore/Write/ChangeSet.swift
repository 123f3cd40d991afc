import EspalierRecords

/// The changes of one commit, by identifier. The cache publishes them in the order of commits.
///
/// A commit can contain many writes. An identifier that several writes changed stands here several
/// times. A node that was written and then deleted is only in ``deleted``. A node in both lists was
/// deleted first, so its old parents have lost it.
public struct ChangeSet: Sendable, Hashable {
    /// The number of the commit within its generation; ascending.
    public let commit: UInt64
    /// Nodes whose record was written because its content changed.
    public internal(set) var written: [String] = []
    /// Nodes deleted by the caller.
    public internal(set) var deleted: [String] = []
    /// Nodes evicted for the budget.
    public internal(set) var evicted: [String] = []
    /// Keys and collections whose entry was changed or removed.
    public internal(set) var keys: [String] = []
    /// Whether the commit emptied the cache.
    public internal(set) var isReset = false
    /// The evicted records, in the order of eviction.
    var victims: [Victim] = []
    /// The number of writes in the commit.
    var writeCount = 0

    /// Whether the commit changed nothing that a reader can see.
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
