import EspalierLMDB
import EspalierModels
import EspalierRecords
import Foundation
import Synchronization

/// What is behind a `NormalizedCache`: one per directory in a process, shared by everyone who opens
/// it.
final class Engine: Sendable {
    // immutable
    let configuration: Configuration
    let directory: CacheDirectory
    let identity: CacheDirectory.Identity
    let generations: GenerationHolder
    let queue: WriteQueue
    let statistics = StatisticsRecorder()
    private let committer: Committer
    private let writer: Writer
    private let flatteners = WorkerThreads(name: "espalier-flatten", limit: 1)
    private let readers = WorkerThreads(name: "espalier-read", limit: 2)
    private let interner = ShapeInterner()
    private let subscribers: ChangeSetBroadcast
    let events: EventBroadcast
    let missObservers = MissObservers()

    // protected by `users`
    private let users = Mutex(0)

    init(
        _ directory: CacheDirectory, _ identity: CacheDirectory.Identity,
        _ configuration: Configuration, create: Bool
    ) throws {
        self.directory = directory
        self.identity = identity
        self.configuration = configuration
        let subscribers = ChangeSetBroadcast()
        let events = EventBroadcast()
        generations = try GenerationHolder(directory, configuration, create: create) {
            [statistics] reason in
            statistics.countReplaced(reason: reason.rawValue)
            events.send(.generationReplaced(reason: reason.rawValue))
        }
        self.subscribers = subscribers
        self.events = events
        let onFailure: @Sendable (CacheError) -> Void = { [statistics] error in
            guard let reason = error.dropReason else { return }
            statistics.countDropped(reason: reason)
            events.send(.writeDropped(reason: reason))
        }
        queue = WriteQueue(limit: configuration.queueLimit) { onFailure(.dropped) }
        committer = Committer(
            generations, statistics, configuration.compression,
            wakeWriter: { [queue] in queue.wakeWriter() }
        ) { changes, timeline in
            if !changes.isEmpty { subscribers.send(changes) }
            events.send(changes.victims, timeline)
        }
        // Last, because a thread that runs can't be taken back.
        writer = Writer(queue: queue, committer: committer, onFailure: onFailure)
    }

    // MARK: Writing

    /// The largest single write is an eighth of the budget: it and what it replaces have to fit
    /// side by side.
    var writeLimits: TreeLimits {
        var limits = configuration.limits
        let budget = (try? generations.current().budget) ?? configuration.budget
        limits.maximumBytes = min(limits.maximumBytes, budget.bytes / 8)
        return limits
    }

    /// Takes in a write whose operation `flatten` makes; it runs on another thread.
    func submit(
        coalescingKey: CoalescingKey? = nil, isDroppable: Bool = true,
        _ flatten: @escaping @Sendable (Flattener) throws -> WriteOperation
    ) -> WriteTicket {
        let limits = writeLimits
        let interner = interner
        let write = queue.submit(coalescingKey: coalescingKey, isDroppable: isDroppable) {
            try flatten(Flattener(limits: limits, shapes: interner))
        }
        guard let write else { return WriteTicket(failed: .closed) }
        write.ticket.beforeWaiting { [writer] in writer.commit(awaited: write) }
        if !write.isForWriter {
            flatteners.run { [queue] in
                if let bytes = write.flatten() { queue.measure(write, bytes: bytes) }
            }
        }
        return write.ticket
    }

    // MARK: Reading

    /// Runs a read on the calling thread, after pending writes if `consistency` asks for them.
    func read<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: (SnapshotReader) throws -> ReadOutcome<Value>
    ) -> ReadOutcome<Value> {
        do {
            if consistency == .latest { try queue.catchUp() }
        } catch {
            return count(.miss(.unavailable(detail: error.message)), of: target, took: nil)
        }
        return readNow(target, access, body)
    }

    /// The same on a thread of its own: calls `completion` there.
    func read<Value>(
        _ target: ReadTarget, _ consistency: Consistency, _ access: Access,
        _ body: @escaping @Sendable (SnapshotReader) throws -> ReadOutcome<Value>,
        completion: @escaping @Sendable (ReadOutcome<Value>) -> Void
    ) {
        let start: @Sendable () -> Void = { [self] in
            guard !readers.run({ completion(self.readNow(target, access, body)) }) else { return }
            completion(.miss(.unavailable(detail: CacheError.closed.message)))
        }
        if consistency == .latest, queue.whenCaughtUp(start) { return }
        start()
    }

    private func readNow<Value>(
        _ target: ReadTarget, _ access: Access,
        _ body: (SnapshotReader) throws -> ReadOutcome<Value>
    ) -> ReadOutcome<Value> {
        let start = ContinuousClock.now
        let outcome: ReadOutcome<Value>
        do {
            outcome = try snapshot(access, body)
        } catch let reason as MissReason {
            outcome = .miss(reason)
        } catch {
            outcome = .miss(.unavailable(detail: "\(CacheError(error))"))
        }
        return count(outcome, of: target, took: ContinuousClock.now - start)
    }

    private func snapshot<R>(_ access: Access, _ body: (SnapshotReader) throws -> R) throws -> R {
        try inspect { transaction, generation in
            let reader = SnapshotReader(
                generation: generation, snapshot: transaction.snapshot, limits: configuration.limits
            )
            let result = try ReadScope.run { try body(reader) }
            committer.flag(reader.onCycle, in: generation)
            // What only looks at a cache changes nothing in it.
            if access == .touch {
                touch(reader.touched, in: generation)
                if committer.noteUnreadable(reader.unreadable, in: generation) {
                    queue.wakeWriter()
                }
            }
            return result
        }
    }

    private func touch(_ handles: [Handle], in generation: Generation) {
        for handle in handles where committer.touches.touch(handle, in: generation.name) != .nothing
        {
            queue.wakeWriter()
        }
    }

    /// - Parameter took: nil for a read that did not begin.
    private func count<Value>(
        _ outcome: ReadOutcome<Value>, of target: ReadTarget, took: Duration?
    ) -> ReadOutcome<Value> {
        guard let reason = outcome.reason else {
            statistics.countHit(took: took)
            return outcome
        }
        let type = TypeName.of(target.type)
        statistics.countMiss(reason, of: type, took: took)
        missObservers.tell(
            Miss(
                type: type, nameSpace: target.nameSpace, identifier: target.identifier,
                reason: reason))
        return outcome
    }

    /// Runs `body` with a transaction of the live generation.
    func inspect<R>(_ body: (borrowing ReadTransaction, Generation) throws -> R) throws -> R {
        try generations.withCurrent { generation in
            do {
                return try generation.environment.read { try body($0, generation) }
            } catch let error as LMDBError where error.isDamage {
                committer.noteDamage(in: generation)
                queue.wakeWriter()
                throw error
            }
        }
    }

    // MARK: Telling

    /// Runs `body`, code of a caller's that may wait for the cache, where that stops nobody: not on
    /// this thread, which may be the writer's, or hold a lock that `body` takes.
    func tell(_ body: @escaping @Sendable () -> Void) {
        if !readers.run(body) { Thread.detachNewThread(body) }
    }

    // MARK: Changes

    func changeSets() -> AsyncStream<ChangeSet> { subscribers.subscribe() }

    // MARK: Users

    func retain() { users.withLock { $0 += 1 } }

    /// One user fewer; the last one closes the engine, with everything submitted committed.
    func release() {
        if letGo() { shutDown() }
    }

    /// One user fewer. Whether it was the last one, who has to shut down; from here on others wait
    /// for that and open anew.
    func letGo() -> Bool {
        EngineRegistry.shared.isLast(self) {
            users.withLock { users in
                users -= 1
                return users == 0
            }
        }
    }

    func shutDown() {
        queue.close()
        writer.join()
        flatteners.close()
        readers.close()
        committer.cycleCollector.close()
        committer.trainer.close()
        generations.close()
        subscribers.finish()
        events.finish()
        missObservers.finish()
        EngineRegistry.shared.closed(self)
    }
}
