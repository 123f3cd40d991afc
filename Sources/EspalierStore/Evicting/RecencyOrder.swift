import EspalierLMDB
import EspalierRecords

/// Walks `recency` from its old end while one transaction evicts: what the keyspace lists and what
/// the counts has changed since, as one order.
final class RecencyOrder {
    private let commit: CommitTransaction
    private let reason: Eviction.Reason
    /// Whether a read has touched a record that no commit has taken note of yet.
    private let isTouched: (Handle) -> Bool
    /// Those that were listed anew for it, once: when they come up again, nothing older is left.
    private var spared: Set<Handle> = []
    /// Steps that were not only putting off.
    private(set) var taken = 0
    private(set) var tally = EvictionCounts()
    /// What the counts has listed anew; entries that it has changed again are skipped.
    private var changed = RecencyHeap()
    /// The next few of the keyspace.
    private var stored: [RecencyEntry] = []
    private var position: KeyPair? = KeyPair(0, 0)

    private static let batch = 64

    init(
        _ commit: CommitTransaction, reason: Eviction.Reason,
        isTouched: @escaping (Handle) -> Bool = { _ in false }
    ) {
        self.commit = commit
        self.isTouched = isTouched
        self.reason = reason
        commit.counts.stampUnreferenced()
        commit.counts.startRecordingRecency()
    }

    /// Takes one step at what is oldest. False when nothing is left to evict.
    func step(in transaction: inout WriteTransaction) throws -> Bool {
        guard let listing = try next(in: &transaction) else { return false }
        // What only this run has made a root is the rest of a tree.
        let isTree = !commit.counts.hasChanged(listing.handle)
        let graph = CommitGraph(commit: commit, snapshot: transaction.snapshot)
        let step = try EvictionRule.step(for: listing.handle, in: graph)
        if case .evict(let handles, _) = step, handles.contains(where: isTouched),
            spared.insert(listing.handle).inserted
        {
            commit.tick()
            try commit.counts.touch(listing.handle, in: transaction)
        } else {
            try take(step, isTree: isTree, in: &transaction)
            taken += 1
        }
        return true
    }

    /// Whether something is dying: whatever the watermark says, it is not to stay.
    func isReleaseDue(in transaction: inout WriteTransaction) throws -> Bool {
        guard let listing = try next(in: &transaction), listing.stamp == .never else {
            return false
        }
        return try commit.counts.entry(listing.handle, in: transaction).flags.contains(
            .pendingRemoval)
    }

    /// Evicts a record whatever its age, if nothing refers to it, or only its own cycle. Returns
    /// whether it could.
    func evict(_ handle: Handle, in transaction: inout WriteTransaction) throws -> Bool {
        let graph = CommitGraph(commit: commit, snapshot: transaction.snapshot)
        guard
            case .evict(let handles, _) = try EvictionRule.step(
                for: handle, in: graph, regardlessOfAge: true)
        else {
            return false
        }
        // By the caller's wish: what it referred to is as young as that.
        try commit.evict(
            handles, accessedAt: commit.stamp, isByCaller: true, reason: reason, &tally,
            in: &transaction)
        tally.addTree()
        return true
    }

    private func take(
        _ step: EvictionStep, isTree: Bool, in transaction: inout WriteTransaction
    ) throws {
        let counts = commit.counts
        switch step {
        case .release(let handle): try commit.releaseMore(of: handle, in: &transaction)
        case .evict(let handles, let stamp):
            try commit.evict(
                handles, accessedAt: stamp, isByCaller: false, reason: reason, &tally,
                in: &transaction)
            if isTree { tally.addTree() }
        case .relist(let handle, let stamp):
            try counts.update(handle, in: transaction) { $0.stamp = stamp }
        case .block(let handle, let externalReferences):
            for handle in [handle] + externalReferences {
                try counts.update(handle, in: transaction) { $0.block() }
            }
        case .unflag(let handle): try counts.update(handle, in: transaction) { $0.unflag() }
        }
    }

    // MARK: The order

    private func next(in transaction: inout WriteTransaction) throws -> RecencyEntry? {
        commit.counts.drainRecencyChanges(into: &changed)
        while let first = changed.first,
            try commit.counts.recencyStamp(of: first.handle, in: transaction) != first.stamp
        {
            changed.removeFirst()
        }
        while true {
            if stored.isEmpty { try fetch(in: &transaction) }
            guard let oldest = stored.last else { break }
            if commit.counts.hasChanged(oldest.handle) {
                stored.removeLast()
                continue
            }
            if let first = changed.first, first < oldest { return first }
            guard try commit.counts.recencyStamp(of: oldest.handle, in: transaction) == oldest.stamp
            else {
                // Damage: nothing is to be found under this entry.
                try transaction.delete(
                    commit.keyspaces.recency, KeyPair(oldest.stamp.rawValue, oldest.handle.rawValue)
                )
                stored.removeLast()
                continue
            }
            return oldest
        }
        return changed.first
    }

    /// The next entries of the keyspace, the oldest last.
    private func fetch(in transaction: inout WriteTransaction) throws {
        guard let start = position else { return }
        var found: [RecencyEntry] = []
        var end = start
        var isMore = false
        try transaction.forEach(in: commit.keyspaces.recency, from: start) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            guard found.count < Self.batch else {
                end = pair
                isMore = true
                return false
            }
            found.append(RecencyEntry(stamp: Stamp(pair.first), handle: Handle(pair.second)))
            return true
        }
        position = isMore ? end : nil
        stored = found.reversed()
    }
}

/// The cache as a commit is changing it.
private struct CommitGraph: EvictionGraph {
    let commit: CommitTransaction
    let snapshot: Snapshot

    func entry(_ handle: Handle) throws -> StateEntry {
        try commit.counts.entry(handle, in: snapshot)
    }

    func children(_ handle: Handle) throws -> [Handle] {
        // What a dying record refers to, it lets go of by itself.
        let flags = try commit.counts.entry(handle, in: snapshot).flags
        guard !flags.contains(.pendingRemoval) || flags.contains(.blocked) else { return [] }
        return try commit.readableRecord(handle, in: snapshot)?.children ?? []
    }
}
