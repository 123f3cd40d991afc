import EspalierLMDB
import EspalierRecords

// A large record is removed in steps, over as many commits as it takes. The first step removes its
// index entry, so that reads miss it from then on. The record is then listed in `recency` under
// stamp 0, before all others, and each evictor continues the removal:
//     released   0 ... 64 ... 128 ...      the number of its children that are released
//     released   allReleased               its chunks are deleted from the end, then its entry
//
// Its `StateEntry` stores the number, so a removal continues after the cache was reopened.

/// How far a commit has come with removals in steps.
struct RemovalProgress {
    /// The most children that the next step releases, chunks that it deletes, and records of a
    /// cycle that it removes.
    var batch = largestBatch
    /// The record whose removal was continued last.
    var record: Record?
    /// Evicted records that could not be read, whose names the index still has.
    var unreadable: Set<Handle> = []

    /// The batch of a step that has enough pages.
    static let largestBatch = 64
}

extension CommitTransaction {
    /// Lets one step of a removal release only so many children that it copies no more than about
    /// `pages` pages: each child may stand in a group of states of its own, and in one of
    /// `recency`.
    func limitRemovalBatch(
        toPages pages: Int, in transaction: borrowing WriteTransaction
    ) throws {
        removal.batch = RemovalProgress.largestBatch
        guard pages < 2 * removal.batch else { return }
        // Both keyspaces may have fewer leaves than `pages`, even if a quarter of them is split.
        let leaves =
            try transaction.statistics(of: keyspaces.state).leafPages
            + transaction.statistics(of: keyspaces.recency).leafPages
        if leaves * 5 / 4 + 4 > pages { removal.batch = min(max(pages / 2, 4), removal.batch) }
    }

    /// Returns whether a record is too large to be removed in one step.
    func isLarge(_ record: Record) -> Bool {
        record.nameSpace == .collection && !record.children.isEmpty
            || record.children.count > removal.batch
            || record.isLong
    }

    /// Returns whether the records of a cycle can be removed in one step: there are not too many,
    /// none is long, and they do not release too many children.
    func fitsOneStep(_ handles: [Handle]) throws -> Bool {
        guard handles.count <= removal.batch else { return false }
        let members = Set(handles)
        var released = 0
        for handle in handles {
            guard let record = try readableRecord(handle) else { continue }
            released += record.children.count { !members.contains($0) }
            if record.isLong || released > removal.batch { return false }
        }
        return true
    }

    /// Returns whether any record may be pending removal. Only such records have stamp 0 in
    /// `recency`.
    func mayHavePendingRemovals(in transaction: borrowing WriteTransaction) throws -> Bool {
        if states.hasPendingRemovals { return true }
        var oldest: RecencyEntry?
        try transaction.forEachRecencyEntry(
            keyspaces, damaged: { _ in states.hasDamagedRecency = true }
        ) { entry in
            oldest = entry
            return false
        }
        return oldest?.stamp == .never
    }

    /// Removes a record's index entry now. Later steps remove the rest.
    func scheduleRemoval(
        _ record: Record, accessedAt stamp: Stamp, in transaction: inout WriteTransaction
    ) throws {
        try index.removeEntry(of: record, in: &transaction)
        try states.scheduleRemoval(record.handle, accessedAt: stamp, in: transaction)
    }

    /// Releases some more children of a record that is pending removal, or deletes some more of its
    /// chunks.
    func continueRemoval(of handle: Handle, in transaction: inout WriteTransaction) throws {
        let entry = try states.entry(handle, in: transaction)
        guard entry.released != StateEntry.allReleased else {
            return try eraseMore(of: handle, in: &transaction)
        }
        if removal.record?.handle != handle { removal.record = try readableRecord(handle) }
        guard let record = removal.record else {
            try discardUnreadable(handle, in: &transaction)
            return try states.finishRemoval(handle, in: transaction)
        }
        let start = Int(clamping: entry.released)
        let batch = record.children.dropFirst(start).prefix(removal.batch)
        for child in batch {
            if record.nameSpace == .collection {
                try releaseSegment(child, removedAt: entry.stamp, in: &transaction)
            } else {
                try states.release(child, removedAt: entry.stamp, in: transaction)
            }
        }
        guard start + batch.count >= record.children.count else {
            return try states.setReleased(UInt64(start + batch.count), of: handle, in: transaction)
        }
        subtract(record)
        try states.setReleased(StateEntry.allReleased, of: handle, in: transaction)
        if !record.isLong {
            records.erase(record)
            try states.finishRemoval(handle, in: transaction)
        }
    }

    /// Schedules the removal of a segment of a collection. A segment has no name, and only its
    /// collection refers to it.
    private func releaseSegment(
        _ handle: Handle, removedAt stamp: Stamp, in transaction: inout WriteTransaction
    ) throws {
        try states.release(handle, removedAt: stamp, in: transaction)
        guard try states.entry(handle, in: transaction).flags.isDisjoint(with: [.tombstone, .lost])
        else { return }
        try states.scheduleRemoval(handle, accessedAt: stamp, in: transaction)
    }

    /// Deletes chunks from the end, so that the rest is always the beginning of the record.
    private func eraseMore(of handle: Handle, in transaction: inout WriteTransaction) throws {
        // The dictionary counts a frame as long as all of its chunks are there. The first step of
        // the removal ends that.
        if let frame = try records.wholeLongFrame(of: handle, in: transaction) {
            ByteReader.reading(frame) { releaseDictionary(ofFrame: $0) }
        }
        // Does not ask whether there is still a record: if the frame around the handle can't be
        // read, there may be one, and the removal would never end.
        for _ in 0..<removal.batch {
            guard try records.eraseLastChunk(of: handle, in: &transaction) else {
                return try states.finishRemoval(handle, in: transaction)
            }
        }
    }
}
