import EspalierRecords

// What stays and what goes: the cache decides by recency, unless it is told.
extension NormalizedCache {
    /// Keeps the node `identifier` and everything below it from being evicted, until `unpin`, or
    /// until the node is deleted.
    ///
    ///     try await cache.pin("User:me").committed
    ///
    /// What it reaches is measured now and as it is written later: a pin, or a write, that would
    /// bring the pinned records over half the budget fails with `.pinnedFull`. Fails with
    /// `.notFound` when there is no such node. Pins are stored in the cache.
    @discardableResult
    public func pin(_ identifier: String) -> WriteTicket { keep(.node, identifier) { .pin($0) } }

    /// Lets the node `identifier` be evicted again when its time comes. Nothing happens if it is
    /// not pinned.
    @discardableResult
    public func unpin(_ identifier: String) -> WriteTicket {
        keep(.node, identifier) { .unpin($0) }
    }

    /// Keeps the collection under `key` and everything in it from being evicted: like `pin`.
    @discardableResult
    public func pinCollection(forKey key: String) -> WriteTicket {
        keep(.collection, key) { .pin($0) }
    }

    /// Lets the collection under `key` be evicted again.
    @discardableResult
    public func unpinCollection(forKey key: String) -> WriteTicket {
        keep(.collection, key) { .unpin($0) }
    }

    /// Evicts the node `identifier` now, whatever its age; what it refers to counts as accessed and
    /// stays.
    ///
    /// A node that others refer to, or that is pinned, can't go without breaking a tree: the ticket
    /// fails with `.referenced`. Evicting what is not there succeeds.
    @discardableResult
    public func evict(_ identifier: String) -> WriteTicket {
        keep(.node, identifier) { .evict([$0]) }
    }

    /// Evicts the collection under `key` now. Its elements count as accessed and stay.
    @discardableResult
    public func evictCollection(forKey key: String) -> WriteTicket {
        keep(.collection, key) { .evict([$0]) }
    }

    /// Evicts what was not accessed for longest until what is left takes no more than `bytes` of
    /// the directory, or nothing more can go. Files do not become shorter by it: the pages are
    /// there for what is written next.
    @discardableResult
    public func evict(to bytes: ByteCount) -> WriteTicket {
        submit(isDroppable: false) { _ in .trim(to: bytes) }
    }

    /// Changes the budget, for every process that uses the cache, and for good.
    ///
    /// A larger one costs next to nothing. A smaller one evicts the least recently accessed until
    /// the rest fits, and moves that into a new file, since files do not become shorter. Old and
    /// new stay within the old budget meanwhile: where both do not fit, the old file goes first and
    /// a process killed just then leaves an empty cache. `mayExceed` lets them take both budgets
    /// together, which keeps the old file until the new one is complete.
    ///
    /// Fails with `.badBudget` outside 1 MiB ... 64 GiB, with `.pinnedFull` when what is pinned
    /// takes more than half the new budget, with `.busy` when reads under way do not end within
    /// seconds.
    @discardableResult
    public func setBudget(_ budget: ByteCount, mayExceed: Bool = false) -> WriteTicket {
        guard Configuration.isSound(budget) else { return WriteTicket(failed: .badBudget(budget)) }
        return submit(isDroppable: false) { _ in .setBudget(budget, mayExceed: mayExceed) }
    }

    /// The budget as it is now: the one the cache was made with, or what `setBudget` of any process
    /// has made of it.
    public var budget: ByteCount {
        (try? engine.generations.current().budget) ?? configuration.budget
    }

    /// Looks through the whole cache for what eviction would never come across: cycles that no
    /// write and no read has followed, names that lead to nothing, records without their name.
    /// Cycles are evicted when their time comes; the rest is mended.
    ///
    /// The cache sweeps for cycles by itself, a little at a time, once for each budget's worth of
    /// bytes written. Costs a walk of the cache, between two writes.
    @discardableResult
    public func collectCycles() -> WriteTicket {
        submit(isDroppable: false) { _ in .collectCycles }
    }

    /// Compresses every record as new ones are compressed: trains dictionaries on what the cache
    /// holds now and writes all records anew that were stored raw, with older dictionaries, or at a
    /// time without any. Nothing counts as accessed.
    ///
    ///     try await cache.compact().committed
    ///
    /// With `.none` it expands them all, and what then does not fit the budget is evicted.
    ///
    /// Of use after a first import, or a change of `Configuration.compression`: records that are
    /// rewritten anyway need none of it. Costs a walk of the cache and the rewriting of most of it,
    /// in a row of commits: reads of snapshots go on, writes wait, and as always the oldest of them
    /// are dropped when too many do. Files do not become shorter by it: the pages are there for
    /// what is written next.
    @discardableResult
    public func compact() -> WriteTicket { submit(isDroppable: false) { _ in .compact } }

    private func keep(
        _ nameSpace: NameSpace, _ identifier: String,
        _ operation: @escaping @Sendable (WriteOperation.Entry) -> WriteOperation
    ) -> WriteTicket {
        guard !identifier.isEmpty else { return WriteTicket(failed: .noIdentifier) }
        let entry = WriteOperation.Entry(nameSpace: nameSpace, identifier: identifier)
        return submit(isDroppable: false) { _ in operation(entry) }
    }
}
