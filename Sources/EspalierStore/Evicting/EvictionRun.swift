import EspalierLMDB
import EspalierRecords

/// Walks `recency` from its old end while one transaction evicts: what the keyspace lists and what the ledger has changed since,
/// as one order.
final class EvictionRun {
    private let session: CommitSession
    private let reason: Eviction.Reason
    /// Whether a read has touched a record that no commit has taken note of yet.
    private let isTouched: (Handle) -> Bool
    /// Those that were listed anew for it, once: when they come up again, nothing older is left.
    private var spared: Set<Handle> = []
    /// Steps that were not only putting off.
    private(set) var taken = 0
    private(set) var tally = EvictionTally()
    /// What the ledger has listed anew; entries that it has changed again are skipped.
    private var changed = RecencyHeap()
    /// The next few of the keyspace.
    private var stored: [Listing] = []
    private var position: KeyPair? = KeyPair(0, 0)

    private static let batch = 64

    init(_ session: CommitSession, reason: Eviction.Reason, isTouched: @escaping (Handle) -> Bool = { _ in false }) {
        self.session = session
        self.isTouched = isTouched
        self.reason = reason
        session.ledger.stampUnreferenced()
        for listing in session.ledger.listings { changed.insert(listing) }
        session.ledger.onListing = { [unowned self] in changed.insert($0) }
    }

    deinit { session.ledger.onListing = nil }

    /// Takes one step at what is oldest. False when nothing is left to evict.
    func step(in transaction: inout WriteTransaction) throws -> Bool {
        guard let listing = try next(in: &transaction) else { return false }
        // What only this run has made a root is the rest of a tree.
        let isTree = !session.ledger.hasChanged(listing.handle)
        let graph = SessionGraph(session: session, snapshot: transaction.snapshot)
        let step = try EvictionRule.step(for: listing.handle, in: graph)
        if case .evict(let handles, _) = step, handles.contains(where: isTouched),
            spared.insert(listing.handle).inserted
        {
            session.tick()
            try session.ledger.touch(listing.handle, in: transaction)
        } else {
            try take(step, isTree: isTree, in: &transaction)
            taken += 1
        }
        return true
    }

    /// Whether something is dying: whatever the watermark says, it is not to stay.
    func isReleaseDue(in transaction: inout WriteTransaction) throws -> Bool {
        guard let listing = try next(in: &transaction), listing.stamp == .never else { return false }
        return try session.ledger.entry(listing.handle, in: transaction).flags.contains(.dying)
    }

    /// Evicts a record whatever its age, if nothing refers to it, or only its own cycle. Returns whether it could.
    func evict(_ handle: Handle, in transaction: inout WriteTransaction) throws -> Bool {
        let graph = SessionGraph(session: session, snapshot: transaction.snapshot)
        guard case .evict(let handles, _) = try EvictionRule.step(for: handle, in: graph, regardlessOfAge: true) else {
            return false
        }
        // By the caller's wish: what it referred to is as young as that.
        try session.evict(
            handles, accessedAt: session.stamp, isByCaller: true, reason: reason, &tally, in: &transaction)
        tally.addTree()
        return true
    }

    private func take(
        _ step: EvictionStep, isTree: Bool, in transaction: inout WriteTransaction
    ) throws {
        let ledger = session.ledger
        switch step {
        case .release(let handle): try session.releaseMore(of: handle, in: &transaction)
        case .evict(let handles, let stamp):
            try session.evict(
                handles, accessedAt: stamp, isByCaller: false, reason: reason, &tally, in: &transaction)
            if isTree { tally.addTree() }
        case .relist(let handle, let stamp): try ledger.update(handle, in: transaction) { $0.stamp = stamp }
        case .hold(let handle, let entrances):
            for handle in [handle] + entrances { try ledger.update(handle, in: transaction) { $0.hold() } }
        case .unflag(let handle): try ledger.update(handle, in: transaction) { $0.unflag() }
        }
    }

    // MARK: The order

    private func next(in transaction: inout WriteTransaction) throws -> Listing? {
        while let first = changed.first, try session.ledger.listing(of: first.handle, in: transaction) != first.stamp {
            changed.removeFirst()
        }
        while true {
            if stored.isEmpty { try fetch(in: &transaction) }
            guard let oldest = stored.last else { break }
            if session.ledger.hasChanged(oldest.handle) {
                stored.removeLast()
                continue
            }
            if let first = changed.first, first < oldest { return first }
            guard try session.ledger.listing(of: oldest.handle, in: transaction) == oldest.stamp else {
                // Damage: nothing is to be found under this entry.
                try transaction.delete(
                    session.keyspaces.recency, KeyPair(oldest.stamp.rawValue, oldest.handle.rawValue))
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
        var found: [Listing] = []
        var end = start
        var isMore = false
        try transaction.forEach(in: session.keyspaces.recency, from: start) { key, _ in
            guard let pair = KeyPair(key) else { return true }
            guard found.count < Self.batch else {
                end = pair
                isMore = true
                return false
            }
            found.append(Listing(stamp: Stamp(pair.first), handle: Handle(pair.second)))
            return true
        }
        position = isMore ? end : nil
        stored = found.reversed()
    }
}

/// The cache as a session is changing it.
private struct SessionGraph: EvictionGraph {
    let session: CommitSession
    let snapshot: Snapshot

    func entry(_ handle: Handle) throws -> StateEntry { try session.ledger.entry(handle, in: snapshot) }

    func children(_ handle: Handle) throws -> [Handle] {
        // What a dying record refers to, it lets go of by itself.
        let flags = try session.ledger.entry(handle, in: snapshot).flags
        guard !flags.contains(.dying) || flags.contains(.held) else { return [] }
        return try session.readableRecord(handle, in: snapshot)?.children ?? []
    }
}
