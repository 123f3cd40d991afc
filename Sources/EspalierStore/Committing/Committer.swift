import EspalierConfinement
import EspalierLMDB
import EspalierRecords
import Synchronization

/// Commits groups of operations, with the eviction they ask for. Confined to the thread that
/// commits, whose turn `Writer` gives out, apart from `flag`, the touches and what reads find
/// damaged.
final class Committer: Sendable {
    // immutable
    let generations: GenerationHolder
    let touches = AccessLog()
    let damages = DamageLog()
    let statistics: StatisticsRecorder
    let trainer = WorkerThreads(name: "espalier-train", limit: 1)
    let compression: Compression
    private let compressor: RecordCompressor?
    /// Has `maintain` called soon.
    let wakeWriter: @Sendable () -> Void
    let cycleCollector: CycleCollector
    /// Told of every commit, in their order.
    private let onCommit: @Sendable (ChangeSet, Timeline) -> Void

    // protected by `state`; only the thread that commits takes it for long
    struct State {
        var tables: WriterTables?
        /// The generation and transaction that `tables` are as of.
        var asOf: (generation: String, transaction: UInt64)?
        /// Whether there was more to evict or to release than the last commit did.
        var isBehind = false
        /// Whether the last commit found nothing that it could evict.
        var isExhausted = false
        var training = TrainingProgress()
        /// The generation that a read found damaged.
        var damaged: Generation?
        /// The snapshot that was waited for in vain.
        var slowReader: String?
        var groupBytes = PagePlan(capacity: 256).groupBytes
    }
    let state = Mutex(State())

    init(
        _ generations: GenerationHolder, _ statistics: StatisticsRecorder,
        _ compression: Compression,
        wakeWriter: @escaping @Sendable () -> Void,
        onCommit: @escaping @Sendable (ChangeSet, Timeline) -> Void
    ) {
        self.generations = generations
        self.statistics = statistics
        self.compression = compression
        compressor = RecordCompressor(compression)
        cycleCollector = CycleCollector(statistics)
        self.wakeWriter = wakeWriter
        self.onCommit = onCommit
    }

    /// A read found the generation's file damaged: the writer replaces it.
    func noteDamage(in generation: Generation) { state.withLock { $0.damaged = generation } }

    /// Bytes of writes that are committed together, at most.
    var groupBytes: Int { state.withLock { $0.groupBytes } }

    /// Records that were found to lie on a cycle; the next commit flags them.
    func flag(_ handles: some Sequence<Handle>, in generation: Generation) {
        cycleCollector.flag(handles, in: generation)
    }

    /// Commits all operations or none.
    func commit(_ operations: [WriteOperation]) throws {
        let isAlone = operations.count == 1 && operations[0].standsAlone
        let generation = try generations.current()
        do {
            return isAlone ? try commit(alone: operations[0]) : try commitToLive(operations)
        } catch is StaleGeneration {
            // The next one is the live one.
        } catch is BudgetDeadlock {
            try start(because: .stuck, instead: generation)
        } catch let error where Self.isDamage(error) {
            try start(because: .damaged, instead: generation)
        }
        do {
            return isAlone ? try commit(alone: operations[0]) : try commitToLive(operations)
        } catch {
            throw CacheError(error)
        }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        (error as? LMDBError)?.isDamage == true || error is CorruptMetadata
    }

    /// Goes on with an empty generation: a cache does not stay broken.
    private func start(
        because reason: GenerationHolder.Replacement, instead blamed: Generation? = nil
    ) throws {
        _ = try generations.replace(blamed, because: reason)
        var changes = ChangeSet(commit: 0)
        changes.isReset = true
        onCommit(changes, Timeline())
    }

    private func commitToLive(_ operations: [WriteOperation]) throws {
        try generations.withCurrent { generation in
            do {
                try commit(operations, makingRoomIn: generation)
            } catch let error
                where Self.isDamage(error) || Self.isTransient(error) || error is StaleGeneration
                || error is BudgetDeadlock
            {
                throw error
            } catch {
                throw CacheError(error, budget: generation.budget)
            }
        }
    }

    private func commit(alone operation: WriteOperation) throws {
        switch operation {
        case .reset:
            try start(because: .emptied)
        case .trim(let bytes):
            try generations.withCurrent { generation in
                let pages =
                    max(0, max(0, bytes.bytes) - Generation.sideFiles)
                    / generation.environment.pageSize
                try trim(to: pages, .explicit, in: generation)
            }
        case .setBudget(let budget, let mayExceed): try setBudget(budget, mayExceed: mayExceed)
        case .collectCycles: try generations.withCurrent { try collectCycles($0) }
        case .compact: try generations.withCurrent { try compact($0) }
        default: try generations.withCurrent { try $0.environment.sync() }
        }
    }

    /// Does some of what can be done while nobody writes: touches to flush, records to lose, trees
    /// to evict, children to release, samples to take. Returns whether there is more of it.
    func maintain(isIdle: Bool) -> Bool {
        if let damaged = state.withLock({ $0.damaged.take() }) {
            try? start(because: .damaged, instead: damaged)
        }
        installTrained()
        let isSampling = sampleMore()
        let isDue = deadline.map { $0 <= .now } ?? false
        let isBehind = state.withLock { $0.isBehind }
        guard isIdle, isDue || isBehind else { return isBehind || isSampling }
        do {
            _ = try generations.withCurrent { try transact([], in: $0, goal: .watermark) }
        } catch {
            // Nothing is lost: the next write makes room for itself.
            state.withLock { $0.isBehind = false }
        }
        return state.withLock { $0.isBehind } || isSampling
    }

    /// Whether there is something that `maintain` would go on with.
    var hasMore: Bool { state.withLock { $0.isBehind || $0.training.samples != nil } }

    /// Touches and counts that no commit has taken: at closing. No record is lost by it: a tool
    /// that only looks at a damaged cache leaves everything as it was.
    func flushTouches() {
        guard touches.deadline != nil || statistics.pending != LifetimeCounters() else { return }
        _ = try? generations.withCurrent {
            try transact([], in: $0, goal: .watermark, losingRecords: false)
        }
    }

    /// The generation is not the live one any more: nothing was written.
    struct StaleGeneration: Error {}

    /// Nothing is left to evict, and what there is does not leave room for a write that would fit
    /// an empty cache.
    struct BudgetDeadlock: Error {}

    /// The counters can't be read: nothing can be handed out.
    struct CorruptMetadata: Error {}

    private static func isTransient(_ error: any Error) -> Bool {
        guard let error = error as? LMDBError else { return false }
        return [.closed, .panic, .mapResized].contains(error.code)
    }

    // MARK: One transaction

    /// Commits `operations`, and evicts towards `goal` what room there is for. Returns the steps
    /// that eviction took.
    @discardableResult
    func transact(
        _ operations: [WriteOperation], in generation: Generation, goal: EvictionGoal,
        steps limit: Int = .max,
        takingTouches: Bool = true, losingRecords: Bool = true
    ) throws -> Int {
        let start = ContinuousClock.now
        var transaction = try generation.environment.beginWrite()
        // Another process may have switched while this one waited for it.
        guard generations.isLive(generation) else { throw StaleGeneration() }
        let number = transaction.number
        let tables = state.withLock { state -> WriterTables? in
            // The transaction after the last one of ours: nobody else has written, the tables are
            // as they were.
            guard let asOf = state.asOf, asOf == (generation.name, number - 1) else { return nil }
            return state.tables
        }
        let commit = try makeCommit(generation, transaction, tables)
        // Each may stand on a page of its own: what makes room takes none, and looks the victims up
        // instead.
        let share =
            takingTouches ? PagePlan(capacity: try transaction.pages().capacity).touchLimit : 0
        let taken = touches.take(atMost: share, in: generation.name)
        let measured = statistics.take(for: number)
        let steps: Int
        do {
            try commit.touch(taken.handles, in: transaction)
            for operation in operations {
                commit.tick()
                try commit.apply(operation, in: &transaction)
            }
            commit.changes.writeCount = operations.count
            let flagged = try cycleCollector.applyFlags(
                to: commit, atMost: share, in: &transaction)
            let losses = try applyLosses(
                commit, atMost: losingRecords ? share : 0, in: &transaction)
            cycleCollector.advanceScan(commit)
            var eviction = try Evictor(
                commit, transaction, makesRoom: operations.allSatisfy(\.makesRoom)
            ) {
                [touches] in touches.contains($0, in: generation.name)
            }
            try eviction.run(towards: goal, steps: limit, in: &transaction)
            steps = eviction.steps
            commit.lifetime += measured
            if !eviction.evicted.isEmpty { commit.count(eviction.evicted, for: goal.reason) }
            let changed = try commit.flush(&transaction)
            try transaction.commit()
            settle(commit, number: number, changed, flagged: flagged, eviction)
            damages.settle(losses.lookedAt, lost: losses.lost, in: generation.name)
        } catch {
            commit.names.removeAll()
            touches.putBack(taken, in: generation.name)
            damages.postpone()
            statistics.putBack(measured)
            throw error
        }
        statistics.countCommit(took: .now - start)
        if !commit.changes.isEmpty { onCommit(commit.changes, commit.lifetime.timeline) }
        return steps
    }

    private func makeCommit(
        _ generation: Generation, _ transaction: borrowing WriteTransaction, _ tables: WriterTables?
    ) throws -> CommitTransaction {
        do {
            return try CommitTransaction(generation, transaction, tables, compressor)
        } catch is FormatError {
            throw CorruptMetadata()
        }
    }

    /// Takes over into memory what the commit has made true.
    private func settle(
        _ commit: CommitTransaction, number: UInt64, _ changed: ChangedTables,
        flagged: Set<Handle>, _ eviction: Evictor
    ) {
        let generation = commit.generation
        commit.settleRestorations()
        state.withLock { state in
            commit.reach.settle(commit.pinned)
            state.tables = WriterTables(
                shapes: commit.shapes, dictionaries: commit.dictionaries, reach: commit.reach,
                names: commit.names)
            state.asOf = (generation.name, number)
            state.isBehind = eviction.isBehind
            state.isExhausted = eviction.isExhausted
            state.groupBytes =
                PagePlan(capacity: generation.environment.mapSize / generation.environment.pageSize)
                .groupBytes
        }
        for (number, shape) in changed.shapes {
            if let shape {
                generation.shapes.add(shape, number: number)
            } else {
                generation.shapes.remove(number)
            }
        }
        for number in changed.droppedDictionaries { generation.dictionaries.remove(number) }
        compressor?.forget(changed.droppedDictionaries)
        cycleCollector.continueScan(commit)
        trainOn(commit)
        cycleCollector.removeFlagged(flagged, in: generation)
    }
}
