import EspalierRecords

// The cache evicts the least recently accessed records. These calls overrule that order, change
// the budget, or rewrite what is stored.
extension NormalizedCache {
    // MARK: - Pinning

    /// Protects the node `identifier` and everything below it from eviction, until ``unpin(_:)`` or
    /// until the node is deleted.
    ///
    /// ```swift
    /// try await cache.pin("User:me").committed
    /// ```
    ///
    /// The cache stores pins. It measures the records that pins reach now and whenever they are
    /// written later.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Returns: A ticket. It fails with `notFound` when there is no such node, and with
    ///   `pinnedFull` when the pinned records would take more than half the budget; so do later
    ///   writes.
    /// - Complexity: O(*n*) in the records below the node, on the writer's thread.
    @discardableResult
    public func pin(_ identifier: String) -> WriteTicket {
        submit(.node, identifier) { .pin($0) }
    }

    /// Ends the protection of the node `identifier` from eviction.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Returns: A ticket. It succeeds when the node is not pinned.
    @discardableResult
    public func unpin(_ identifier: String) -> WriteTicket {
        submit(.node, identifier) { .unpin($0) }
    }

    /// Protects the collection under `key` and everything in it from eviction, until
    /// ``unpinCollection(forKey:)`` or until the collection is deleted.
    ///
    /// - Parameter key: The collection's key.
    /// - Returns: A ticket that fails for the same reasons as that of ``pin(_:)``.
    @discardableResult
    public func pinCollection(forKey key: String) -> WriteTicket {
        submit(.collection, key) { .pin($0) }
    }

    /// Ends the protection of the collection under `key` from eviction.
    ///
    /// - Parameter key: The collection's key.
    /// - Returns: A ticket. It succeeds when the collection is not pinned.
    @discardableResult
    public func unpinCollection(forKey key: String) -> WriteTicket {
        submit(.collection, key) { .unpin($0) }
    }

    // MARK: - Memory

    /// Removes all decoded trees from memory, as after a warning of the system that memory is
    /// short. What is stored stays; the next read of each tree decodes it.
    ///
    /// ```swift
    /// NotificationCenter.default.addObserver(
    ///     forName: UIApplication.didReceiveMemoryWarningNotification, object: nil, queue: nil
    /// ) { _ in cache.trimMemory() }
    /// ```
    ///
    /// - Complexity: O(*n*) in the trees in memory.
    public func trimMemory() { engine.memory?.removeAll() }

    // MARK: - Evicting

    /// Evicts the node `identifier` now, whatever its age.
    ///
    /// The records to which it refers count as accessed and stay.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Returns: A ticket. It fails with `referenced` when the node is pinned or other records
    ///   refer to it, because their trees would break. A node on a cycle is evicted with the cycle,
    ///   if that has no more than 1,024 records and leads to no larger cycle. It succeeds when
    ///   there is no such node.
    @discardableResult
    public func evict(_ identifier: String) -> WriteTicket {
        submit(.node, identifier) { .evict([$0]) }
    }

    /// Evicts the collection under `key` now. Its elements count as accessed and stay.
    ///
    /// - Parameter key: The collection's key.
    /// - Returns: A ticket that fails for the same reasons as that of ``evict(_:)``.
    @discardableResult
    public func evictCollection(forKey key: String) -> WriteTicket {
        submit(.collection, key) { .evict([$0]) }
    }

    /// Evicts the least recently accessed records until the rest takes no more than `bytes`, or
    /// nothing more can be evicted.
    ///
    /// Files do not become shorter: later writes use the freed pages.
    ///
    /// - Parameter bytes: What may stay in use of the directory.
    /// - Returns: A ticket that succeeds when the eviction has ended. It fails with `pagesHeld` if
    ///   a read stays open that keeps the pages which the eviction needs.
    @discardableResult
    public func evict(to bytes: ByteCount) -> WriteTicket {
        submit(isDroppable: false) { _ in .trim(to: bytes) }
    }

    // MARK: - Budget

    /// Changes the budget, permanently and for every process that uses the cache.
    ///
    /// Raising the budget costs next to nothing. Lowering it evicts the least recently accessed
    /// records until the rest fits, and moves the rest into a new file, because files do not become
    /// shorter. Both files together stay within the old budget: where they do not fit, the cache
    /// deletes the old file first. A process killed at that moment leaves an empty cache. So does a
    /// new file that can't be written, because the disk is full for example: the ticket then fails,
    /// and an event tells of it (`copyFailed`).
    ///
    /// - Parameters:
    ///   - budget: The new budget.
    ///   - mayExceed: Whether both files may take both budgets together, so that the old file
    ///     stays until the new one is complete.
    /// - Returns: A ticket. It fails with `badBudget` outside of 1 MiB ... 64 GiB, with
    ///   `pinnedFull` when pinned records take more than half the new budget, with `optimisticFull`
    ///   when optimistic changes and outboxes take more than an eighth of it, and with `busy` or
    ///   `pagesHeld` when reads do not end within seconds.
    @discardableResult
    public func setBudget(_ budget: ByteCount, mayExceed: Bool = false) -> WriteTicket {
        guard Configuration.isValid(budget) else { return reject(.badBudget(budget)) }
        return submit(isDroppable: false) { _ in .setBudget(budget, mayExceed: mayExceed) }
    }

    /// The current budget: the one with which the cache was created, or the last one that
    /// ``setBudget(_:mayExceed:)`` set in any process.
    public var budget: ByteCount {
        (try? engine.generations.current().budget) ?? configuration.budget
    }

    // MARK: - Maintenance

    /// Searches the whole cache for records that eviction would never find: cycles that no write
    /// and no read has followed, index entries that lead to no record, and records without an index
    /// entry.
    ///
    /// The evictor evicts the cycles when they are the least recently accessed; the call repairs
    /// the rest. The cache searches for cycles on its own, a few records at a time, once whenever
    /// it has written as many bytes as its budget.
    ///
    /// - Returns: A ticket that succeeds when the search has ended.
    /// - Complexity: O(*n*) in the records of the cache, between two writes.
    @discardableResult
    public func collectCycles() -> WriteTicket {
        submit(isDroppable: false) { _ in .collectCycles }
    }

    /// Recompresses the records, and copies them into a new file.
    ///
    /// Trains dictionaries on the records that the cache holds now, and rewrites the records that
    /// are stored uncompressed, without a dictionary, or with an older dictionary.
    ///
    /// ```swift
    /// try await cache.compact().committed
    /// ```
    ///
    /// Use it after a first import, or after a change of ``Configuration/compression``. With
    /// ``Compression/none`` it decompresses all records, and then evicts those that do not fit the
    /// budget. No record counts as accessed.
    ///
    /// Deleted records stay readable in free pages of a file until they are overwritten; the new
    /// file holds nothing of them. If both files do not fit in the budget, or on the disk, the old
    /// file stays, and the ticket succeeds.
    ///
    /// If the old file has one of ``Encryption/previousKeys``, the new one is encrypted with
    /// ``Encryption/key``. Then the cache copies in any case. If both files do not fit in the
    /// budget, it holds the contents in memory and deletes the old file first:
    /// ``setBudget(_:mayExceed:)`` says what may be lost then. If more than nine tenths of the
    /// pages are in use, it evicts before. Records that can't be read lose their identifiers.
    ///
    /// Other writes wait meanwhile, those of other processes only while the contents are copied.
    /// The oldest fail when the queue is full. Reads continue.
    ///
    /// - Parameter mayExceed: Whether both files together may take twice the budget, so that the
    ///   old file stays until the new one is complete.
    /// - Returns: A ticket that succeeds when all records are rewritten. It fails with
    ///   ``CacheError/Code-swift.enum/busy`` if another process writes or opens the cache for
    ///   longer than ``Configuration/writeDeadline``.
    /// - Complexity: O(*n*) in the bytes of the cache, in several commits. The copy holds some MiB
    ///   in memory. A change of the key holds 64 bytes for each record, and all contents if
    ///   both files do not fit in the budget.
    @discardableResult
    public func compact(mayExceed: Bool = false) -> WriteTicket {
        submit(isDroppable: false) { _ in .compact(mayExceed: mayExceed) }
    }

    private func submit(
        _ nameSpace: NameSpace, _ identifier: String,
        _ operation: @escaping @Sendable (RecordName) -> WriteOperation
    ) -> WriteTicket {
        guard !identifier.isEmpty else { return reject(.noIdentifier) }
        let name = RecordName(nameSpace, identifier)
        return submit(isDroppable: false) { _ in operation(name) }
    }
}
