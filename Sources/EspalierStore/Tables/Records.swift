import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// The records as one transaction changes them.
///
/// New bytes stay in memory until they are applied. A `ContainerWriter` then writes them in the
/// order of handles, so that each container is written once. Chunks of records with a pending
/// removal are deleted at once. Confined to the thread that commits.
final class RecordTable {
    // immutable
    private let keyspaces: Keyspaces
    private let counters: CounterTable
    /// The records as the transaction has written them so far.
    private let stored: StoredRecords
    private let contentChanges: ContentChanges
    /// The most bytes that one value of LMDB holds.
    let valueLimit: Int

    /// A record that was written or removed.
    private struct Pending {
        /// Where its bytes are in `bytes`; nil if it was removed.
        var range: Range<Int>?
        var shape: BlockShape
        /// Whether containers or chunks have a record under the handle.
        let isStored: Bool
        /// Whether chunks may have it.
        let wasLong: Bool
    }

    // confined to the thread that commits
    private struct State: ~Copyable {
        var pending = PendingEntries<Pending>()
        var pendingCount = 0
        /// Those of `pending` that stand in containers or chunks.
        var pendingReplacements: [Handle] = []
        /// The number of times that the changes were written to containers.
        var applyCount = 0
        /// The stored bytes of the records that `pending` removes.
        var removedBytes = 0
        /// The bytes of the records in `pending`.
        var bytes = ByteWriter()
        var rewritten: [Handle] = []
        var edited: [UInt64] = []
        var newPages = NewPages()
    }
    private let state = Confined(State())

    init(
        _ keyspaces: Keyspaces, _ counters: CounterTable, _ stored: StoredRecords,
        _ contentChanges: ContentChanges, valueLimit: Int
    ) {
        self.keyspaces = keyspaces
        self.counters = counters
        self.stored = stored
        self.contentChanges = contentChanges
        self.valueLimit = valueLimit
    }

    /// The records that were rewritten, filled again or removed.
    var rewritten: [Handle] { state.value.rewritten }

    /// The keys of containers that were rewritten or deleted.
    var edited: [UInt64] { state.value.edited }

    var editedCount: Int { state.value.edited.count + state.value.pendingCount }

    /// An estimate of the pages that new values fill. Those that are not in containers yet are
    /// expected to be compressed as the others were.
    var newPages: Int {
        let raw = Double(counters.value.rawBytes)
        let pending = Double(state.value.bytes.count)
        let share = raw > pending * 2 ? Double(counters.value.recordBytes) * 5 / (raw * 4) : 1
        return state.value.newPages.count + Int(pending * min(share, 1) / 4_000)
            + (pending > 0 ? 1 : 0)
    }

    /// The number of records that were written or removed, and are not in containers yet.
    var pendingCount: Int { state.value.pendingCount }

    /// The handles of these records.
    var pendingHandles: [Handle] { state.value.pending.all.map(\.handle) }

    /// The pending records that replace or remove a stored record, and the number of this list:
    /// `finishChanges` starts a new list with the next number.
    var pendingReplacements: (handles: [Handle], applyCount: Int) {
        (state.value.pendingReplacements, state.value.applyCount)
    }

    /// The stored bytes of the records that were removed, and are still in their containers.
    var removedBytes: Int { state.value.removedBytes }

    /// Counts the pages of a new value.
    func addNewPages(for byteCount: Int) { state.value.newPages.add(byteCount) }

    /// Notes that a container was rewritten or deleted.
    func noteEdit(ofContainer key: Handle) { state.value.edited.append(key.rawValue) }

    // MARK: Reading

    /// Returns a record; nil if there is none.
    ///
    /// - Throws: A `FormatError` if it is damaged.
    func record(_ handle: Handle) throws -> Record? {
        guard let pending = state.value.pending[handle] else { return try stored.record(handle) }
        guard let range = pending.range else { return nil }
        return try Record(
            reading: state.value.bytes.lend(range), handle: handle, shapes: stored.shape)
    }

    /// Returns the bytes of a record, and what keeps them in place; nil if there is none. Without
    /// an owner they are lent until the next look-up.
    func find(_ handle: Handle) throws -> (reader: ByteReader, owner: RecordBuffer?)? {
        if let pending = state.value.pending[handle] {
            guard let range = pending.range else { return nil }
            let buffer = RecordBuffer(state.value.bytes.lend(range), 0..<range.count)
            return (buffer.reader, buffer)
        }
        do {
            if let reader = try stored.lend(handle) { return (reader, nil) }
        } catch let error as FormatError {
            guard try stored.isLong(handle) else { throw error }
        }
        return try stored.longRecordBytes(handle).map { ($0.reader, $0) }
    }

    /// Returns whether there are bytes of a record, readable or not.
    func contains(_ handle: Handle) throws -> Bool {
        if let pending = state.value.pending[handle] { return pending.range != nil }
        return try stored.contains(handle)
    }

    /// Returns the handles that a record refers to, none if it can't be read.
    func children(of handle: Handle) -> [Handle] { (try? record(handle))??.children ?? [] }

    // MARK: Writing

    /// Writes a record in place of `old`.
    func store(
        _ content: RecordContent, _ shape: RecordLayout.ShapeReference, at handle: Handle,
        over old: Record?
    ) {
        let start = state.value.bytes.count
        RecordLayout.write(
            handle, nameSpace: content.nameSpace, shape: shape, children: content.children,
            identifier: content.identifier, values: content.values, to: &state.value.bytes)
        let range = start..<state.value.bytes.count
        setPending(range, BlockShape(shape), at: handle, over: old)
        counters.value.rawBytes += UInt64(range.count)
        counters.value.bytesWritten += UInt64(range.count)
        guard let old else { return }
        counters.value.rawBytes -= min(counters.value.rawBytes, UInt64(old.rawByteCount))
    }

    private func setPending(
        _ range: Range<Int>?, _ shape: BlockShape, at handle: Handle, over old: Record?
    ) {
        if old != nil || handle.rawValue < contentChanges.firstNew {
            state.value.rewritten.append(handle)
        }
        contentChanges.change(handle)
        if state.value.pending[handle] != nil {
            state.value.pending[handle]?.range = range
            return state.value.pending[handle]!.shape = shape  // present, as checked above
        }
        state.value.pendingCount += 1
        if let old {
            state.value.pendingReplacements.append(handle)
            if range == nil, !old.isLong { state.value.removedBytes += old.storedByteCount }
        }
        let pending = Pending(
            range: range, shape: shape, isStored: old != nil, wasLong: old?.isLong == true)
        state.value.pending.insert(pending, at: handle)
    }

    /// Writes a record that stands in chunks again, as it is.
    func repackLong(_ record: BlockRecord) {
        let start = state.value.bytes.count
        record.bytes.copy(0..<record.bytes.end, into: &state.value.bytes)
        // It stands in no frame, so a damaged frame around its handle stays.
        let pending = Pending(
            range: start..<state.value.bytes.count, shape: record.shape, isStored: false,
            wasLong: true)
        state.value.pendingCount += 1
        state.value.pending.insert(pending, at: record.handle)
    }

    /// Removes the bytes of a record.
    func erase(_ record: Record) {
        setPending(nil, .none, at: record.handle, over: record)
    }

    /// Removes whatever stands under a handle, readable or not. Returns whether there was anything.
    /// Does not update the counters, so a recount has to follow.
    func eraseUnreadable(_ handle: Handle) throws -> Bool {
        guard try contains(handle) else { return false }
        contentChanges.change(handle)
        if state.value.pending[handle] != nil {
            state.value.pending[handle]?.range = nil
        } else {
            state.value.pendingCount += 1
            state.value.pendingReplacements.append(handle)
            state.value.pending.insert(
                Pending(range: nil, shape: .none, isStored: true, wasLong: true), at: handle)
        }
        return true
    }

    /// Removes the last chunk of a long record, so that the remaining ones are still its beginning.
    /// Returns whether any chunk is left.
    func eraseLastChunk(of handle: Handle, in transaction: inout WriteTransaction) throws -> Bool {
        guard let last = try lastChunk(of: handle, in: transaction) else { return false }
        counters.value.recordBytes -= min(counters.value.recordBytes, UInt64(last.bytes))
        try transaction.delete(keyspaces.long, last.key)
        return last.key.chunk > 0
    }

    /// Returns the frame of a stored record that stands in chunks; nil if some of them are gone or
    /// damaged.
    func wholeLongFrame(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> [UInt8]? {
        let first = ChunkKey(handle.rawValue, 0)
        // After the first step chunks are missing. This check avoids joining the rest at each step.
        guard let last = try lastChunk(of: handle, in: transaction),
            let count = try transaction.withValue(
                keyspaces.long, first, { try? Chunks.count($0) }) ?? nil,
            Int(last.key.chunk) + 1 == count
        else { return nil }
        return (try? transaction.longFrame(keyspaces, handle)) ?? nil
    }

    private func lastChunk(
        of handle: Handle, in transaction: borrowing WriteTransaction
    ) throws -> (key: ChunkKey, bytes: Int)? {
        try transaction.withCursor(keyspaces.long) { cursor in
            guard try cursor.seek(atOrBefore: ChunkKey(handle.rawValue, .max)) else { return nil }
            return cursor.withEntry { key, value in
                guard let key = ChunkKey(key), key.number == handle.rawValue else { return nil }
                return (key, value.byteCount)
            }
        }
    }

    /// Removes chunks whose record is gone.
    func eraseLooseChunks(_ keys: [[UInt8]], in transaction: inout WriteTransaction) throws {
        for key in keys { try transaction.delete(keyspaces.long, key) }
    }

    // MARK: Containers

    /// A change to the containers.
    struct Change {
        let handle: Handle
        /// The new bytes, lent until the next write; nil to remove the record.
        let record: BlockRecord?
        /// Whether containers or chunks have a record under the handle.
        let isStored: Bool
        let wasLong: Bool
    }

    /// Returns the changes that are not in containers yet, in the order of handles. The caller
    /// writes them, and calls `finishChanges`.
    func changes() -> [Change] {
        let all = state.value.pending.all.sorted { $0.handle < $1.handle }
        return all.compactMap { handle, pending in
            guard pending.range != nil || pending.isStored else { return nil }
            let record = pending.range.map {
                BlockRecord(
                    handle: handle, bytes: state.value.bytes.lend($0), shape: pending.shape)
            }
            return Change(
                handle: handle, record: record, isStored: pending.isStored,
                wasLong: pending.wasLong)
        }
    }

    /// Forgets the changes, which are in containers now.
    func finishChanges() {
        state.value.pending.removeAll()
        state.value.pendingCount = 0
        state.value.pendingReplacements.removeAll(keepingCapacity: true)
        state.value.applyCount += 1
        state.value.removedBytes = 0
        state.value.bytes.removeAll()
        stored.forget()
    }
}

/// Where a record goes, and the record that is there.
struct RecordSlot {
    let handle: Handle
    let old: Record?
}

/// The content of a record to be written.
struct RecordContent {
    let nameSpace: NameSpace
    let identifier: String
    var shape: Shape = .none
    let children: [Handle]
    let values: ArraySlice<UInt8>

    func isSame(as old: Record) -> Bool {
        shape == old.shape && children == old.children && values == old.values[...]
            && Identifier(identifier) == Identifier(old.identifier)
    }
}

extension Record {
    /// Returns whether the record is the one that `identifier` names.
    func isNamed(_ identifier: String, in nameSpace: NameSpace) -> Bool {
        self.nameSpace == nameSpace && Identifier(self.identifier) == Identifier(identifier)
    }

    /// Checks the values of the record one by one.
    ///
    /// - Throws: A `FormatError` unless every value has a known kind, there are as many values as
    ///   fields, and the values name every child of the record and no other.
    func checkValues() throws {
        let count = nameSpace == .node ? shape.count : 1
        var splicer = ValueSplicer()
        try ByteReader.reading(values) { reader in
            for _ in 0..<count { try reader.skipValue() }
            guard reader.isAtEnd else { throw FormatError.malformed("more values than fields") }
            reader.position = 0
            while !reader.isAtEnd {
                if try reader.kind() == .string {
                    _ = try reader.readString()
                } else {
                    try reader.skipHead()
                }
            }
        }
        // The children of a collection are its segments. Its values are their counts.
        guard nameSpace != .collection else { return _ = try SegmentList(self) }
        try splicer.append(values, children: children)
        guard splicer.children.count == children.count else {
            throw FormatError.malformed("a child that no value names")
        }
    }
}

extension CommitTransaction {
    /// Stores the frame of a long record in chunks.
    func storeInChunks(
        _ frame: ByteReader, of handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        let limit = records.valueLimit
        for (number, chunk) in Chunks.split(frame, handle: handle, limit: limit).enumerated() {
            let key = ChunkKey(handle.rawValue, UInt32(number))
            try transaction.put(keyspaces.long, key, chunk)
            records.addNewPages(for: chunk.count)
            counters.recordBytes += UInt64(chunk.count)
        }
    }

    /// Removes the chunks of a long record.
    func removeChunks(of handle: Handle, in transaction: inout WriteTransaction) throws {
        let frame = (try? transaction.longFrame(keyspaces, handle)) ?? nil
        if let frame { ByteReader.reading(frame) { releaseDictionary(ofFrame: $0) } }
        for chunk in try transaction.longChunks(keyspaces, handle) {
            counters.recordBytes -= min(counters.recordBytes, UInt64(chunk.bytes.count))
            try transaction.delete(keyspaces.long, ChunkKey(handle.rawValue, chunk.number))
        }
    }
}
