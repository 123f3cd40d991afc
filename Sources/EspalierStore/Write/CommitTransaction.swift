import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// One commit: the tables as a write transaction changes them, and the steps from its operations to
/// its end.
///
/// Each table owns a keyspace and its pending changes; the transaction is their sum. If it fails it
/// is dropped, and nothing in memory has changed but `index.verified`, which is emptied.
/// Confined to the thread that commits.
final class CommitTransaction {
    // immutable
    let generation: Generation
    let keyspaces: Keyspaces
    private let compressor: RecordCompressor?

    // the tables
    let counterTable: CounterTable
    let counts: ReferenceCounts
    let index: IndexTable
    let records: RecordTable
    let pins: PinTable
    private let confinedTables: Confined<CopiedTables>
    private struct CopiedTables: ~Copyable {
        var shapes: ShapeTable
        var dictionaries: DictionaryTable
        var changes: ChangeSet
    }
    var shapes: ShapeTable {
        _read { yield confinedTables.value.shapes }
        _modify { yield &confinedTables.value.shapes }
    }
    var dictionaries: DictionaryTable {
        _read { yield confinedTables.value.dictionaries }
        _modify { yield &confinedTables.value.dictionaries }
    }
    /// What the commit changes, by identifier.
    var changes: ChangeSet {
        _read { yield confinedTables.value.changes }
        _modify { yield &confinedTables.value.changes }
    }
    var counters: Counters {
        _read { yield counterTable.value }
        _modify { yield &counterTable.value }
    }
    var lifetime: LifetimeCounters

    // confined to the thread that commits
    /// Whether references are unknown, because a damaged record was removed or an entry that led to
    /// one. All counts are then put right before the commit.
    var needsRecount: Bool
    /// Records that may lie on a cycle, or lead to one, of which no record is flagged.
    private var suspects: [Handle] = []
    /// What `checkPins` has seen of the written records.
    var checkedEdits = 0
    var checkedBytes: UInt64
    /// The handles that restored records gave to records that are gone.
    var restorations: [(restoration: Restoration, handles: [RecordReference: Handle])] = []
    /// Where compressed records are decompressed. It does not look dictionaries up: that takes the
    /// transaction, which can't be kept. `record` does.
    private let decompressor: RecordDecompressor

    /// Loads the tables, or goes on with those of the last commit.
    ///
    /// - Throws: `CorruptMetadata` if the counters can't be read.
    init(
        _ generation: Generation, _ transaction: borrowing WriteTransaction,
        _ committed: CommittedTables?, _ compressor: RecordCompressor?
    ) throws {
        self.generation = generation
        self.compressor = compressor
        keyspaces = generation.keyspaces
        do {
            counterTable = try CounterTable(loading: transaction, keyspaces)
            counterTable.value.commits += 1
            lifetime = try transaction.lifetimeCounters(keyspaces)
            let counters = counterTable.value
            let dictionaries =
                try committed?.dictionaries
                ?? DictionaryTable(loading: transaction, keyspaces)
            needsRecount = dictionaries.isDamaged
            confinedTables = Confined(
                CopiedTables(
                    shapes: try committed?.shapes ?? ShapeTable(loading: transaction, keyspaces),
                    dictionaries: dictionaries, changes: ChangeSet(commit: counters.commits)))
            pins = PinTable(
                keyspaces,
                try committed?.pinned
                    ?? PinnedRecords(loading: transaction, keyspaces, cost: counters.pinnedBytes))
        } catch is FormatError {
            throw CorruptMetadata()
        }
        counts = ReferenceCounts(keyspaces, counterTable)
        let verified = committed?.verified ?? VerifiedIndexEntries()
        verified.transferToCurrentThread()
        index = IndexTable(keyspaces, counts, counterTable, verified)
        records = RecordTable(
            keyspaces, counterTable, chunkLimit: generation.environment.maximumValueSize)
        checkedBytes = counterTable.value.bytesWritten
        decompressor = RecordDecompressor(generation) { _ in nil }
    }

    // MARK: - The steps of a commit

    /// What a commit is to do besides its operations.
    struct Request {
        var operations: [WriteOperation]
        /// How far it evicts.
        var goal = EvictionGoal.watermark
        /// The most steps of eviction.
        var evictionSteps = Int.max
        /// Whether it applies what reads have logged: accesses and cycles. Each may stand on a page
        /// of its own, so a commit that makes room takes none and looks the victims up instead.
        var takesLogs = true
        /// Whether it clears damaged records away.
        var clearsDamage = true
    }

    /// What a commit has done that its committer takes over into memory.
    struct Outcome {
        let transaction: CommitTransaction
        let number: UInt64
        let evictor: Evictor
        let changedShapes: [(number: UInt64, shape: Shape?)]
        let droppedDictionaries: [UInt64]
    }

    /// Runs one commit, from the beginning of the transaction to its end.
    ///
    /// - Throws: Why it failed; `CommitPolicy` decides what follows. Nothing has changed then, in
    ///   the file or in memory, and the logs have back what was taken from them.
    static func run(
        _ request: Request, in generation: Generation, of generations: GenerationHolder,
        _ logs: CommitLogs, _ compressor: RecordCompressor?,
        tables: (_ transaction: UInt64) -> CommittedTables?
    ) throws -> Outcome {
        // Begin. Another process may have switched to another generation while this one waited for
        // LMDB's lock.
        var transaction = try generation.environment.beginWrite()
        guard generations.isLive(generation) else { throw StaleGeneration() }

        // Go on with the tables of the last commit, unless another process has written since.
        let number = transaction.number
        let commit = try CommitTransaction(generation, transaction, tables(number), compressor)

        // Take what reads have logged since the last commit.
        let capacity = try transaction.pages().capacity
        let share = request.takesLogs ? PagePlan(capacity: capacity).touchLimit : 0
        let logged = logs.take(
            atMost: share, damaged: request.clearsDamage ? share : 0, in: generation,
            transaction: number)
        do {
            // Stamp the records that were accessed, in the order of the accesses.
            try commit.touch(logged.accesses.handles, in: transaction)

            // Apply the operations, each at a time of its own.
            for operation in request.operations {
                commit.counts.tick()
                try commit.apply(operation, in: &transaction)
            }
            commit.changes.writeCount = request.operations.count

            // Flag the cycles that reads and scans have found.
            for handle in logged.cycles where try commit.records.contains(handle, in: transaction) {
                try commit.counts.flagCycle(at: handle, in: transaction)
            }

            // Clear damaged records away: what the operations have written anew is whole.
            let lost = try commit.lose(logged.damaged, in: &transaction)

            // Note how far the scan for cycles is.
            logs.cycleCollector.advanceScan(commit)

            // Evict, as far as there is room for that, and make sure that the commit fits.
            var evictor = try Evictor(
                commit, transaction, makesRoom: request.operations.allSatisfy(\.makesRoom)
            ) { logs.accesses.contains($0, in: generation.name) }
            try evictor.run(towards: request.goal, steps: request.evictionSteps, in: &transaction)

            // Add what was counted to what is stored of the cache's life.
            commit.lifetime += logged.statistics
            if !evictor.evicted.isEmpty { commit.count(evictor.evicted, for: request.goal.reason) }

            // Write the tables out, and commit.
            let flushed = try commit.flush(&transaction)
            try transaction.commit()
            logs.finish(logged, lost: lost, in: generation)
            return Outcome(
                transaction: commit, number: number, evictor: evictor,
                changedShapes: flushed.shapes, droppedDictionaries: flushed.dictionaries)
        } catch {
            // What is verified may have come from this transaction.
            commit.index.verified.removeAll()
            logs.putBack(logged, in: generation)
            throw error
        }
    }

    /// Stamps records that reads have accessed, unless they are gone meanwhile.
    private func touch(_ handles: [Handle], in transaction: borrowing WriteTransaction) throws {
        for handle in handles where try records.contains(handle, in: transaction) {
            let flags = try counts.entry(handle, in: transaction).flags
            guard flags.isDisjoint(with: [.pendingRemoval, .tombstone]) else { continue }
            counts.tick()
            try counts.touch(handle, in: transaction)
        }
    }

    /// Writes the tables out.
    func flush(
        _ transaction: inout WriteTransaction
    ) throws -> (shapes: [(number: UInt64, shape: Shape?)], dictionaries: [UInt64]) {
        if needsRecount || counts.hasDamage { try recount(in: transaction) }
        try counts.flush(&transaction)
        let changedShapes = try shapes.flush(&transaction, keyspaces)
        let dropped = try dictionaries.flush(&transaction, keyspaces)
        counters.pinnedBytes = UInt64(max(0, pins.cost))
        try counterTable.flush(&transaction, keyspaces)
        lifetime.timeline.addSample(counters.stamp, at: Timeline.currentSecond)
        try transaction.put(keyspaces.info, LifetimeCounters.key, lifetime.bytes)
        return (changedShapes, dropped)
    }

    // MARK: - Operations

    /// Applies one operation.
    func apply(_ operation: WriteOperation, in transaction: inout WriteTransaction) throws {
        switch operation {
        case .nodes(let tree, let entries, let policy):
            let handles = try TreeWriter(self).write(tree, policy: policy, in: &transaction)
            for entry in entries {
                try counts.touch(handles[entry], in: transaction)
                try delete(.key, tree.entries[entry].identifier, in: &transaction)
            }
            counters.writes += 1
        case .key(let key, let value, let tree, let policy):
            let handles = try TreeWriter(self).write(tree, policy: policy, in: &transaction)
            try writeKey(
                key, value.bytes, children: value.children.map { handles[$0] },
                at: try place(.key, key, in: &transaction), in: &transaction)
            counters.writes += 1
        case .collection(let key, let operation, let tree, let policy, let neighbours):
            let handles = try TreeWriter(self).write(tree, policy: policy, in: &transaction)
            try CollectionWriter(self).apply(
                operation, toCollection: key, expecting: neighbours, handles: handles,
                in: &transaction)
            counters.writes += 1
        case .delete(let entries):
            for entry in entries
            where try delete(entry.nameSpace, entry.identifier, in: &transaction) {
                counters.deletes += 1
            }
        case .restore(let records, let restoration):
            var restorer = Restorer(self, restoration)
            try restorer.restore(records, in: &transaction)
            counters.writes += 1
        case .evict(let entries):
            for entry in entries {
                try evict(entry.nameSpace, entry.identifier, in: &transaction)
            }
        case .pin(let entry): try pin(entry.nameSpace, entry.identifier, in: &transaction)
        case .unpin(let entry): try unpin(entry.nameSpace, entry.identifier, in: &transaction)
        case .checkPins(let budget): try checkPins(for: budget, in: transaction)
        case .repair(let repair): try apply(repair, in: &transaction)
        case .install(let trained): try install(trained, in: &transaction)
        case .retireDictionaries: retireDictionaries()
        case .recompress(let handles):
            for handle in handles { try recompress(handle, in: &transaction) }
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact: break
        }
        try flagSuspects(in: transaction)
        try checkPins(in: transaction)
    }

    /// Notes that a record may lie on a cycle or lead to one. The operation ends with a search.
    func suspectCycle(at handle: Handle) { suspects.append(handle) }

    /// The records that a search looks at for each suspect. The scan for cycles finds those that
    /// lie further away.
    private static let suspectLimit = 4_096

    /// Flags the cycles that an operation has closed, or left of a larger one.
    private func flagSuspects(in transaction: borrowing WriteTransaction) throws {
        guard !suspects.isEmpty else { return }
        var search = CycleSearch()
        for handle in suspects {
            search.search(from: handle, limit: Self.suspectLimit) {
                (try? transaction.children(keyspaces, of: $0)) ?? []
            }
        }
        suspects.removeAll()
        for handle in search.found.sorted() { try counts.flagCycle(at: handle, in: transaction) }
    }

    /// Writes the entry of a key: one value, a reference or an inline model.
    func writeKey(
        _ key: String, _ value: [UInt8], children: [Handle], at place: RecordPlace,
        in transaction: inout WriteTransaction
    ) throws {
        let content = RecordContent(
            nameSpace: .key, identifier: key, children: children, values: value[...])
        if try put(content, at: place, in: &transaction) { changes.keys.append(key) }
        try counts.touch(place.handle, in: transaction)
    }

    /// Deletes what an identifier or a key names. Returns whether there was anything.
    @discardableResult
    func delete(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> Bool {
        guard let handle = try index.handle(of: identifier, in: nameSpace, transaction) else {
            return false
        }
        try unpin(nameSpace, identifier, in: &transaction)
        let key = IndexKey.bytes(nameSpace, identifier)
        if let record = try readableRecord(handle, in: transaction) {
            if record.isNamed(identifier, in: nameSpace) {
                try removeOrScheduleRemoval(record, in: &transaction)
            } else {
                // The index entry is damaged: the record belongs to another name.
                try index.removeDamagedEntries([key], in: &transaction)
            }
        } else {
            // A damaged record goes by its keys alone: its references are not known any more.
            try discardUnreadable(handle, in: &transaction)
            try index.removeDamagedEntries([key], in: &transaction)
            try counts.remove(handle, in: transaction)
        }
        if nameSpace == .node {
            changes.delete(identifier)
        } else {
            changes.keys.append(identifier)
        }
        return true
    }

    /// Removes a record at once, or loses its index entry now and the rest in steps if it has much
    /// below it. A short record that is referred to goes at once: whatever refers to it has to find
    /// a tombstone.
    private func removeOrScheduleRemoval(
        _ record: Record, in transaction: inout WriteTransaction
    ) throws {
        let isReferenced = try counts.entry(record.handle, in: transaction).referenceCount > 0
        guard isLarge(record), records.isChunked(record) || !isReferenced else {
            return try remove(record, in: &transaction)
        }
        try scheduleRemoval(record, accessedAt: counts.stamp, in: &transaction)
    }

    // MARK: - Records

    /// Returns the record of a handle; nil if there is none. Damage throws a `FormatError`.
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

    /// Returns the record of a handle; nil if there is none or if it can't be read. A write repairs
    /// the latter.
    func readableRecord(
        _ handle: Handle, in transaction: borrowing some ReadableTransaction & ~Copyable
    ) throws -> Record? {
        do {
            return try record(handle, in: transaction)
        } catch is FormatError {
            return nil
        }
    }

    /// Runs `body` with a stored record, decompressed if it is compressed. The result is good until
    /// the next call.
    func decompressed<R>(
        _ stored: ByteReader, _ body: (DecompressedRecord) throws -> R
    ) throws -> R {
        decompressor.arena.removeAll()
        return try body(
            RecordLayout.decompress(stored, by: decompressor, in: decompressor.arena))
    }

    /// Returns a dictionary as the transaction sees it; nil if there is none or if it is damaged.
    private func dictionary(
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

    /// Returns where the record of an identifier goes, and gives it a handle if it has none or if
    /// its index entry leads to another record: a merge into that would damage it.
    func place(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> RecordPlace {
        let bound = try index.bind(nameSpace, identifier, in: &transaction)
        guard !bound.isNew else { return RecordPlace(handle: bound.handle, old: nil) }
        return try place(nameSpace, identifier, boundTo: bound.handle, in: &transaction)
    }

    func place(
        _ nameSpace: NameSpace, _ identifier: String, boundTo handle: Handle,
        in transaction: inout WriteTransaction
    ) throws -> RecordPlace {
        if let old = try readableRecord(handle, in: transaction) {
            guard old.isNamed(identifier, in: nameSpace) else {
                let handle = try index.rebind(nameSpace, identifier, in: &transaction)
                return RecordPlace(handle: handle, old: nil)
            }
            return RecordPlace(handle: handle, old: old)
        }
        // The references of a lost record were counted anew when it was cleared away.
        if try !counts.isLost(handle, in: transaction) { needsRecount = true }
        try clearUnreadable(handle, in: &transaction)
        return RecordPlace(handle: handle, old: nil)
    }

    /// Returns the place of a segment. A damaged or lost segment is cleared away first.
    func repairedPlace(
        _ handle: Handle, in transaction: inout WriteTransaction
    ) throws -> RecordPlace {
        if let record = try readableRecord(handle, in: transaction) {
            return RecordPlace(handle: handle, old: record)
        }
        try clearUnreadable(handle, in: &transaction)
        return RecordPlace(handle: handle, old: nil)
    }

    private func clearUnreadable(
        _ handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        try discardUnreadable(handle, in: &transaction)
        try counts.clear([.lost, .nameless], of: handle, in: transaction)
    }

    /// Removes the bytes of a damaged record. The recount also tells how many records and bytes are
    /// left.
    func discardUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        if try records.eraseUnreadable(handle, in: &transaction) { needsRecount = true }
    }

    /// Writes a record, unless the old one is the same already. Reference counts follow the
    /// difference of the children. Returns whether it was written.
    @discardableResult
    func put(
        _ content: RecordContent, at place: RecordPlace, in transaction: inout WriteTransaction
    ) throws -> Bool {
        let (handle, old) = (place.handle, place.old)
        if let old, content.isSame(as: old) {
            counters.recordsUnchanged += 1
            return false
        }
        let shape = shapes.bind(
            content.shape, next: &counterTable.value.nextShape, limit: records.chunkLimit)
        if compressor == nil {
            let bytes = RecordLayout.build(
                handle: handle, nameSpace: content.nameSpace, shape: shape,
                children: content.children, identifier: content.identifier, values: content.values)
            try records.store(
                bytes, rawByteCount: bytes.count, at: handle, over: old, in: &transaction)
        } else {
            let payload = content.payload
            let compressed = try compress(
                RecordLayout.payload(payload, shape: shape), of: shape.shape, in: transaction)
            try store(content, payload, shape, compressed, at: place, in: &transaction)
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

    /// Returns a payload compressed with the current dictionary of its shape; nil where it stays
    /// raw.
    func compress(
        _ payload: [UInt8], of shape: Shape, in transaction: borrowing WriteTransaction
    ) throws -> RecordLayout.CompressedPayload? {
        guard let compressor else { return nil }
        let current = dictionaries.current(for: shape.fingerprint).flatMap { number in
            dictionaries.entries[number].map { (number, $0.fingerprint) }
        }
        return try compressor.compress(payload, with: current) { number in
            let bytes = try dictionary(number, in: transaction)?.bytes
            // A damaged dictionary gives way to the one of all shapes until the next training.
            if bytes == nil { dictionaries.retire(number) }
            return bytes
        }
    }

    /// Stores a record whose payload may be compressed. `payload` is the content's.
    func store(
        _ content: RecordContent, _ payload: [UInt8], _ shape: RecordLayout.ShapeReference,
        _ compressed: RecordLayout.CompressedPayload?, at place: RecordPlace,
        in transaction: inout WriteTransaction
    ) throws {
        let bytes = RecordLayout.build(
            handle: place.handle, nameSpace: content.nameSpace, shape: shape,
            children: content.children, payload: payload, compressed: compressed)
        if let compressed { dictionaries.retain(compressed.dictionary.number) }
        let saved = compressed?.savedBytes ?? 0
        let rawPayload = RecordLayout.payload(payload, shape: shape).count
        counters.countWritten(payload: rawPayload, stored: rawPayload - saved)
        try records.store(
            bytes, rawByteCount: bytes.count + saved, at: place.handle, over: place.old,
            in: &transaction)
    }

    private func moveReferences(
        of handle: Handle, from old: [Handle], to new: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        guard old != new else { return }
        // A record names each child once: what stands at the same end of both stands nowhere else.
        // An edit of a long list leaves nearly all of it there.
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        let old = old[start..<old.count - end]
        let new = new[start..<new.count - end]
        // Most records have no children before or after: new ones, and those that go.
        let before = new.isEmpty ? [] : Set(old)
        let after = old.isEmpty ? [] : Set(new)
        // New references come first: a child that only moves must not pass through zero.
        for child in new where !before.contains(child) {
            try counts.retain(child, in: transaction)
        }
        var isReferenced: Bool?
        for child in old where !after.contains(child) {
            try counts.release(child, in: transaction)
            // Without the reference a cycle may fall apart into several without a flag.
            isReferenced =
                try isReferenced ?? (counts.entry(handle, in: transaction).referenceCount > 0)
            if isReferenced == true { suspectCycle(at: child) }
        }
    }

    /// Removes a record: its references, its bytes and its index entry. References to it lead to a
    /// tombstone.
    func remove(_ record: Record, in transaction: inout WriteTransaction) throws {
        try moveReferences(of: record.handle, from: record.children, to: [], in: &transaction)
        try erase(record, in: &transaction)
        try counts.remove(record.handle, in: transaction)
    }

    /// Removes the bytes and the index entry of a record.
    func erase(_ record: Record, in transaction: inout WriteTransaction) throws {
        try records.erase(record, in: &transaction)
        subtract(record)
        try index.removeEntry(of: record, in: &transaction)
    }

    /// Subtracts a record from the counts, though its bytes may still be there.
    func subtract(_ record: Record) {
        shapes.release(record.shapeNumber)
        dictionaries.release(record.dictionaryNumber)
        counters.rawBytes -= min(counters.rawBytes, UInt64(record.rawByteCount))
        // After damage a count may be too low. It must not pass through zero.
        if counters[count: record.nameSpace] > 0 { counters[count: record.nameSpace] -= 1 }
    }
}

/// The tables as of the last commit of this process, with which the next transaction goes on if no
/// other process has written since.
struct CommittedTables {
    var shapes: ShapeTable
    var dictionaries: DictionaryTable
    let pinned: PinnedRecords
    let verified: VerifiedIndexEntries
}
