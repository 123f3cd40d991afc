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
    /// The source of the operation under way; see `WriteOperation.source`.
    var source: Int = 0
    /// The sources of the elements of `written` and of `keys`. An element beyond the end has none.
    private var writtenSources: [Int] = []
    private var keySources: [Int] = []

    init(commit: UInt64) { self.commit = commit }

    /// Whether the commit changed nothing that a reader can see.
    public var isEmpty: Bool {
        written.isEmpty && deleted.isEmpty && evicted.isEmpty && keys.isEmpty && !isReset
    }

    /// Returns the nodes and the keys that others than `source` have written.
    package func written(notBy source: Int) -> (nodes: [String], keys: [String]) {
        (
            Self.filter(written, writtenSources, notBy: source),
            Self.filter(keys, keySources, notBy: source)
        )
    }

    private static func filter(
        _ names: [String], _ sources: [Int], notBy source: Int
    ) -> [String] {
        guard !sources.isEmpty else { return names }
        return names.indices.compactMap { index in
            index < sources.count && sources[index] == source ? nil : names[index]
        }
    }

    mutating func write(_ identifier: String) {
        if source != 0 { Self.note(source, at: written.count, in: &writtenSources) }
        written.append(identifier)
    }

    mutating func change(key: String) {
        if source != 0 { Self.note(source, at: keys.count, in: &keySources) }
        keys.append(key)
    }

    private static func note(_ source: Int, at index: Int, in sources: inout [Int]) {
        sources += Array(repeating: 0, count: index - sources.count) + [source]
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
        // From the end, so that the places of the others stay right.
        for index in written.indices.reversed()
        where Identifier(written[index]) == Identifier(identifier) {
            written.remove(at: index)
            if index < writtenSources.count { writtenSources.remove(at: index) }
        }
        deleted.append(identifier)
    }
}
