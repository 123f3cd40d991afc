import EspalierLMDB
import EspalierRecords

/// How many pages a commit's commit copies or takes: LMDB does not say, and it must not be more
/// than there are.
///
/// Edits of existing entries are counted by the pages they stand on, exactly; what is new by its
/// bytes. A little is added for what LMDB does by itself: branches, splits, the free list.
struct CopiedPages {
    private let nodes: LeafPages
    private let index: LeafPages
    private let state: LeafPages
    private let recency: LeafPages
    private let keyspaces: Keyspaces
    private var noted = (nodes: 0, index: 0, states: 0)
    private var newPages = 0

    /// `base` is the snapshot that the commit's transaction began with.
    init(_ base: Snapshot, _ keyspaces: Keyspaces) throws {
        nodes = try LeafPages(base, keyspaces.nodes)
        index = try LeafPages(base, keyspaces.index)
        state = try LeafPages(base, keyspaces.state)
        recency = try LeafPages(base, keyspaces.recency)
        self.keyspaces = keyspaces
    }

    /// What one commit costs besides its leaves: the counters, the lists of LMDB's own.
    private static let overhead = 12

    /// No more than this can be copied, whatever page each edit stands on: what there is no need to
    /// look closer at.
    static func most(for commit: CommitTransaction) -> Int {
        let edits =
            commit.edits.nodes.count + commit.edits.index.count + 2 * commit.counts.edited.count
        return overhead + 2 * edits + commit.edits.newPages
    }

    /// Takes note of what the commit has edited since it was last asked.
    mutating func note(_ commit: CommitTransaction) throws {
        for handle in commit.edits.nodes[noted.nodes...] { try nodes.note(handle.rawValue) }
        for key in commit.edits.index[noted.index...] { try index.note(key) }
        for edit in commit.counts.edited[noted.states...] {
            try state.note(edit.handle.rawValue)
            if let stamp = edit.recencyStamp {
                try recency.note(KeyPair(stamp.rawValue, edit.handle.rawValue))
            }
        }
        noted = (commit.edits.nodes.count, commit.edits.index.count, commit.counts.edited.count)
        // An entry of `state` takes some 26 bytes, one of `recency` as many.
        newPages = commit.edits.newPages + noted.states / 78
    }

    func count(in transaction: borrowing WriteTransaction) throws -> Int {
        var count = Self.overhead + newPages
        for (leaves, keyspace) in [
            (nodes.count, keyspaces.nodes), (index.count, keyspaces.index),
            (state.count, keyspaces.state),
            (recency.count, keyspaces.recency),
        ] {
            let branches = try transaction.statistics(of: keyspace).branchPages
            count += leaves + min(branches, leaves) + 1
        }
        return count + count / 400
    }
}
