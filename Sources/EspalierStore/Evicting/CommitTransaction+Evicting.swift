import EspalierLMDB
import EspalierRecords

// Eviction takes what nothing refers to, and hands the time of its last access on to what it
// referred to.
extension CommitTransaction {
    /// Children released in one step; a record with more goes in several.
    static let releaseBatch = 64

    /// Takes away records that only refer to one another: a root, or a cycle.
    func evict(
        _ handles: [Handle], accessedAt stamp: Stamp, isByCaller: Bool, reason: Eviction.Reason,
        _ tally: inout EvictionCounts, in transaction: inout WriteTransaction
    ) throws {
        if handles.count > Self.releaseBatch, !isByCaller {
            return try evictCycle(
                handles, accessedAt: stamp, reason: reason, &tally, in: &transaction)
        }
        var eviction = Victim(stamp: stamp, reason: reason)
        let members = Set(handles)
        for handle in handles {
            guard let record = try readableRecord(handle, in: transaction) else {
                try evictUnreadable(handle, in: &transaction)
                continue
            }
            eviction.add(record)
            if handles.count == 1, isLarge(record) {
                try scheduleRemoval(record, accessedAt: stamp, in: &transaction)
                continue
            }
            for child in record.children where !members.contains(child) {
                // What the caller takes out is as good as rewritten: what it referred to counts as
                // accessed.
                if isByCaller {
                    try counts.release(child, in: transaction)
                } else {
                    try counts.release(child, evictedAt: stamp, in: transaction)
                }
            }
            try erase(record, in: &transaction)
            try counts.forget(handle, in: transaction)
        }
        guard !eviction.entries.isEmpty else { return }
        changes.add(eviction)
        tally.add(
            records: eviction.entries.count, bytes: eviction.bytes, accessedAt: stamp,
            isGroup: handles.count > 1)
    }

    /// A cycle too large for one step: first the names of its records go, a few at a time, the one
    /// that stands for it last; until then all that can be reached by a name is whole. Then that
    /// one dies, and the others with their first reference.
    private func evictCycle(
        _ handles: [Handle], accessedAt stamp: Stamp, reason: Eviction.Reason,
        _ tally: inout EvictionCounts,
        in transaction: inout WriteTransaction
    ) throws {
        var named: [Handle] = []
        for handle in handles
        where try !counts.entry(handle, in: transaction).flags.contains(.pendingRemoval) {
            named.append(handle)
            if named.count > Self.releaseBatch { break }
        }
        // The one that is listed goes last: while it is there the cycle comes up again.
        let listed = try named.last { try counts.entry($0, in: transaction).recencyStamp != nil }
        let isLast = named.count <= Self.releaseBatch
        var victim = Victim(stamp: stamp, reason: reason)
        for handle in named where handle != listed || isLast {
            guard let record = try readableRecord(handle, in: transaction) else {
                try evictUnreadable(handle, in: &transaction)
                continue
            }
            victim.add(record)
            try removeIndexEntry(record, in: &transaction)
            if handle == listed {
                try counts.scheduleRemoval(handle, accessedAt: stamp, in: transaction)
            } else {
                try counts.scheduleRemovalWhenReleased(handle, accessedAt: stamp, in: transaction)
            }
        }
        guard !victim.entries.isEmpty else { return }
        changes.add(victim)
        tally.add(
            records: victim.entries.count, bytes: victim.bytes, accessedAt: stamp, isGroup: isLast)
    }

    /// Takes away what `identifier` names whatever its age. Throws `.referenced` where that would
    /// break a tree.
    func evict(_ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction)
        throws
    {
        guard let handle = try knownHandle(nameSpace, identifier, in: &transaction) else { return }
        if let record = try readableRecord(handle, in: transaction),
            !record.isNamed(identifier, in: nameSpace)
        {
            return
        }
        let run = RecencyOrder(self, reason: .explicit)
        guard try run.evict(handle, in: &transaction) else { throw CacheError.referenced }
        count(run.tally, for: .explicit)
    }

    /// Adds a run of the evictor to what is stored of the cache's life.
    func count(_ tally: EvictionCounts, for reason: Eviction.Reason) {
        lifetime.add(
            tally, for: reason, ages: lifetime.timeline.ages(of: tally, at: Timeline.currentSecond))
    }

    /// Whether a record is too much to go at once.
    func isLarge(_ record: Record) -> Bool {
        record.nameSpace == .collection && !record.children.isEmpty
            || record.children.count > Self.releaseBatch
            || isChunked(record)
    }

    /// What can't be read is no more than the bytes under its handle, and a name that is found only
    /// by looking for it.
    private func evictUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        try discardUnreadable(handle, .node, in: &transaction)
        var names: [[UInt8]] = []
        try transaction.forEach(in: keyspaces.index) { key, value in
            guard (try? Handle(stored: value)) == handle else { return true }
            names.append(try ByteReader.reading(key) { try $0.bytes(count: $0.end) })
            return true
        }
        try forget(names: names, in: &transaction)
        edits.index += names
        try counts.forget(handle, in: transaction)
    }

    // MARK: Dying

    /// Whether something may be dying: nothing else stands under stamp 0.
    func mayHavePendingRemovals(in transaction: borrowing WriteTransaction) throws -> Bool {
        if counts.hasPendingRemovals { return true }
        return try transaction.withCursor(keyspaces.recency) { cursor in
            try cursor.next() && cursor.withEntry { key, _ in KeyPair(key)?.first == 0 }
        }
    }

    /// Takes a record's name away at once, so that readers miss it; the rest goes in steps.
    func scheduleRemoval(
        _ record: Record, accessedAt stamp: Stamp, in transaction: inout WriteTransaction
    ) throws {
        try removeIndexEntry(record, in: &transaction)
        try counts.scheduleRemoval(record.handle, accessedAt: stamp, in: transaction)
    }

    /// Releases some more of a dying record's children, or takes some more of its bytes.
    func releaseMore(of handle: Handle, in transaction: inout WriteTransaction) throws {
        let entry = try counts.entry(handle, in: transaction)
        guard entry.released != StateEntry.allReleased else {
            return try eraseMore(of: handle, in: &transaction)
        }
        guard let record = try readableRecord(handle, in: transaction) else {
            try discardUnreadable(handle, .node, in: &transaction)
            return try counts.finishRemoval(handle, in: transaction)
        }
        let start = Int(clamping: entry.released)
        let batch = record.children.dropFirst(start).prefix(Self.releaseBatch)
        for child in batch {
            if record.nameSpace == .collection {
                try releaseSegment(child, removedAt: entry.stamp, in: &transaction)
            } else {
                try counts.release(child, removedAt: entry.stamp, in: transaction)
            }
        }
        guard start + batch.count >= record.children.count else {
            return try counts.setReleased(UInt64(start + batch.count), of: handle, in: transaction)
        }
        subtract(record)
        try counts.setReleased(StateEntry.allReleased, of: handle, in: transaction)
        if !isChunked(record) { try eraseMore(of: handle, in: &transaction) }
    }

    /// A segment dies with its collection: nothing else refers to it, and it has no name.
    private func releaseSegment(
        _ handle: Handle, removedAt stamp: Stamp, in transaction: inout WriteTransaction
    ) throws {
        try counts.release(handle, removedAt: stamp, in: transaction)
        guard try counts.entry(handle, in: transaction).flags.isDisjoint(with: [.tombstone, .lost])
        else { return }
        try counts.scheduleRemoval(handle, accessedAt: stamp, in: transaction)
    }

    /// Takes chunks away from the end, so that what is left stays one record's beginning.
    private func eraseMore(of handle: Handle, in transaction: inout WriteTransaction) throws {
        for _ in 0..<Self.releaseBatch {
            guard let last = try lastChunk(of: handle, in: transaction) else { break }
            counters.recordBytes -= min(counters.recordBytes, UInt64(last.bytes))
            try transaction.delete(keyspaces.nodes, last.key)
            edits.nodes.append(handle)
            if last.key.count == 8 { break }
        }
        if try !transaction.contains(keyspaces.nodes, handle.rawValue) {
            try counts.finishRemoval(handle, in: transaction)
        }
    }

    private func lastChunk(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> (key: [UInt8], bytes: Int)? {
        try transaction.withCursor(keyspaces.nodes) { cursor in
            let isBehind = try cursor.seek(atOrAfter: handle.rawValue + 1)
            guard try isBehind ? cursor.previous() : cursor.last() else { return nil }
            return try cursor.withEntry { key, value in
                try ByteReader.reading(key) { reader in
                    guard try reader.integer(UInt64.self) == handle.rawValue else { return nil }
                    reader.position = 0
                    return (try reader.bytes(count: reader.end), value.byteCount)
                }
            }
        }
    }
}
