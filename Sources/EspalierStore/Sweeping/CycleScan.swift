import EspalierLMDB
import EspalierRecords

/// Looks for cycles that no write and no read has come across, a slice of the records at a time.
///
/// Records of such a cycle never have count 0, and so would never be evicted. A sweep takes nothing
/// away: it flags, and eviction judges what is flagged when its time comes. What is written
/// meanwhile can be missed; the next sweep finds it.
struct CycleScan {
    /// Records that a slice looks at, about.
    static let slice = 1_024

    /// Where it goes on; nil at the end.
    private(set) var next: Handle?
    /// Records that lie on cycles and are not flagged yet.
    private(set) var found: [Handle] = []

    init(from start: Handle = Handle(1)) { next = start }

    /// Looks at the records from `next` on, and at what they lead to.
    mutating func run(in transaction: borrowing ReadTransaction, of generation: Generation) throws {
        guard let start = next else { return }
        let keyspaces = generation.keyspaces
        let snapshot = transaction.snapshot
        var search = CycleSearch()
        var starts: [Handle] = []
        next = nil
        try transaction.forEach(in: keyspaces.nodes, from: start.rawValue) { key, _ in
            guard key.byteCount == 8 else { return true }
            let handle = try Handle(stored: key)
            guard starts.count < Self.slice else {
                next = handle
                return false
            }
            starts.append(handle)
            return true
        }
        for handle in starts {
            search.search(from: handle, limit: EvictionRule.searchLimit) { handle in
                (try? snapshot.children(keyspaces, of: handle)) ?? []
            }
        }
        found = search.found.sorted().filter { handle in
            let flags = try? snapshot.state(keyspaces, of: handle)?.flags
            return flags.map { $0.isDisjoint(with: [.onCycle, .pendingRemoval, .tombstone]) }
                ?? true
        }
    }
}
