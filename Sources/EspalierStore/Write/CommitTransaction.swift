import EspalierConfinement
import EspalierLMDB
import EspalierRecords
import Foundation

/// One commit: the tables as one write transaction changes them, and the steps from the operations
/// to the end of the transaction.
///
/// Each table owns a keyspace and its pending changes; the transaction is their sum. A failed
/// transaction is dropped. It leaves the tables in memory as they were, except for
/// `index.verified`, which it empties. Confined to the thread that commits.
final class CommitTransaction {
    // immutable
    let generation: Generation
    let keyspaces: Keyspaces
    let compressor: BlockCompressor?

    // the tables
    let counterTable: CounterTable
    let states: ReferenceCounts
    let index: IndexTable
    let records: RecordTable
    /// The records as the transaction has written them so far, without the pending ones.
    let stored: StoredRecords
    let pins: PinTable
    let contentChanges: ContentChanges
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
    /// The date of the commit.
    var now = Date()
    /// How old any record may be, in seconds, unless its type or its write says otherwise.
    var maxAge: UInt64?
    /// How old the entry of the operation under way may be, if it is no node.
    var entryMaxAge: UInt64?
    /// Whether records may expire: as stored, and as the commit leaves it.
    private let storedExpiryMark: ExpiryMark
    var expiryMark: ExpiryMark
    /// What the commit tells other processes.
    var ring = ChangeRing.silent
    /// Whether reference counts may be wrong, because a damaged record or an index entry that led
    /// to one was removed. All counts are then corrected before the commit.
    var needsRecount: Bool
    /// Whether the commit lists the records anew that eviction may take: after damage, or for a
    /// repair.
    var mustRebuildRecency = false
    /// Where the operation may have left a cycle without a flag.
    var cycleSuspects = CycleSuspects()
    /// What `checkPins` has already seen.
    var pinCheck: PinCheck
    /// The optimistic changes that are neither confirmed nor rolled back.
    var layers: LayerTable
    /// What searches for cycles have found.
    var knownCycles: KnownCycles
    /// Records moved to the back of `recency` because pins keep the records below them. The set is
    /// emptied whenever a record is removed or written, or is moved or listed again for another
    /// reason. If a record of the set reaches the front again, pins keep all that is left.
    var keptByPins: Set<Handle>
    /// How far removals in steps have come.
    var removal = RemovalProgress()
    /// How far the search for expired records has come.
    var expiryScan = ExpiryScan()
    /// The last access of each expired record that the commit has moved to the front.
    var lastAccesses: [Handle: Stamp] = [:]
    /// The writes that memory knows, or may keep.
    var keptWrites = KeptWrites()
    /// How many reads of this process had met damage when the commit began.
    let damageCount: UInt64
    /// The number of records that a write has put together from what was stored and what it has.
    var mixedRecords = 0
    /// The handles that restored records use for deleted or lost records, and how many restored
    /// records were written.
    var restorations:
        [(restoration: Restoration, handles: [RecordReference: Handle], written: Int)] = []

    /// Loads the tables, or continues with those of the last commit. Throws `CorruptMetadata` if
    /// the counters can't be read.
    init(
        _ generation: Generation, _ transaction: borrowing WriteTransaction,
        _ committed: CommittedTables?, _ compressor: BlockCompressor?
    ) throws {
        self.generation = generation
        damageCount = generation.damageCount
        self.compressor = compressor
        keyspaces = generation.keyspaces
        do {
            counterTable = try CounterTable(loading: transaction, keyspaces)
            counterTable.value.commits += 1
            lifetime = try committed?.lifetime ?? transaction.lifetimeCounters(keyspaces)
            storedExpiryMark = try transaction.expiryMark(keyspaces)
            expiryMark = storedExpiryMark
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
            layers =
                try committed?.layers
                ?? LayerTable(
                    keyspaces, transaction, valueLimit: generation.environment.maximumValueSize)
        } catch is FormatError {
            throw CorruptMetadata()
        }
        let stored = try StoredRecords(transaction.snapshot, generation)
        contentChanges = ContentChanges(firstNew: counterTable.value.nextHandle)
        let records = RecordTable(
            keyspaces, counterTable, stored, contentChanges,
            valueLimit: generation.environment.maximumValueSize)
        self.stored = stored
        self.records = records
        states = ReferenceCounts(
            keyspaces, counterTable, contentChanges, hasBytes: records.contains)
        let verified = committed?.verified ?? VerifiedIndexEntries()
        verified.transferToCurrentThread()
        index = IndexTable(
            keyspaces, states, counterTable, verified,
            groupLimit: generation.environment.maximumValueSize)
        pinCheck = PinCheck(bytesWritten: counterTable.value.bytesWritten)
        if counterTable.value.detachments > 0 { generation.noteDetached() }
        knownCycles = committed?.knownCycles ?? KnownCycles()
        keptByPins = committed?.keptByPins ?? []
        expiryScan.next = committed?.nextExpiryGroup ?? 0
        // New shapes are in the table, and in the file only when the transaction ends.
        stored.shapesUnderWay = { [unowned self] in shapes.shape($0) }
        index.names = self
    }

    // MARK: - The steps of a commit

    /// Runs one commit from the beginning to the end of its transaction.
    ///
    /// - Throws: The reason of the failure; `CommitPolicy` decides what follows. The file is then
    ///   unchanged, and the logs have back what the commit took.
    static func run(
        _ request: Request, in generation: Generation, of generations: GenerationHolder,
        _ logs: CommitLogs, _ compressor: BlockCompressor?,
        tables: (_ transaction: UInt64) -> CommittedTables?
    ) throws -> Outcome {
        // Begin. Another process may have switched the generation during the wait for the lock.
        var transaction = try generation.environment.beginWrite(deadline: request.lockDeadline)
        guard generations.isLive(generation) else { throw StaleGeneration() }
        generations.removeUnfinished()

        // Continue with the tables of the last commit, unless another process has written since.
        let number = transaction.number
        let commit = try CommitTransaction(generation, transaction, tables(number), compressor)
        commit.begin(in: generation, of: generations)
        // After the tables: LMDB does not report a damaged page where it counts pages.
        let plan = try request.plan(in: generation, transaction)

        // Take what reads have logged since the last commit.
        let share = request.logs == .planned ? plan.touchLimit : 0
        let logged = logs.take(
            atMost: try commit.accessLimit(of: request.logs, plan, in: transaction), cycles: share,
            damaged: request.clearsDamage ? share : 0, in: generation, transaction: number,
            scanHandle: commit.counters.cycleScanHandle)
        do {
            // Stamp the records that were accessed, in the order of the accesses.
            try commit.touch(logged.accesses.handles, in: transaction)

            // Apply the operations. Each has a logical time of its own.
            for operation in request.operations {
                commit.states.tick()
                try commit.apply(operation, in: &transaction)
            }
            commit.changes.writeCount = request.operations.count

            // Flag the cycles that reads and scans have found.
            try commit.flagCycles(at: logged.cycles, in: transaction)

            // Clear damaged records away, except those that an operation has written anew, and
            // store how far the scan for cycles has got.
            let lost = try commit.lose(logged.damaged, in: &transaction)
            commit.advanceScan(by: logged.scan)

            // Write records and index entries to their pages, and evict, as far as the pages allow.
            var evictor = try Evictor(
                commit, transaction, mayUseReserve: request.operations.allSatisfy(\.mayUseReserve)
            ) { logs.touchTime(of: $0, in: generation) }
            try evictor.writeChanges(in: &transaction)
            try evictor.run(
                towards: request.goal, steps: request.evictionSteps,
                relistingBlocked: request.relistsBlocked, in: &transaction)

            // Add the statistics to the lifetime counters of the cache.
            commit.lifetime += logged.statistics
            if !evictor.evicted.isEmpty { commit.count(evictor.evicted, for: request.goal.reason) }

            // Write counts, recency, shapes and counters, and commit.
            let flushed = try commit.flush(&transaction)
            evictor.finish(using: try transaction.pages().used)
            try transaction.commit()
            logs.finish(logged, lost: lost, in: generation)
            return Outcome(
                transaction: commit, number: number, evictor: evictor,
                changedShapes: flushed.shapes, droppedDictionaries: flushed.dictionaries)
        } catch {
            // An entry may have been verified from the state of this transaction.
            commit.index.verified.removeAll()
            logs.putBack(logged, in: generation)
            throw error
        }
    }

    /// Returns how many accesses the commit applies. The rest waits for the next commits, and then
    /// counts as later than the writes of this one.
    ///
    /// Each access may change a page of its own, of which a plan allows few. Where all accesses
    /// together can't change more pages than that, the commit applies as many as there are.
    private func accessLimit(
        of share: LogShare, _ plan: PagePlan, in transaction: borrowing WriteTransaction
    ) throws -> Int {
        if case .accesses(let count) = share { return count }
        var pages = 0
        for keyspace in [keyspaces.state, keyspaces.recency] {
            let statistics = try transaction.statistics(of: keyspace)
            pages += statistics.leafPages + statistics.overflowPages
        }
        return pages <= plan.touchLimit
            ? max(plan.touchLimit, AccessLog.flushCount) : plan.touchLimit
    }

    /// Stamps the records that reads have accessed and that are still there.
    private func touch(_ handles: [Handle], in transaction: borrowing WriteTransaction) throws {
        for handle in handles where try records.contains(handle) {
            let flags = try states.entry(handle, in: transaction).flags
            guard flags.isDisjoint(with: [.pendingRemoval, .tombstone]) else { continue }
            states.tick()
            try states.touch(handle, in: transaction)
        }
    }

    /// Flags the cycles that lead through records which are still there, and lists those again that
    /// are blocked.
    private func flagCycles(
        at handles: Set<Handle>, in transaction: borrowing WriteTransaction
    ) throws {
        if !handles.isEmpty { knownCycles.noteNewCycle() }
        for handle in handles where try records.contains(handle) {
            try states.flagCycle(at: handle, in: transaction)
            try states.unblockCycle(at: handle, in: transaction)
        }
    }

    /// The most records that a search of the evictor looks at.
    var searchLimit: Int {
        EvictionPolicy.searchLimit(hasDetached: generation.hasDetached)
    }

    /// Writes the tables out, and tells other processes what has changed.
    func flush(
        _ transaction: inout WriteTransaction
    ) throws -> (shapes: [(number: UInt64, shape: Shape?)], dictionaries: [UInt64]) {
        try applyPending(in: &transaction)
        if index.hasDamagedGroups || needsRecount { contentChanges.changeAnything() }
        if index.hasDamagedGroups { try loseNamesWithoutRecords(in: &transaction) }
        try states.readGroupsOfNewRecords(in: transaction)
        if states.hasDamage { contentChanges.changeAnything() }
        if needsRecount || states.hasDamage { try recount(in: &transaction) }
        // A group under a damaged key leaves entries in `recency` that no state knows of.
        mustRebuildRecency = mustRebuildRecency || states.hasDamage
        try states.flush(&transaction)
        if mustRebuildRecency || states.hasDamagedRecency {
            try states.rebuildRecency(in: &transaction)
        }
        let changedShapes = try shapes.flush(&transaction, keyspaces)
        let dropped = try dictionaries.flush(&transaction, keyspaces)
        counters.pinnedBytes = UInt64(max(0, pins.cost))
        try counterTable.flush(&transaction, keyspaces)
        lifetime.timeline.addSample(counters.stamp, at: Timeline.second(of: now))
        try transaction.put(keyspaces.info, LifetimeCounters.key, lifetime.bytes)
        if expiryMark > storedExpiryMark {
            // From now on reads look up the ages of all records. Trees in memory know of none.
            if expiryMark == .any { contentChanges.changeAnything() }
            try transaction.put(keyspaces.info, ExpiryMark.key, [expiryMark.rawValue])
        }
        let number = transaction.number
        try ring.append(
            changes, contentChanges.entry(number, keys: changes.keys), in: &transaction, keyspaces)
        return (changedShapes, dropped)
    }

    /// The changes that no page has yet.
    var pendingCount: Int { records.pendingCount + index.pendingCount }

    /// Writes the pending changes of those tables that collect them, so that the pages which they
    /// take can be counted.
    ///
    /// - Parameter packingLimit: The most pages that packing may write.
    func applyPending(
        in transaction: inout WriteTransaction, packingLimit: Int = .max
    ) throws {
        for handle in try index.applyPending(in: &transaction) {
            try loseUnnamed(handle, in: &transaction)
        }
        if records.pendingCount > 0 {
            var writer = ContainerWriter(self, packingLimit: packingLimit)
            try writer.write(records.changes(), in: &transaction)
            records.finishChanges()
        }
    }

    // MARK: - Records

    /// Returns the record of a handle; nil if there is none or if it can't be read. A write may
    /// replace a record that can't be read.
    func readableRecord(_ handle: Handle) throws -> Record? {
        do {
            return try records.record(handle)
        } catch is FormatError {
            return nil
        }
    }

    /// Returns where the record of an identifier goes. Gives the identifier a new handle if it has
    /// none, or if the index leads to another name's record, which a merge would damage.
    func slot(
        _ nameSpace: NameSpace, _ identifier: String, in transaction: inout WriteTransaction
    ) throws -> RecordSlot {
        let bound = try index.bind(nameSpace, identifier, in: &transaction)
        guard !bound.isNew else { return RecordSlot(handle: bound.handle, old: nil) }
        return try slot(nameSpace, identifier, boundTo: bound.handle, in: &transaction)
    }

    func slot(
        _ nameSpace: NameSpace, _ identifier: String, boundTo handle: Handle,
        in transaction: inout WriteTransaction
    ) throws -> RecordSlot {
        if let old = try readableRecord(handle) {
            guard old.isNamed(identifier, in: nameSpace) else {
                return RecordSlot(handle: index.rebind(nameSpace, identifier), old: nil)
            }
            return RecordSlot(handle: handle, old: old)
        }
        // An entry that is not whole may be that of another name, whose record must not be filled.
        let match = try index.match(nameSpace, identifier, in: transaction.snapshot)
        guard let match, match.handle == handle,
            try isCertain(match, nameSpace, identifier, in: transaction)
        else {
            try index.removeEntry(nameSpace, identifier, of: handle, in: &transaction)
            try loseUnnamed(handle, in: &transaction)
            return RecordSlot(handle: index.rebind(nameSpace, identifier), old: nil)
        }
        // All references were already recounted in the commit that made the record lost.
        if try !states.isLost(handle, in: transaction) { needsRecount = true }
        try clearUnreadable(handle, in: &transaction)
        return RecordSlot(handle: handle, old: nil)
    }

    /// Returns the slot of a segment. A damaged or lost segment is cleared away first.
    func repairedSlot(
        _ handle: Handle, in transaction: inout WriteTransaction
    ) throws -> RecordSlot {
        if let record = try readableRecord(handle) {
            return RecordSlot(handle: handle, old: record)
        }
        try clearUnreadable(handle, in: &transaction)
        return RecordSlot(handle: handle, old: nil)
    }

    private func clearUnreadable(
        _ handle: Handle, in transaction: inout WriteTransaction
    ) throws {
        try discardUnreadable(handle, in: &transaction)
        try states.clear([.lost, .nameless], of: handle, in: transaction)
    }

    /// Removes the bytes of a damaged record. The recount before the commit also corrects the
    /// numbers of records and bytes.
    func discardUnreadable(_ handle: Handle, in transaction: inout WriteTransaction) throws {
        if try records.eraseUnreadable(handle) { needsRecount = true }
    }

    /// Writes a record, unless the old one is equal. Adjusts the reference counts of the children
    /// that were added or removed. Returns whether the record was written.
    @discardableResult
    func put(
        _ content: RecordContent, at slot: RecordSlot, in transaction: inout WriteTransaction
    ) throws -> Bool {
        let (handle, old) = (slot.handle, slot.old)
        if let old, content.isSame(as: old) {
            counters.recordsUnchanged += 1
            return false
        }
        let shape = shapes.bind(
            content.shape, next: &counterTable.value.nextShape, limit: records.valueLimit)
        records.store(content, shape, at: handle, over: old)
        if case .number(let number, _) = shape { shapes.retain(number) }
        if let old {
            shapes.release(old.shapeNumber)
        } else {
            counters[count: content.nameSpace] += 1
        }
        try moveReferences(
            of: handle, from: old?.children ?? [], to: content.children, in: &transaction)
        counters.recordsWritten += 1
        return true
    }

    func moveReferences(
        of handle: Handle, from old: [Handle], to new: [Handle],
        in transaction: inout WriteTransaction
    ) throws {
        guard old != new else { return }
        // A record refers to each child once, so a child of the common prefix or suffix occurs
        // nowhere else. An edit of a long list leaves nearly all children there.
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        let old = old[start..<old.count - end]
        let new = new[start..<new.count - end]
        // Most records are new or are removed, so one of the lists is empty.
        let before = new.isEmpty ? [] : Set(old)
        let after = old.isEmpty ? [] : Set(new)
        // New references come first: the count of a child that only moves must not reach zero.
        for child in new where !before.contains(child) {
            cycleSuspects.hasNewReferences = true
            try states.retain(child, in: transaction)
        }
        var isReferenced: Bool?
        for child in old where !after.contains(child) {
            try states.release(child, in: transaction)
            // Without this reference, a cycle may split into several of which not all have a flag.
            isReferenced =
                try isReferenced ?? (states.entry(handle, in: transaction).referenceCount > 0)
            if isReferenced == true { suspectSplit(at: child) }
        }
    }

    /// Removes a record: its references, its bytes and its index entry. References to it lead to a
    /// tombstone.
    func remove(_ record: Record, in transaction: inout WriteTransaction) throws {
        try moveReferences(of: record.handle, from: record.children, to: [], in: &transaction)
        try erase(record, in: &transaction)
        try states.remove(record.handle, in: transaction)
    }

    /// Removes the bytes and the index entry of a record.
    func erase(_ record: Record, in transaction: inout WriteTransaction) throws {
        records.erase(record)
        subtract(record)
        try index.removeEntry(of: record, in: &transaction)
    }

    /// Subtracts a record from the counters, though its bytes may still be there.
    func subtract(_ record: Record) {
        shapes.release(record.shapeNumber)
        counters.rawBytes -= min(counters.rawBytes, UInt64(record.rawByteCount))
        // After damage a count may be too low. It must not underflow.
        if counters[count: record.nameSpace] > 0 { counters[count: record.nameSpace] -= 1 }
    }
}

/// The tables as of the last commit of this process. The next transaction continues with them if no
/// other process has written since.
struct CommittedTables {
    var shapes: ShapeTable
    var dictionaries: DictionaryTable
    let pinned: PinnedRecords
    let lifetime: LifetimeCounters
    let verified: VerifiedIndexEntries
    let layers: LayerTable
    var knownCycles = KnownCycles()
    var keptByPins: Set<Handle> = []
    /// The group of states at which the search for expired records goes on.
    var nextExpiryGroup: UInt64 = 0
}

// MARK: - Request and outcome

extension CommitTransaction {
    /// What one commit does.
    struct Request {
        var operations: [WriteOperation]
        /// How far it evicts.
        var goal = EvictionGoal.watermark
        /// The most steps of eviction.
        var evictionSteps = Int.max
        /// What the commit applies of the accesses and cycles that reads have logged.
        var logs = LogShare.planned
        /// Whether the commit clears damaged records away.
        var clearsDamage = true
        /// Whether the file must have pages for eviction beyond those in use.
        var reservesFile = true
        /// How long to wait for the lock of the writer; nil stands for the configured deadline.
        var lockDeadline: Duration?
        /// Whether the commit lists blocked records again before it evicts, except those that
        /// external references keep.
        var relistsBlocked = false
    }

    /// What a commit applies of the logs. Each access and each cycle may change a page of its own.
    enum LogShare: Equatable {
        /// As many accesses and cycles as the plan of the pages allows.
        case planned
        /// The oldest accesses, at most this many. A commit that makes room for a write applies
        /// none if it can: it looks up in the log whether a record that it would evict was
        /// accessed.
        case accesses(Int)
    }

    /// The changes of a successful commit that its committer publishes in memory.
    struct Outcome {
        let transaction: CommitTransaction
        let number: UInt64
        let evictor: Evictor
        let changedShapes: [(number: UInt64, shape: Shape?)]
        let droppedDictionaries: [UInt64]

        /// What has changed, for the trees in memory; nil if that can be anything.
        var historyEntry: CommitHistory.Entry? {
            transaction.contentChanges.entry(number, keys: transaction.changes.keys)
        }
    }
}

// MARK: - The beginning of a commit

extension CommitTransaction {
    /// Takes the date, the default maximum age and the change ring from `generations`.
    func begin(in generation: Generation, of generations: GenerationHolder) {
        if let last = lifetime.timeline.lastSecond { generations.clock.raise(to: last) }
        now = generations.clock.now
        maxAge = generations.maxAge
        ring = generations.ring(in: generation)
    }
}

extension CommitTransaction.Request {
    /// Returns the plan of the commit's pages, and reserves those of the file.
    func plan(
        in generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws -> PagePlan {
        let pages = try transaction.pages()
        let plan = PagePlan(capacity: pages.capacity)
        if reservesFile {
            try plan.reserveFile(of: generation, lastPage: pages.lastPage, in: transaction)
        }
        return plan
    }
}
