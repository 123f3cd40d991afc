import EspalierLMDB
import EspalierRecords

/// What a commit does about damaged records.
///
/// A damaged record becomes *lost*: the commit removes its bytes and keeps the references to its
/// handle. Reads treat such a reference as a miss and not as a deletion. If the index or a pin
/// holds the whole identifier, the next write of it refills the same handle. If the index holds
/// only the beginning, the record becomes *nameless*: the next write makes a new record, and trees
/// that refer to the lost one miss until they are written again.
///
/// The references that a damaged record held are not known. A walk of the cache therefore corrects
/// all reference counts, once for all records that a commit makes lost.
extension CommitTransaction {
    /// Makes those of `handles` lost that can't be read or have no record. Returns them.
    func lose(_ handles: [Handle], in transaction: inout WriteTransaction) throws -> Set<Handle> {
        var lost: Set<Handle> = []
        for handle in handles where try isDamaged(handle, in: transaction) { lost.insert(handle) }
        guard !lost.isEmpty else { return [] }
        try makeLost(lost, in: &transaction)
        needsRecount = true
        return lost
    }

    /// Removes the bytes of records that can't be read, and keeps the names that are certain.
    private func makeLost(
        _ handles: Set<Handle>, in transaction: inout WriteTransaction
    ) throws {
        let named = try index.removeDoubtfulEntries(
            leadingTo: handles, known: pins.names(in: transaction), in: &transaction)
        for handle in handles.sorted() {
            try discardUnreadable(handle, in: &transaction)
            try states.lose(handle, isNamed: named.contains(handle), in: transaction)
        }
    }

    /// Whether a name has a record that can't be read, or is lost. A name to which an optimistic
    /// change has given a handle has no record, and has lost none.
    func hasUnreadableRecord(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        guard let match = try index.match(nameSpace, identifier, in: transaction.snapshot) else {
            return false
        }
        do {
            guard try records.record(match.handle) == nil,
                try states.entry(match.handle, in: transaction).flags.contains(.lost)
            else { return false }
        } catch is FormatError {}
        return try isCertain(match, nameSpace, identifier, in: transaction)
    }

    /// Returns whether an entry of the index is that of an identifier, even if its record can't be
    /// read.
    func isCertain(
        _ match: IndexGroup.Match, _ nameSpace: NameSpace, _ identifier: String,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        if match.isWhole { return true }
        let key = keyspaces.indexKey(nameSpace, identifier)
        return try pins.names(match.handle, key, in: transaction)
    }

    /// Makes a damaged record lost for good, because its entry in the index was not whole: the
    /// wanted name may not be that of the record. A record of a newer version stays without a name:
    /// a library that can read it will name it again.
    func loseUnnamed(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        index.verified.remove(handle)
        do {
            guard try records.record(handle) == nil else { return }
        } catch let error as FormatError {
            if error.isNewer { return }
        }
        let flags = try states.entry(handle, in: transaction).flags
        guard flags.isDisjoint(with: [.tombstone, .pendingRemoval]) else { return }
        try discardUnreadable(handle, in: &transaction)
        try states.lose(handle, isNamed: false, in: transaction)
        needsRecount = true
    }

    /// Makes those lost records nameless that no entry of the index leads to any more, after a
    /// group of the index was damaged. Walks the states and the index.
    func loseNamesWithoutRecords(in transaction: inout WriteTransaction) throws {
        var lost: Set<Handle> = []
        for handle in try states.storedHandles(in: transaction) + states.changedHandles {
            let flags = try states.entry(handle, in: transaction).flags
            if flags.contains(.lost), !flags.contains(.nameless) { lost.insert(handle) }
        }
        guard !lost.isEmpty else { return }
        let named = try index.removeDoubtfulEntries(
            leadingTo: lost, known: pins.names(in: transaction), in: &transaction)
        for handle in lost.subtracting(named).sorted() {
            try states.lose(handle, isNamed: false, in: transaction)
        }
        try applyPending(in: &transaction)
        needsRecount = true
    }

    private func isDamaged(
        _ handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        // A damaged reference may name a handle that was never given out. A record under such a
        // handle is left alone.
        guard counterTable.isGivenOut(handle) else { return false }
        let flags = try states.entry(handle, in: transaction).flags
        guard flags.isDisjoint(with: [.tombstone, .lost, .pendingRemoval]) else { return false }
        do {
            guard let record = try records.record(handle) else { return true }
            try record.checkValues()
            return false
        } catch let error as FormatError {
            return !error.isNewer
        }
    }

    /// Recounts all references, the records of each shape and dictionary, and the numbers of
    /// records and bytes. A record that can't be read counts as one without references.
    ///
    /// - Complexity: Walks the cache. Only damage and a repair of the index need it.
    func recount(in transaction: inout WriteTransaction) throws {
        var references: [Handle: UInt64] = [:]
        var shapeUses: [UInt64: UInt64] = [:]
        var handles: Set<Handle> = []
        var segments: Set<Handle> = []
        for nameSpace in NameSpace.allCases { counters[count: nameSpace] = 0 }
        counters.recordBytes = try storedBytes(in: transaction)
        counters.rawBytes = 0
        stored.forget()
        for handle in try recordHandles() {
            handles.insert(handle)
            let entry = try states.entry(handle, in: transaction)
            let isPendingRemoval = entry.flags.contains(.pendingRemoval)
            guard !isPendingRemoval || entry.released != StateEntry.allReleased,
                let record = try readableRecord(handle)
            else { continue }
            let released = isPendingRemoval ? Int(clamping: entry.released) : 0
            if record.nameSpace == .segment, !isPendingRemoval { segments.insert(handle) }
            for child in record.children.dropFirst(released) { references[child, default: 0] += 1 }
            shapeUses[record.shapeNumber, default: 0] += 1
            counters[count: record.nameSpace] += 1
            counters.rawBytes += UInt64(record.rawByteCount)
        }
        let stored = handles
        // Nothing checks the handle of a pin.
        let pinned = try transaction.pinnedHandles(keyspaces).filter {
            counterTable.isGivenOut($0) || stored.contains($0)
        }
        for handle in pinned + layers.retainedHandles {
            references[handle, default: 0] += 1
        }
        handles.formUnion(references.keys)
        handles.formUnion(try states.storedHandles(in: transaction))
        handles.formUnion(states.changedHandles)
        handles.formUnion(try namedHandles(in: transaction))
        // No handle must be given out twice, even if the counters are damaged.
        if let last = handles.max(), last.rawValue < UInt64.max {
            counters.nextHandle = max(counters.nextHandle, last.rawValue + 1)
        }
        for handle in handles {
            try states.setCount(references[handle] ?? 0, of: handle, in: transaction)
        }
        try removeSegments(
            segments.filter { references[$0] == nil }, among: stored, in: transaction)
        for handle in try loseMissing(handles.subtracting(stored), in: &transaction) {
            // Nothing leads to a record without a name and without references any more.
            try states.setCount(references[handle] ?? 0, of: handle, in: transaction)
        }
        // `states.flush` adds `tombstoneChange` to this number.
        let tombstones = try states.tombstoneCount(among: handles, in: transaction)
        counters.tombstones = UInt64(max(0, tombstones - states.tombstoneChange))
        shapes.setRecordCounts(shapeUses)
        dictionaries.setFrameCounts(try frameCounts(in: transaction))
    }

    /// Schedules the removal of segments whose collection is lost: nothing leads to them any more.
    ///
    /// - Parameter stored: All records. If one of them has a newer version, it may be a collection,
    ///   and the segments stay.
    private func removeSegments(
        _ segments: Set<Handle>, among stored: Set<Handle>,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard !segments.isEmpty, try !stored.contains(where: isNewer) else { return }
        for handle in segments {
            try states.scheduleRemoval(handle, accessedAt: states.stamp, in: transaction)
        }
    }

    /// Returns the handles that the index names. Of a record that stood in a damaged frame, whose
    /// only reference came from the same frame, the index alone knows.
    private func namedHandles(in transaction: borrowing WriteTransaction) throws -> Set<Handle> {
        var handles: Set<Handle> = []
        try transaction.forEachIndexEntry(keyspaces) { entry in
            // A damaged entry may name a handle that was never given out.
            if counterTable.isGivenOut(entry.handle) { handles.insert(entry.handle) }
            return true
        }
        return handles
    }

    /// Makes the records lost that have no bytes any more: those that stood in a frame that could
    /// not be read when a record beside them was written. Returns them.
    private func loseMissing(
        _ handles: Set<Handle>, in transaction: inout WriteTransaction
    ) throws -> Set<Handle> {
        let missing = try handles.filter { handle in
            let entry = try states.entry(handle, in: transaction)
            guard entry.flags.isDisjoint(with: [.tombstone, .lost, .pendingRemoval]) else {
                return false
            }
            return try !states.isRemoved(handle) && !isNewer(handle)
        }
        guard !missing.isEmpty else { return [] }
        try makeLost(missing, in: &transaction)
        try applyPending(in: &transaction)
        return missing
    }

    /// Returns whether a record may stand in a container of a newer version.
    private func isNewer(_ handle: Handle) throws -> Bool {
        do {
            _ = try records.record(handle)
            return false
        } catch let error as FormatError {
            return error.isNewer
        }
    }

    /// Returns the number of frames of each dictionary.
    private func frameCounts(
        in transaction: borrowing WriteTransaction
    ) throws -> [UInt64: UInt64] {
        var counts: [UInt64: UInt64] = [:]
        func count(_ frame: ByteReader) {
            var frame = frame
            if let number = try? frame.varint() { counts[number, default: 0] += 1 }
        }
        try transaction.forEach(in: keyspaces.nodes) { key, value in
            let value = ByteReader(lent: value)
            if let key = try? Handle(stored: key),
                let container = try? Container(reading: value, key: key)
            {
                for entry in container.entries { count(value.slice(entry.range)) }
            }
            return true
        }
        try transaction.forEachKey(in: keyspaces.long, from: [UInt8]()) { key in
            guard let key = ChunkKey(key), key.chunk == 0,
                let frame = try? transaction.longFrame(keyspaces, Handle(key.number))
            else { return true }
            ByteReader.reading(frame) { count($0) }
            return true
        }
        return counts
    }

    /// Returns the handles of the records that can be read, and of all long ones.
    private func recordHandles() throws -> [Handle] {
        var handles: [Handle] = []
        try stored.forEachHandle { handle in
            handles.append(handle)
            return true
        }
        return handles
    }

    private func storedBytes(in transaction: borrowing WriteTransaction) throws -> UInt64 {
        var bytes: UInt64 = 0
        for keyspace in [keyspaces.nodes, keyspaces.long] {
            try transaction.forEach(in: keyspace) { _, value in
                bytes += UInt64(value.byteCount)
                return true
            }
        }
        return bytes
    }
}

extension CommitTransaction: RecordNames {
    func name(of handle: Handle, in snapshot: Snapshot) throws -> [UInt8]? {
        guard let record = try readableRecord(handle), record.nameSpace != .segment
        else { return nil }
        return keyspaces.indexKey(record.nameSpace, record.identifier)
    }

    func forEachName(
        in snapshot: Snapshot, _ body: (_ key: [UInt8], _ handle: Handle) throws -> Void
    ) throws {
        for handle in try Set(recordHandles() + records.pendingHandles).sorted() {
            let flags = try states.entry(handle, in: snapshot).flags
            guard !flags.contains(.pendingRemoval), let name = try name(of: handle, in: snapshot)
            else { continue }
            try body(name, handle)
        }
    }
}
