import EspalierLMDB
import EspalierRecords

/// A cycle of more records than one step removes, or that releases more children, while it is
/// evicted over several commits.
///
/// Its records lose their names first, a few at a time. Until the last one does, every tree that
/// can be reached by a name is whole. Then the last one is scheduled for removal, and each of the
/// others follows when a first reference to it goes.
///
/// Nothing on disk lists the records of the cycle. If the cache is closed or another process writes
/// before all names are gone, the cycle is judged anew, and its eviction goes on.
struct LargeCycle {
    let stamp: Stamp
    let reason: Eviction.Reason
    /// The records that have names, each with the number of references to it, all of which come
    /// from the cycle.
    fileprivate var named: ArraySlice<(handle: Handle, referenceCount: UInt64)>

    /// The record that keeps its name to the end. If `recency` lists one of the cycle, it is this.
    var lastNamed: Handle? { named.last?.handle }
}

extension CommitTransaction {
    /// The names that one step removes.
    static let nameBatch = 8

    /// Begins to evict a cycle to which nothing outside refers. The last of `handles` keeps its
    /// name until the end.
    func beginLargeCycle(
        _ handles: [Handle], accessedAt stamp: Stamp, reason: Eviction.Reason,
        in transaction: borrowing WriteTransaction
    ) throws {
        var cycle = LargeCycle(stamp: stamp, reason: reason, named: [])
        for handle in handles {
            let entry = try states.entry(handle, in: transaction)
            guard !entry.flags.contains(.pendingRemoval) else { continue }
            cycle.named.append((handle, entry.referenceCount))
        }
        largeCycle = cycle
    }

    /// Removes some more names. Gives up if a record was accessed, replaced or referred to since
    /// the cycle was judged.
    func continueLargeCycle(
        countingIn evicted: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        guard var cycle = largeCycle else { return }
        let batch = cycle.named.prefix(Self.nameBatch)
        cycle.named = cycle.named.dropFirst(batch.count)
        var records: [Record] = []
        for (handle, referenceCount) in batch {
            let entry = try states.entry(handle, in: transaction)
            guard entry.flags.isSubset(of: [.onCycle, .blocked]), entry.stamp <= cycle.stamp,
                entry.referenceCount <= referenceCount,
                let record = try readableRecord(handle)
            else { return largeCycle = nil }
            records.append(record)
        }
        let isLast = cycle.named.isEmpty
        var victim = Victim(stamp: cycle.stamp, reason: cycle.reason)
        for (position, record) in records.enumerated() {
            victim.add(record)
            try index.removeEntry(of: record, in: &transaction)
            if isLast, position == records.count - 1 {
                try states.scheduleRemoval(
                    record.handle, accessedAt: cycle.stamp, in: transaction)
            } else {
                try states.scheduleRemovalWhenReleased(
                    record.handle, accessedAt: cycle.stamp, in: transaction)
            }
        }
        largeCycle = isLast ? nil : cycle
        guard !victim.entries.isEmpty else { return }
        changes.add(victim)
        evicted.add(
            records: victim.entries.count, bytes: victim.bytes, accessedAt: cycle.stamp,
            isGroup: isLast)
        if isLast { evicted.addTree() }
    }
}
