import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// One write transaction's work above LMDB: handles and shapes given out, counts kept, changes
/// noted.
///
/// Everything here is of the transaction alone: if it fails, the commit is dropped and nothing in
/// memory has changed, but `names`, which the committer then empties. Confined to the thread that
/// commits.
final class CommitTransaction {
    let generation: Generation
    let keyspaces: Keyspaces
    let counts: ReferenceCounts
    var dictionaries: DictionaryNumbers
    /// Whether a damaged record was cleared away, whose references are not known.
    var hasLostReferences = false
    /// What this process knows of pinned records, and what the commit adds to it.
    let reach: PinnedReach
    var pinned: PinnedReach.Change
    /// What this process knows of the index.
    let names: VerifiedIndexEntries
    /// Records that may lie on cycles, or lead to some, that no flag tells of.
    var suspects: [Handle] = []
    var checkedEdits = 0
    var checkedBytes: UInt64
    var lifetime: LifetimeCounters
    /// What restored records refer to and is no more, by the restoration they belong to.
    var restorations: [(restoration: Restoration, handles: [RecordReference: Handle])] = []
    let compressor: RecordCompressor?
    private let decompressor: RecordDecompressor
    /// The highest handle in `nodes`: records above it are appended, which keeps pages full.
    var highest: UInt64
    let chunkLimit: Int

    // What every record changes.
    private struct Books: ~Copyable {
        var counters: Counters
        var shapes: ShapeNumbers
        var changes: ChangeSet
        var edits = Edits()
        /// The key of the identifier looked up last: memory that is used again.
        var indexKey = ByteWriter(capacity: 64)
        /// Whether the identifier bound last was known.
        var isAmongKnown = false
    }
    private let books: Confined<Books>
    var counters: Counters {
        _read { yield books.value.counters }
        _modify { yield &books.value.counters }
    }
    var shapes: ShapeNumbers {
        _read { yield books.value.shapes }
        _modify { yield &books.value.shapes }
    }
    var changes: ChangeSet {
        _read { yield books.value.changes }
        _modify { yield &books.value.changes }
    }
    /// What was edited apart from `counts`'s keyspaces: what the commit will cost in pages.
    var edits: Edits {
        _read { yield books.value.edits }
        _modify { yield &books.value.edits }
    }

    init(
        _ generation: Generation, _ transaction: borrowing WriteTransaction,
        _ tables: WriterTables?,
        _ compressor: RecordCompressor?
    ) throws {
        self.generation = generation
        keyspaces = generation.keyspaces
        var counters = try transaction.counters(keyspaces)
        counters.commits += 1
        counts = ReferenceCounts(keyspaces, stamp: Stamp(counters.stamp))
        books = Confined(
            Books(
                counters: counters,
                shapes: try tables?.shapes ?? ShapeNumbers(loading: transaction, keyspaces),
                changes: ChangeSet(commit: counters.commits)))
        dictionaries =
            try tables?.dictionaries ?? DictionaryNumbers(loading: transaction, keyspaces)
        self.compressor = compressor
        // The writer's own transaction can't be kept: `readableRecord` looks there.
        decompressor = RecordDecompressor(generation) { _ in nil }
        let reach =
            try tables?.reach
            ?? PinnedReach(loading: transaction, keyspaces, total: counters.pinnedBytes)
        self.reach = reach
        pinned = reach.start()
        names = tables?.names ?? VerifiedIndexEntries()
        names.transferToCurrentThread()
        checkedBytes = counters.bytesWritten
        lifetime = try transaction.lifetimeCounters(keyspaces)
        highest = counters.nextHandle &- 1
        chunkLimit = generation.environment.maximumValueSize
        hasLostReferences = dictionaries.isDamaged
    }

    /// The time now.
    var stamp: Stamp { counts.stamp }

    /// Moves time on: every touch and every write has a time of its own.
    func tick() {
        counters.stamp += 1
        counts.stamp = Stamp(counters.stamp)
    }

    /// Touches what reads have touched, in their order. What is gone meanwhile stays gone.
    func touch(_ handles: [Handle], in transaction: borrowing WriteTransaction) throws {
        for handle in handles where try transaction.contains(keyspaces.nodes, handle.rawValue) {
            guard
                try counts.entry(handle, in: transaction).flags.isDisjoint(with: [
                    .pendingRemoval, .tombstone,
                ])
            else {
                continue
            }
            tick()
            try counts.touch(handle, in: transaction)
        }
    }

    /// Writes out what the commit holds; the transaction is ready to commit then.
    func flush(_ transaction: inout WriteTransaction) throws -> ChangedTables {
        if hasLostReferences || counts.hasDamage { try recount(in: transaction) }
        try counts.flush(&transaction)
        counters.tombstones = UInt64(
            max(0, Int64(counters.tombstones) + Int64(counts.tombstoneChange)))
        let changedShapes = try shapes.flush(&transaction, keyspaces)
        let dropped = try dictionaries.flush(&transaction, keyspaces)
        counters.pinnedBytes = UInt64(max(0, pinned.total))
        try transaction.put(keyspaces.info, Counters.key, counters.bytes)
        lifetime.timeline.addSample(counters.stamp, at: Timeline.currentSecond)
        try transaction.put(keyspaces.info, LifetimeCounters.key, lifetime.bytes)
        return ChangedTables(shapes: changedShapes, droppedDictionaries: dropped)
    }

    /// Whether any deleted record is still referred to.
    var mayHaveTombstones: Bool { counters.tombstones > 0 || counts.tombstoneChange > 0 }

    // MARK: Handles

    /// The handle of an identifier, given out now if there is none.
    func bind(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> (handle: Handle, isNew: Bool) {
        IndexKey.write(nameSpace, identifier, to: &books.value.indexKey)
        let key = books.value.indexKey.bytes
        // The nodes of a tree are mostly all new or all known: looking one up costs less than
        // finding that it can't be inserted.
        if books.value.isAmongKnown, let handle = try handle(under: key, in: transaction) {
            return (handle, false)
        }
        let known = try counters.nextHandle.withBytes { new in
            try transaction.insert(keyspaces.index, key, new) { try? Handle(stored: $0) }
        }
        books.value.isAmongKnown = known != nil
        guard let known else { return (named(by: key), true) }
        // What the index has may be damage.
        if let handle = known, isGivenOut(handle) { return (handle, false) }
        return (try rebind(key, in: &transaction), true)
    }

    /// What the index has under `key`; nil also for damage.
    private func handle(under key: [UInt8], in transaction: borrowing WriteTransaction) throws
        -> Handle?
    {
        let stored = try transaction.withValue(keyspaces.index, key) { try? Handle(stored: $0) }
        guard let stored, let handle = stored, isGivenOut(handle) else { return nil }
        return handle
    }

    /// A handle that was never used, which the index has under `key`.
    private func named(by key: [UInt8]) -> Handle {
        edits.note(newBytes: key.count + 8)
        edits.index.append(key)
        let handle = makeHandle()
        names.insert(handle)
        return handle
    }

    private func isGivenOut(_ handle: Handle) -> Bool {
        (1..<counters.nextHandle).contains(handle.rawValue)
    }

    /// The handle of an identifier; nil when the index has none, or damage in its place: one that
    /// was never given out.
    func knownHandle(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Handle? {
        try handle(under: IndexKey.bytes(nameSpace, identifier), in: transaction)
    }

    /// Gives an identifier a new handle, whatever it had.
    func rebind(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Handle {
        try rebind(IndexKey.bytes(nameSpace, identifier), in: &transaction)
    }

    private func rebind(_ key: [UInt8], in transaction: inout WriteTransaction) throws -> Handle {
        // What the key led to has lost this name; a value that is no handle was none's.
        if let old = try? transaction.withValue(keyspaces.index, key, { try Handle(stored: $0) }) {
            names.remove(old)
        }
        try transaction.put(keyspaces.index, key, Handle(counters.nextHandle).storedBytes)
        return named(by: key)
    }

    /// A handle that was never used.
    func makeHandle() -> Handle {
        defer { counters.nextHandle += 1 }
        let handle = Handle(counters.nextHandle)
        counts.insert(handle)
        return handle
    }

    // MARK: Records

    /// The record of a handle; nil where there is none or it can't be read, which a write repairs.
    func readableRecord(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Record? {
        do {
            return try record(handle, in: transaction)
        } catch is FormatError {
            return nil
        }
    }

    /// The record of a handle; nil where there is none. Damage throws a `FormatError`.
    func record(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Record? {
        do {
            return try transaction.record(keyspaces, handle, by: decompressor) {
                self.shapes.shape($0)
            }
        } catch FormatError.unknownDictionary(let number) {
            guard let dictionary = try dictionary(number, in: transaction) else {
                throw FormatError.unknownDictionary(number)
            }
            decompressor.add(dictionary, number: number)
            return try transaction.record(keyspaces, handle, by: decompressor) {
                self.shapes.shape($0)
            }
        }
    }

    /// Takes names away that lead nowhere, or not where they should. Whose they were is not known.
    func forget(names keys: [[UInt8]], in transaction: inout WriteTransaction) throws {
        names.removeAll()
        for key in keys { try transaction.delete(keyspaces.index, key) }
    }

    /// Runs `body` with a stored record as it was before it was compressed, if it was. Good until
    /// the next one.
    func decompressed<R>(_ stored: ByteReader, _ body: (DecompressedRecord) throws -> R) throws -> R
    {
        decompressor.arena.removeAll()
        return try body(RecordLayout.decompress(stored, by: decompressor, in: decompressor.arena))
    }

    /// A dictionary as the transaction sees it; nil where there is none, or a damaged one.
    func dictionary(
        _ number: UInt64, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> RecordDictionary? {
        do {
            return try transaction.storedDictionary(keyspaces, number).flatMap {
                RecordDictionary($0.bytes)
            }
        } catch is FormatError {
            return nil
        }
    }

    /// Whether a record stands in several values.
    func isChunked(_ record: Record) -> Bool { record.storedByteCount > chunkLimit }

    /// What a record is to become.
    struct Content {
        let nameSpace: NameSpace
        let identifier: String
        var shape: Shape = .none
        let children: [Handle]
        let values: ArraySlice<UInt8>

        var payload: [UInt8] { Record.payload(identifier: identifier, values: values) }

        func isUnchanged(from old: Record) -> Bool {
            shape == old.shape && children == old.children && values == old.values[...]
                && Identifier(identifier) == Identifier(old.identifier)
        }
    }

    private func bind(_ shape: Shape) -> RecordLayout.ShapeReference {
        guard shape !== Shape.none else { return .none }
        var next = counters.nextShape
        let reference = shapes.bind(shape, next: &next, limit: chunkLimit)
        if next != counters.nextShape { counters.nextShape = next }
        return reference
    }

    /// Writes a record unless `old` says the same already. Counts follow the difference of the
    /// children. Returns whether it was written.
    @discardableResult
    func put(
        _ content: Content, at handle: Handle, over old: Record?,
        in transaction: inout WriteTransaction
    ) throws -> Bool {
        if let old, content.isUnchanged(from: old) {
            counters.recordsUnchanged += 1
            return false
        }
        let shape = bind(content.shape)
        if compressor == nil {
            let bytes = RecordLayout.build(
                handle: handle, nameSpace: content.nameSpace, shape: shape,
                children: content.children,
                identifier: content.identifier, values: content.values)
            try store(bytes, rawByteCount: bytes.count, at: handle, over: old, in: &transaction)
        } else {
            let payload = content.payload
            let compressed = try compress(
                RecordLayout.payload(payload, shape: shape), of: shape.shape, in: transaction)
            try store(content, payload, shape, compressed, at: handle, over: old, in: &transaction)
        }
        if case .number(let number, _) = shape { shapes.retain(number) }
        if let old {
            shapes.release(old.shapeNumber)
            dictionaries.release(old.dictionaryNumber)
        } else {
            counters[count: content.nameSpace] += 1
        }
        try moveReferences(
            of: handle, from: old?.children ?? [], to: content.children, in: &transaction)
        counters.recordsWritten += 1
        return true
    }

    private func moveReferences(
        of handle: Handle, from old: [Handle], to new: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        guard old != new else { return }
        // A record names each child once: what stands at the same end of both is in no other place.
        // An edit of a long list leaves nearly all of it there.
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        let old = old[start..<old.count - end]
        let new = new[start..<new.count - end]
        // Most have no children before or after: the new ones, and those that go.
        let before = new.isEmpty ? [] : Set(old)
        let after = old.isEmpty ? [] : Set(new)
        // New ones first: a record that only moves within the children must not pass through zero.
        for child in new where !before.contains(child) { try counts.retain(child, in: transaction) }
        var isReferenced: Bool?
        for child in old where !after.contains(child) {
            try counts.release(child, in: transaction)
            // Without the reference a cycle may fall into several, of which some are not flagged.
            isReferenced =
                try isReferenced ?? (counts.entry(handle, in: transaction).referenceCount > 0)
            if isReferenced == true { suspects.append(child) }
        }
    }

    /// Takes a record away: its references, its bytes and its index entry. References to it find a
    /// tombstone.
    func remove(_ record: Record, in transaction: inout WriteTransaction) throws {
        try moveReferences(of: record.handle, from: record.children, to: [], in: &transaction)
        try erase(record, in: &transaction)
        try counts.remove(record.handle, in: transaction)
    }

    /// Takes a record's bytes and its index entry away.
    func erase(_ record: Record, in transaction: inout WriteTransaction) throws {
        let layout = Chunks.layout(of: record.storedByteCount, limit: chunkLimit)
        try transaction.delete(keyspaces.nodes, record.handle.rawValue)
        for number in stride(from: 1, to: layout.count, by: 1) {
            try transaction.delete(
                keyspaces.nodes, ChunkKey(record.handle.rawValue, UInt32(number)))
        }
        edits.nodes.append(record.handle)
        counters.recordBytes -= min(counters.recordBytes, UInt64(layout.storedBytes))
        subtract(record)
        try removeIndexEntry(record, in: &transaction)
    }

    /// A record is counted no longer, though its bytes may still be there.
    func subtract(_ record: Record) {
        shapes.release(record.shapeNumber)
        dictionaries.release(record.dictionaryNumber)
        counters.rawBytes -= min(counters.rawBytes, UInt64(record.rawByteCount))
        // After damage a count may be too low; it must not pass through zero.
        if counters[count: record.nameSpace] > 0 { counters[count: record.nameSpace] -= 1 }
    }

    /// From here on no identifier leads to the record.
    func removeIndexEntry(_ record: Record, in transaction: inout WriteTransaction) throws {
        guard record.nameSpace != .segment else { return }
        let key = IndexKey.bytes(record.nameSpace, record.identifier)
        // After damage the name may be another record's.
        let named = try? transaction.withValue(keyspaces.index, key) { try Handle(stored: $0) }
        guard named == record.handle else { return }
        names.remove(record.handle)
        try transaction.delete(keyspaces.index, key)
        edits.index.append(key)
    }
}
