package import EspalierLMDB
package import EspalierRecords

// Expired trees go first when room is needed. No keyspace has them in the order in which they
// expire: each write of such a record would change one more keyspace. A commit that evicts looks at
// some of the groups of states, and moves the roots that have expired to the front of `recency`:
//
//     recency    Feed:3 (1)   Feed:1 (812)   Feed:2 (830)        Feed:3 has expired
//
// The next commit that evicts goes on where this one has stopped. So in a large cache an expired
// tree may stay longer than one that was used long ago.

/// How far the search for expired records has come.
struct ExpiryScan {
    /// The first handle of the group of states at which it goes on.
    var next: UInt64 = 0
    /// How many more groups the commit looks at: half a megabyte.
    var groupsLeft = 1_024
}

extension CommitTransaction {
    /// Moves roots that have expired to the front of `recency`. Returns how many.
    ///
    /// - Parameters:
    ///   - limit: The most records, because each may change a page.
    ///   - isProtected: Whether a record stays in its place.
    func moveExpired(
        atMost limit: Int, except isProtected: (Handle) -> Bool,
        in transaction: borrowing WriteTransaction
    ) throws -> Int {
        guard expiryMark > .none else { return 0 }
        // From where the last search has stopped to the end, then from the start.
        var isOver = expiryScan.next == 0
        while expiryScan.groupsLeft > 0 {
            let found = try nextExpired(atMost: limit, in: transaction).filter { !isProtected($0) }
            for handle in found {
                lastAccesses[handle] = try states.entry(handle, in: transaction).stamp
                try states.update(handle, in: transaction) { $0.stamp = Stamp(1) }
            }
            if !found.isEmpty { return found.count }
            if expiryScan.next == 0 {
                guard !isOver else { return 0 }
                isOver = true
            }
        }
        return 0
    }

    /// Returns the expired roots of some groups, and goes on with the next group in the next call:
    /// with the first one after the last.
    private func nextExpired(
        atMost limit: Int, in transaction: borrowing WriteTransaction
    ) throws -> [Handle] {
        let second = WriteTime(now).rawValue
        func isToMove(_ state: StateEntry) -> Bool {
            state.stamp > Stamp(1) && state.isExpiredRoot(at: second)
        }
        var found: [Handle] = []
        var (last, next) = (UInt64(0), UInt64?.none)
        try transaction.forEach(in: keyspaces.state, from: expiryScan.next) { key, value in
            guard let key = Handle(key: key) else { return true }
            guard expiryScan.groupsLeft > 0, found.count < limit else {
                next = key.rawValue
                return false
            }
            expiryScan.groupsLeft -= 1
            last = key.rawValue
            var reader = ByteReader(lent: value)
            guard let group = try? StateGroup(reading: &reader, key: key) else { return true }
            for entry in group.entries where isToMove(entry.state) { found.append(entry.handle) }
            return true
        }
        // This commit may have written them anew, or touched them for reads.
        found = try found.filter { isToMove(try states.entry($0, in: transaction)) }
        // The last group may have more than there is room for.
        expiryScan.next = found.count > limit ? last : next ?? 0
        return Array(found.prefix(limit))
    }
}

extension CommitTransaction {
    /// Returns whether the record of a name has expired. It may have been written anew since it was
    /// found.
    func hasExpired(
        _ name: RecordName, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let match = try index.match(
            name.nameSpace, name.identifier.string, in: transaction.snapshot)
        guard let handle = match?.handle else { return false }
        return try states.entry(handle, in: transaction).isExpiredRoot(
            at: WriteTime(now).rawValue)
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the roots that have expired, by handle.
    package func expiredRoots(_ keyspaces: Keyspaces, at now: WriteTime) throws -> [Handle] {
        var handles: [Handle] = []
        guard try expiryMark(keyspaces) > .none else { return handles }
        try forEachState(keyspaces) { handle, state in
            if state.isExpiredRoot(at: now.rawValue) { handles.append(handle) }
        }
        return handles
    }
}

extension StateEntry {
    /// Whether the record has reached its maximum age, and nothing refers to it.
    func isExpiredRoot(at second: UInt64) -> Bool {
        guard let writtenAt, let expiry, referenceCount == 0, isInRecency, stamp != .never,
            !flags.contains(.onCycle)
        else { return false }
        let (due, isNever) = writtenAt.rawValue.addingReportingOverflow(expiry)
        return !isNever && second >= due
    }
}

extension NormalizedCache {
    /// Evicts the trees whose first record has expired, and to which nothing refers.
    ///
    /// Of a tree, all records go that have expired and that no other tree has, as far as 64 levels
    /// down. The others stay, as trees that were last accessed when the tree was.
    ///
    /// ```swift
    /// let count = try await cache.evictExpired()
    /// ```
    ///
    /// The cache evicts them by itself when it needs room. Pinned trees stay.
    ///
    /// - Returns: How many expired nodes, keys and collections were found. Those that another write
    ///   has made fresh meanwhile stay.
    /// - Throws: A ``CacheError``: `closed` when the cache is closed, `readOnly` when it is only
    ///   read.
    /// - Complexity: O(*n*) in the records that have a state of their own, for each level.
    public func evictExpired() async throws -> Int {
        var known: Set<RecordName> = []
        // What a tree leaves behind is found in the next round. Each round looks at all states.
        for _ in 0..<64 {
            let names = try expiredNames().filter { known.insert($0).inserted }
            guard !names.isEmpty else { break }
            // In batches for one commit each.
            for start in stride(from: 0, to: names.count, by: 256) {
                let batch = Array(names[start..<min(start + 256, names.count)])
                try await submit(isDroppable: false) { _ in .evictExpired(batch) }.committed
            }
        }
        return known.count
    }

    /// Returns the names of roots that have expired.
    private func expiredNames() throws -> [RecordName] {
        try withTransaction(.latest) { transaction, generation in
            // `now` is read inside the transaction, because the first one sets the clock to the
            // stored time.
            let handles = try transaction.expiredRoots(generation.keyspaces, at: now)
            let source = try SnapshotSource(transaction.snapshot, of: generation)
            let reader = TreeReader(source: source)
            return handles.compactMap { handle in
                reader.name(of: handle).map { RecordName($0.nameSpace, $0.identifier) }
            }
        }
    }
}
