import EspalierConfinement
import EspalierLMDB
import EspalierModels
import EspalierRecords
import Foundation
import Synchronization

/// The part of a cache that all `NormalizedCache` objects of a process over one directory share:
/// its files, its queue, its threads and its statistics.
final class Engine: Sendable {
    // immutable
    let configuration: Configuration
    let directory: CacheDirectory
    let generations: GenerationHolder
    let queue: WriteQueue
    let statistics = StatisticsRecorder()
    let refetching = Refetching()
    /// The requests of fetches that are under way.
    let flights = SingleFlight()
    let changeSets: ChangeFeed
    let events = Broadcast<CacheEvent>(buffering: .bufferingNewest(4_096))
    let missObservers = MissObservers()
    let observations: ObservationCenter
    let committer: Committer
    /// The trees that reads have decoded lately; nil if none are kept.
    let memory: MemoryTier?
    /// `memory` without reference counting, for reads: see `Uncounted`.
    let lentMemory: Uncounted<MemoryTier>?
    /// The accesses that no commit has stored yet, for reads.
    private let lentAccesses: Uncounted<AccessLog>
    private let writer: WriterThread
    private let failures: WriteFailures
    private let flatteners = WorkerThreads(name: "espalier-flatten", limit: 1)
    private let readers: WorkerThreads
    /// Runs completions, which may wait for reads and for other completions.
    private let completions = WorkerThreads(name: "espalier-done", limit: 4)
    private let interner = ShapeInterner()

    /// The number of forks when the engine was made. A forked child has none of the threads.
    private let fork = ForkCounter.current

    // protected by `users`
    private let users = Mutex(0)

    // protected by `place`
    private let place: Mutex<FileIdentity>

    /// The directory that the cache uses. If it was removed or renamed, its path may lead to a
    /// directory with another identity. Only `EngineRegistry` changes it.
    var identity: FileIdentity {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    init(
        _ directory: CacheDirectory, _ identity: FileIdentity,
        _ configuration: Configuration, create: Bool
    ) throws {
        self.directory = directory
        let restricted = try directory.restrictAccess(isReadOnly: configuration.isReadOnly)
        for name in restricted { events.keep(.accessRestricted(name: name)) }
        place = Mutex(identity)
        self.configuration = configuration
        readers = WorkerThreads(name: "espalier-read", limit: configuration.readerThreads)
        let moves = WeakEngine()
        generations = try GenerationHolder(
            directory, configuration, create: create,
            onReplace: { [statistics, events] reason in
                statistics.countReplaced(reason: reason.rawValue)
                events.keep(.generationReplaced(reason: reason.rawValue))
            },
            onMove: { identity in
                guard let engine = moves.engine.withLock({ $0.engine }) else { return }
                try EngineRegistry.shared.move(engine, to: identity)
            })
        failures = WriteFailures(statistics, events)
        queue = WriteQueue(limit: configuration.queueLimit, failures)
        changeSets = ChangeFeed(generations) { [queue] in queue.wakeWriter() }
        observations = ObservationCenter(changeSets)
        let memory =
            configuration.memoryBudget.bytes > 0
            ? MemoryTier(budget: configuration.memoryBudget, generations, statistics.memory) : nil
        self.memory = memory
        lentMemory = memory.map(Uncounted.init)
        committer = Committer(
            generations, statistics, configuration.compression, feed: changeSets, memory: memory,
            wakeWriter: { [queue] in queue.wakeWriter() }
        ) { [events, clock = generations.clock] changes, timeline in
            events.send(changes, timeline, at: Timeline.second(of: clock.now))
        }
        lentAccesses = Uncounted(committer.logs.accesses)
        // Last, because nothing stops the thread if a later step throws.
        writer = WriterThread(queue, committer)
        moves.engine.withLock { $0.engine = self }
    }

    /// Creates the engine of a cache that could not be opened: its reads miss and its writes fail
    /// with `failure`. No other cache shares it.
    init(
        failing failure: CacheError, _ directory: CacheDirectory, _ configuration: Configuration
    ) {
        self.directory = directory
        // No directory has this identity.
        place = Mutex(FileIdentity(device: .max, inode: .random(in: .min ... .max)))
        self.configuration = configuration
        readers = WorkerThreads(name: "espalier-read", limit: configuration.readerThreads)
        generations = GenerationHolder(failing: failure, directory, configuration)
        failures = WriteFailures(statistics, events)
        queue = WriteQueue(limit: configuration.queueLimit, failures)
        changeSets = ChangeFeed(generations)
        observations = ObservationCenter(changeSets)
        memory = nil
        lentMemory = nil
        committer = Committer(
            generations, statistics, .none, wakeWriter: { [queue] in queue.wakeWriter() }
        ) { _, _ in }
        lentAccesses = Uncounted(committer.logs.accesses)
        writer = WriterThread(queue, committer)
    }

    /// Hands the engine to a closure that is made before the engine is.
    private final class WeakEngine: Sendable {
        struct Reference: Sendable { weak var engine: Engine? }
        let engine = Mutex(Reference())
    }

    // MARK: - Writing

    /// The limits of a single write: at most an eighth of the budget, because it and the records
    /// that it replaces must fit side by side.
    var writeLimits: TreeLimits {
        var limits = configuration.limits
        // Never from the files: that may wait for another process.
        let budget = generations.knownBudget ?? configuration.budget
        limits.maximumBytes = min(limits.maximumBytes, budget.bytes / 8)
        return limits
    }

    /// Makes a flattener with the limits of a single write.
    func makeFlattener() -> Flattener { Flattener(limits: writeLimits, shapes: interner) }

    /// Submits the write that `flatten` returns; `flatten` runs on another thread.
    func submit(
        coalescingKey: CoalescingKey? = nil, isDroppable: Bool = true,
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) -> WriteTicket {
        guard !isInherited else { return WriteTicket(failed: .usedAfterFork) }
        guard !configuration.isReadOnly else { return reject(.readOnly) }
        let write = queue.submit(coalescingKey: coalescingKey, isDroppable: isDroppable) { [self] in
            try flatten(makeFlattener())
        }
        guard let write else { return reject(.closed) }
        write.ticket.beforeWaiting { [writer] in writer.commitAwaited(write) }
        if !write.isFlattenedByWriter {
            flatteners.run { [queue] in queue.flatten(write) }
        }
        return write.ticket
    }

    /// Flattens a write on another thread and submits it once the queue has room for it. A full
    /// queue does not drop it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the write is submitted.
    func submitAwaitingRoom(
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) async throws -> WriteTicket {
        guard !isInherited else { return WriteTicket(failed: .usedAfterFork) }
        guard !configuration.isReadOnly else { return reject(.readOnly) }
        let flattened = Resumption<Result<WriteOperation, CacheError>>()
        let isRunning = flatteners.run { [self] in
            let result = Result { try AppCodeScope.run { try flatten(makeFlattener()) } }
            flattened.resume(result.mapError { CacheError($0) })
        }
        guard isRunning else { return reject(.closed) }
        let operation: WriteOperation
        switch await flattened.value {
        case .success(let value): operation = value
        case .failure(let error): return reject(error)
        }
        let byteCount = operation.byteCount
        let room = Resumption<Bool?>()
        let number = queue.whenRoom(for: byteCount) { room.resume($0) }
        let isOpen = await withTaskCancellationHandler {
            await room.value
        } onCancel: {
            room.resume(nil)
        }
        guard isOpen == true else {
            guard isOpen == nil else { return reject(.closed) }
            if let number { queue.stopWaitingForRoom(number, byteCount) }
            throw CancellationError()
        }
        let write = queue.submit(
            coalescingKey: nil, isDroppable: false, reserved: byteCount
        ) { operation }
        guard let write else { return reject(.closed) }
        queue.flatten(write)
        write.ticket.beforeWaiting { [writer] in writer.commitAwaited(write) }
        return write.ticket
    }

    /// Counts a write that is not submitted because of what its caller asks for, and returns its
    /// ticket.
    func reject(_ error: CacheError) -> WriteTicket {
        // A forked child may never get the lock of the counters.
        if !isInherited { failures.add(error) }
        return WriteTicket(failed: error)
    }

    /// How long the commit under way has lasted; nil while there is none.
    var writerBlockedFor: Duration? { writer.busyFor }

    // MARK: - Reading

    /// Reads on the calling thread, after pending writes if `consistency` asks for them. The caller
    /// has looked into memory if there is no write to wait for.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - body: Decodes the value, and keeps it in a variable of the caller.
    func read(
        _ target: ReadTarget, as type: Any.Type, _ consistency: Consistency, _ access: Access,
        _ body: (SnapshotReader) throws -> ReadOutcome<Void>
    ) -> Finding {
        // A forked child would wait for threads that it does not have.
        let waits = consistency == .latest && !isInherited && queue.hasPendingWrites
        do {
            if waits { try queue.waitForEarlierWrites() }
        } catch {
            let miss = ReadOutcome<Void>.miss(.unavailable(detail: error.message))
            return .records(count(miss, of: target, took: nil))
        }
        return readNow(target, as: type, access, looksUp: waits, body)
    }

    /// Reads on a thread of the cache's own, and calls `completion` there.
    func read<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        cancelledBy cancellation: ReadCancellation? = nil,
        _ body: @escaping SendableReadBody<Value>,
        completion: @escaping @Sendable (ReadOutcome<Value>) -> Void
    ) {
        guard !isInherited else {
            return runOnAnotherThread {
                completion(.miss(.unavailable(detail: CacheError.usedAfterFork.message)))
            }
        }
        let start: @Sendable () -> Void = { [self] in
            let isRunning = readers.run {
                var value: Value?
                let finding = self.readNow(
                    target, as: Value.self, access, looksUp: true, cancelledBy: cancellation
                ) {
                    try body($0, &value)
                }
                completion(self.outcome(of: finding, value))
            }
            guard !isRunning else { return }
            runOnAnotherThread {
                completion(.miss(.unavailable(detail: CacheError.closed.message)))
            }
        }
        if consistency == .latest, queue.whenEarlierWritesEnd(start) { return }
        start()
    }

    /// The size up to which a tree is read without a change of threads.
    private static let smallTree = (nodes: 128, depth: 32, bytes: 64 << 10)

    /// Reads a small tree on the calling thread, because a change of threads takes longer than such
    /// a read. Returns nil, and counts nothing, if the tree is too large for the small stacks of
    /// Swift's pool, or if the read would wait.
    func readSmall(
        _ target: ReadTarget, as type: Any.Type, _ consistency: Consistency, _ access: Access,
        _ body: (SnapshotReader) throws -> ReadOutcome<Void>
    ) -> Finding? {
        guard !isInherited, consistency == .snapshot || !queue.hasPendingWrites else { return nil }
        guard generations.isUpToDate, !isLarge(target, as: type) else { return nil }
        let start = Moment.now
        var limits = configuration.limits
        limits.maximumNodes = min(limits.maximumNodes, Self.smallTree.nodes)
        limits.maximumLogicalNodes = min(limits.maximumLogicalNodes, Self.smallTree.nodes)
        limits.maximumDepth = min(limits.maximumDepth, Self.smallTree.depth)
        limits.maximumBytes = min(limits.maximumBytes, Self.smallTree.bytes)
        var hasMissingFields = false
        var remains: MemoryTier.Remains?
        let finding = try? withSnapshot(target, as: type, access, limits) { reader in
            defer { (hasMissingFields, remains) = (reader.hasMissingFields, reader.remains) }
            return try body(reader)
        }
        guard let finding, !hasMissingFields else { return nil }
        if case .records(.miss(let reason)) = finding, reason.isLimit { return nil }
        remains?.count()
        return count(finding, of: target, took: Moment.now.nanoseconds(since: start))
    }

    /// Whether memory has a tree of the target, changed or not, that is not small.
    private func isLarge(_ target: ReadTarget, as value: Any.Type) -> Bool {
        guard let memory, target.isWhole, let size = memory.size(of: target.key(for: value))
        else { return false }
        return size.nodes > Self.smallTree.nodes || size.bytes > Self.smallTree.bytes
            || size.depth > Self.smallTree.depth
    }

    /// - Parameter looksUp: Whether to look into memory first.
    private func readNow(
        _ target: ReadTarget, as type: Any.Type, _ access: Access, looksUp: Bool,
        cancelledBy cancellation: ReadCancellation? = nil,
        _ body: (SnapshotReader) throws -> ReadOutcome<Void>
    ) -> Finding {
        if looksUp, let known = memoryHit(target, as: type, .snapshot, access) {
            return .memory(known)
        }
        let start = Moment.now
        let finding: Finding
        var remains: MemoryTier.Remains?
        do {
            finding = try withSnapshot(
                target, as: type, access, configuration.limits, cancelledBy: cancellation
            ) { reader in
                defer { remains = reader.remains }
                return try body(reader)
            }
        } catch let reason as MissReason {
            finding = .records(.miss(reason))
        } catch {
            finding = .records(.miss(.unavailable(detail: "\(CacheError(error))")))
        }
        // A cancelled read is not counted: its caller has gone.
        if case .records(.miss(.cancelled)) = finding { return finding }
        remains?.count()
        return count(finding, of: target, took: Moment.now.nanoseconds(since: start))
    }

    /// Runs `body` with a reader, and hands on what the reader found: accesses, cycles and damage.
    private func withSnapshot(
        _ target: ReadTarget, as type: Any.Type, _ access: Access, _ limits: TreeLimits,
        cancelledBy cancellation: ReadCancellation? = nil,
        _ body: (SnapshotReader) throws -> ReadOutcome<Void>
    ) throws -> Finding {
        let isNested = AppCodeScope.noteRead()
        return try withTransaction { transaction, generation in
            let reader = SnapshotReader(
                generation: generation, snapshot: transaction.snapshot, limits: limits,
                blockLimit: configuration.limits.maximumBytes, cancellation: cancellation)
            reader.ageRule = ageRule(
                accepting: target.freshness,
                checksAll: generation.hasUntypedAges(in: transaction))
            if let memory, target.isWhole, !isNested {
                if memory.catchUp(with: transaction, of: generation),
                    let known = memoryHitAfterCatchUp(target, as: type, memory, access)
                {
                    return .memory(known)
                }
                reader.memory = (memory, target.key(for: type), transaction.number)
            }
            let result = try AppCodeScope.run { try body(reader) }
            guard !configuration.isReadOnly else { return .records(result) }
            committer.logs.cycleCollector.flag(reader.onCycle, in: generation)
            // A read with `.peek` changes nothing in the cache.
            if access == .touch {
                touch(reader.touched, in: generation)
                if committer.logs.damage.add(reader.unreadable, in: generation.name) {
                    queue.wakeWriter()
                }
            }
            return .records(result)
        }
    }

    /// Logs an access to records, and wakes the writer if it has something to do.
    func touch(_ handles: some Sequence<Handle>, in generation: Generation) {
        touch(handles, in: generation.lineageName, at: .now)
    }

    /// Logs the accesses of a read at a time, in the order of `handles`.
    func touch(
        _ handles: some Sequence<Handle>, in lineage: String, at time: Moment
    ) {
        lentAccesses.with { accesses in
            var number = time.nanoseconds
            for handle in handles {
                switch accesses.touch(handle, in: lineage, as: number) {
                case .nothing: break
                case .flushNow: queue.wakeWriter()
                case .flushLater(let deadline): queue.wakeWriter(by: deadline)
                }
                number += 1
            }
        }
    }

    private func count(_ finding: Finding, of target: ReadTarget, took: UInt64) -> Finding {
        switch finding {
        case .memory(let known):
            statistics.countHit(took: took)
            refetch(target, ifExpired: known.isExpired)
            return finding
        case .records(let outcome): return .records(count(outcome, of: target, took: took))
        }
    }

    /// Counts a read, tells the observers of a miss, and returns `outcome`.
    ///
    /// - Parameter took: In nanoseconds; nil for a read that did not begin.
    private func count(
        _ outcome: ReadOutcome<Void>, of target: ReadTarget, took: UInt64?
    ) -> ReadOutcome<Void> {
        guard let reason = outcome.reason else {
            statistics.countHit(took: took)
            if case .hit(let hit) = outcome { refetch(target, ifExpired: hit.isExpired) }
            return outcome
        }
        // The next write of the entry has to look whether the entry is there.
        memory?.removeWrite(target.nameSpace, target.identifier)
        let type = TypeName.of(target.type)
        statistics.countMiss(reason, of: type, took: took)
        missObservers.notify(
            Miss(
                type: type, nameSpace: target.nameSpace, identifier: target.identifier,
                reason: reason))
        return outcome
    }

    func refetch(_ target: ReadTarget, ifExpired isExpired: Bool) {
        guard isExpired, target.freshness == .staleWhileRevalidate else { return }
        refetching.begin(target.type, target.identifier, in: flights)
    }

    /// Runs `body` with a transaction of the live generation.
    func withTransaction<R>(_ body: (borrowing ReadTransaction, Generation) throws -> R) throws -> R
    {
        try generations.withCurrent { generation in
            do {
                return try generation.environment.read { transaction in
                    raiseClock(by: transaction, in: generation)
                    return try body(transaction, generation)
                }
            } catch let error as LMDBError where error.isDamage {
                committer.addDamage(in: generation)
                queue.wakeWriter()
                throw error
            }
        }
    }

    /// Lets the time go on from the one that the cache has stored, once.
    private func raiseClock(by transaction: borrowing ReadTransaction, in generation: Generation) {
        guard !generations.clock.isRaised,
            let counters = try? transaction.lifetimeCounters(generation.keyspaces)
        else { return }
        generations.clock.raise(to: counters.timeline.lastSecond ?? .min)
    }

    /// Runs `body`, a caller's code that may wait for the cache, on another thread: this one may be
    /// the writer's, or hold a lock that `body` takes. No read needs one of these threads.
    func runOnAnotherThread(_ body: @escaping @Sendable () -> Void) {
        // In a forked child, a thread that is gone may hold a lock.
        if isInherited { Thread.detachNewThread(body) } else { completions.runAtOnce(body) }
    }

    /// Runs `body` on a thread for reads, once the writes submitted before have ended. If the cache
    /// is closed, runs it on any thread, with false.
    func runAfterEarlierWrites(_ body: @escaping @Sendable (_ isOpen: Bool) -> Void) {
        let start: @Sendable () -> Void = { [self] in
            if isInherited || !readers.run({ body(true) }) { body(false) }
        }
        if !isInherited, queue.whenEarlierWritesEnd(start) { return }
        start()
    }

    /// Blocks until the writes submitted before are committed. Their changes are sent then.
    func waitForSubmittedWrites() {
        // A forked child has no writer.
        guard !isInherited else { return }
        try? queue.waitForEarlierWrites()
    }

    // MARK: - Users

    func retain() { users.withLock { $0 += 1 } }

    /// Removes a user and returns whether it was the last one, which must shut the engine down.
    /// From then on, callers that open the directory wait for that, and open it anew.
    func releaseUser() -> Bool {
        // A forked child leaves everything to its parent.
        guard !isInherited else { return false }
        return EngineRegistry.shared.markAsClosing(self) {
            users.withLock { users in
                users -= 1
                return users == 0
            }
        }
    }

    /// How many threads were started for reads, and whether a read waits for one.
    var readerState: (threads: Int, isWaiting: Bool) { (readers.count, readers.isWorkWaiting) }

    /// Whether an ancestor of this process made the engine.
    var isInherited: Bool { fork != ForkCounter.current }

    func shutDown() {
        queue.close()
        writer.join()
        flatteners.close()
        // Before the readers: a read that they refuse is no state of an observation.
        observations.close()
        readers.close()
        committer.close()
        memory?.removeGeneration()
        refetching.removeAll()
        flights.cancelAll()
        changeSets.finish()
        generations.close()
        events.finish()
        completions.close()
        missObservers.finish()
        EngineRegistry.shared.remove(self)
    }
}
