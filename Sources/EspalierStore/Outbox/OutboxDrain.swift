import EspalierLMDB
public import EspalierModels
public import EspalierRecords

/// What becomes of the optimistic change of an operation that was sent.
///
/// ```swift
/// .sent                                  // the change as it is
/// .sent(answer)                          // the change, and over it what the server says
/// .replaced { $0.set(answer) }           // only what the server says
/// ```
public struct OutboxAnswer: Sendable {
    let batch: WriteBatch
    /// Whether the writes take the place of the change's own.
    let replacesChange: Bool

    /// The server has done it: the change is confirmed as it is.
    public static let sent = OutboxAnswer(batch: WriteBatch(), replacesChange: false)

    /// The server has done it: the change is confirmed, and a model is written over it.
    ///
    /// - Parameters:
    ///   - answer: The root of a tree. It must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    public static func sent<Model: IdentifiedModel>(
        _ answer: Model, policy: WritePolicy? = nil
    ) -> OutboxAnswer {
        sent { $0.set(answer, policy: policy) }
    }

    /// The server has done it: the change is confirmed, and more is written over it, in the same
    /// commit.
    ///
    /// - Parameter body: Adds the writes to a ``WriteBatch``; called once, before the function
    ///   returns.
    public static func sent(_ body: (inout WriteBatch) throws -> Void) rethrows -> OutboxAnswer {
        var batch = WriteBatch()
        try body(&batch)
        return OutboxAnswer(batch: batch, replacesChange: false)
    }

    /// The server has done something else: the change is taken back, and these writes take its
    /// place. Without a write it is only taken back.
    ///
    /// - Parameter body: Adds the writes to a ``WriteBatch``; called once, before the function
    ///   returns.
    public static func replaced(
        _ body: (inout WriteBatch) throws -> Void
    ) rethrows -> OutboxAnswer {
        var batch = WriteBatch()
        try body(&batch)
        return OutboxAnswer(batch: batch, replacesChange: true)
    }
}

/// What to do after an operation could not be sent.
public enum OutboxVerdict: Sendable {
    /// Send it again after a wait, unless that was the last attempt.
    case tryAgain
    /// There is no network. The drain ends, and the attempt does not count.
    case stop
    /// The server refuses it: the operation is a dead letter.
    case giveUp
}

/// What a drain has done.
public struct OutboxReport: Sendable {
    /// How many operations were sent.
    public internal(set) var sent = 0
    /// How many have become dead letters.
    public internal(set) var dead = 0
    /// Whether it ended because there is no network: operations may still wait.
    public internal(set) var isStopped = false
    /// The operations that were sent and whose answer could not be stored, and why. The change of
    /// such an operation was confirmed as it is, or taken back if the answer was to replace it.
    /// The error is `notFound` if the cache was emptied, or has begun anew, while the operation was
    /// sent.
    public internal(set) var unstoredAnswers: [String: CacheError] = [:]
}

extension Outbox {
    /// Sends the operations that wait, and those that are added meanwhile, and returns when none
    /// waits any more. What was added before the call counts, also if it is still in the queue of
    /// writes.
    ///
    /// ```swift
    /// let report = try await outbox.drain { error in
    ///     switch error {
    ///     case is URLError: .stop
    ///     case ServerError.refused: .giveUp
    ///     default: .tryAgain
    ///     }
    /// } send: { operation, queued in
    ///     .sent(try await server.send(operation, idempotencyKey: queued.id))
    /// }
    /// ```
    ///
    /// One call among all processes drains an outbox at a time. If its process dies, the next call
    /// goes on.
    ///
    /// - Parameters:
    ///   - retry: How often to send an operation, and how long to wait before each attempt. The
    ///     number of attempts is stored, the wait is not: after a restart the next attempt begins
    ///     at once.
    ///   - keysAtOnce: How many operations are sent at the same time, each of another key.
    ///   - clock: The clock that measures the waits.
    ///   - judge: What to do after an error. Not asked about `CancellationError`, which stops the
    ///     drain.
    ///   - send: Sends an operation, with the identifier of `queued` as idempotency key. A call
    ///     that never returns keeps the operations of its key waiting, and the drain, and no other
    ///     operation.
    /// - Returns: What was done.
    /// - Throws: `CacheError.draining` if another call drains the outbox; another ``CacheError`` if
    ///   the file of the outbox's lock can't be opened, if the cache can't be read, or if what was
    ///   done can't be stored; `CancellationError` if the task is cancelled, once the calls of
    ///   `send` under way have ended. What was stored until then stays, and the rest waits for the
    ///   next call.
    /// - Complexity: O(*n*) in the bytes of all outboxes for each attempt, and a commit.
    @discardableResult
    public func drain(
        retry: RetryPolicy = .exponential(maximumAttempts: 10), keysAtOnce: Int = 4,
        clock: any Clock<Duration> = ContinuousClock(),
        judging judge: @escaping @Sendable (any Error) -> OutboxVerdict = { _ in .tryAgain },
        send:
            @escaping @Sendable (
                _ operation: Operation, _ queued: QueuedOperation<Operation>
            ) async throws -> OutboxAnswer
    ) async throws -> OutboxReport {
        guard !cache.isClosed else { throw CacheError.closed }
        guard !cache.engine.configuration.isReadOnly else { throw CacheError.readOnly }
        guard let lock = try lock() else { throw CacheError.draining }
        defer { withExtendedLifetime(lock) {} }
        let delivery = Delivery(outbox: self, retry: retry, clock: clock, judge: judge, send: send)
        var drain = OutboxDrain(delivery, keysAtOnce: max(1, keysAtOnce))
        return try await drain.run()
    }

    private func lock() throws(CacheError) -> LockedFile? {
        do {
            return try cache.directory.outboxLock(name)
        } catch {
            throw CacheError(error)
        }
    }
}

/// How one operation is sent.
private struct Delivery<Operation: Codable & Sendable>: Sendable {
    /// What has become of an attempt.
    enum End: Sendable {
        case sent(String, unstored: CacheError?)
        case failed(delay: Duration)
        case dead
        case stopped
    }

    let outbox: Outbox<Operation>
    let retry: RetryPolicy
    let clock: any Clock<Duration>
    let judge: @Sendable (any Error) -> OutboxVerdict
    let send: @Sendable (Operation, QueuedOperation<Operation>) async throws -> OutboxAnswer

    /// Sends an operation once, and stores what has become of it.
    func attempt(_ entry: OutboxEntry) async throws -> End {
        let queued = QueuedOperation<Operation>(entry)
        let operation: Operation
        switch queued.content {
        case .success(let value): operation = value
        case .failure(let error): return try await fail(entry, error, isLast: true)
        }
        let answer: OutboxAnswer
        do {
            answer = try await send(operation, queued)
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { return .stopped }
            switch judge(error) {
            case .stop: return .stopped
            case .giveUp: return try await fail(entry, error, isLast: true)
            case .tryAgain: return try await fail(entry, error, isLast: false)
            }
        }
        return .sent(queued.id, unstored: try await finish(entry, answer))
    }

    private func fail(_ entry: OutboxEntry, _ error: any Error, isLast: Bool) async throws -> End {
        let attempts = entry.attempts + 1
        let delay = isLast ? nil : retry.delay(afterAttempt: attempts)
        let step = OutboxStep.fail(
            entry.identity, attempts: attempts, "\(error)", isLast: delay == nil)
        do {
            try await outbox.cache.submit(isDroppable: false) { _ in .outbox(step) }.committed
        } catch let error as CacheError where error.code == .notFound {
            // It was dropped meanwhile.
            return .failed(delay: .zero)
        }
        return delay.map { .failed(delay: $0) } ?? .dead
    }

    /// Removes an operation that was sent.
    ///
    /// - Returns: Why the answer could not be stored. The operation is removed all the same, and
    ///   its change confirmed or taken back: sending it again would bring the same answer.
    private func finish(_ entry: OutboxEntry, _ answer: OutboxAnswer) async throws -> CacheError? {
        let cache = outbox.cache
        func submit(_ batch: WriteBatch) async throws {
            try await cache.submit(isDroppable: false) { flattener in
                let sections = try batch.sections(flattener)
                return .outbox(
                    .finish(entry.identity, sections, replacesChange: answer.replacesChange))
            }.committed
        }
        do {
            if let failure = answer.batch.failure { throw failure }
            do {
                try await submit(answer.batch)
            } catch let error as CacheError where error.code == .busy || error.code == .pagesHeld {
                // The answer can be stored as soon as another process or a read has ended.
                try await submit(answer.batch)
            }
            return nil
        } catch let error as CacheError where error.code != .closed {
            do {
                try await submit(WriteBatch())
            } catch let other as CacheError where other.code == .notFound {
                // The cache has begun anew: there is no operation to remove.
            }
            return error
        }
    }
}

/// One drain: which operations are under way, and which come next.
///
///     waiting, first of its key --> being sent --- sent, or dead ---> the next one of the key
///                ^                      |
///                |                      | failed
///                +--- after a wait -----+
private struct OutboxDrain<Operation: Codable & Sendable> {
    private enum Event: Sendable {
        case ended(OutboxEntry, Delivery<Operation>.End)
        /// The wait before the next attempt of an operation is over.
        case waited(OutboxEntry)
        /// The outbox has changed: there may be more to send.
        case changed
        case closed
    }

    private let delivery: Delivery<Operation>
    private let keysAtOnce: Int
    private let changes: AsyncStream<ChangeSet>
    private let changedKey: String
    private var report = OutboxReport()
    private var sending: Set<Identifier> = []
    /// The operations that wait for their next attempt, by their keys.
    private var waiting: [Identifier: OutboxIdentity] = [:]

    init(_ delivery: Delivery<Operation>, keysAtOnce: Int) {
        self.delivery = delivery
        self.keysAtOnce = keysAtOnce
        // Before the operations are read: none is added unseen.
        changes = delivery.outbox.cache.changes()
        changedKey = OutboxName.changedKey(delivery.outbox.name)
    }

    mutating func run() async throws -> OutboxReport {
        let cache = delivery.outbox.cache
        return try await withThrowingTaskGroup(of: Event.self) { group in
            watch(in: &group)
            while true {
                try begin(in: &group)
                if sending.isEmpty && waiting.isEmpty && !report.isStopped {
                    // What was added and is still in the queue of writes is not left behind.
                    try await cache.flush()
                    try begin(in: &group)
                }
                // What is being sent is awaited also after a stop: its answer must not be lost.
                if sending.isEmpty && (waiting.isEmpty || report.isStopped) { break }
                guard let event = try await group.next() else { break }
                switch event {
                case .changed: watch(in: &group)
                case .closed: throw CacheError.closed
                case .waited(let entry):
                    if waiting[entry.key] == entry.identity { waiting[entry.key] = nil }
                case .ended(let entry, let end): note(end, of: entry, in: &group)
                }
            }
            group.cancelAll()
            return report
        }
    }

    /// Begins to send the first operation of each key that is not under way. A key does not wait
    /// for an operation that was dropped, or that has another one before it now.
    private mutating func begin(in group: inout ThrowingTaskGroup<Event, any Error>) throws {
        guard !report.isStopped, sending.count < keysAtOnce else { return }
        try Task.checkCancellation()
        let outbox = delivery.outbox
        let waited = waiting
        var taken = sending
        waiting.removeAll()
        for entry in try outbox.cache.outboxEntries(outbox.name) where !entry.isDead {
            guard taken.insert(entry.key).inserted else { continue }
            if waited[entry.key] == entry.identity {
                waiting[entry.key] = entry.identity
            } else if sending.count < keysAtOnce {
                sending.insert(entry.key)
                group.addTask { [delivery] in
                    .ended(entry, try await delivery.attempt(entry))
                }
            }
        }
    }

    private mutating func note(
        _ end: Delivery<Operation>.End, of entry: OutboxEntry,
        in group: inout ThrowingTaskGroup<Event, any Error>
    ) {
        sending.remove(entry.key)
        switch end {
        case .sent(let id, let unstored):
            report.sent += 1
            if let unstored { report.unstoredAnswers[id] = unstored }
        case .dead: report.dead += 1
        case .stopped: report.isStopped = true
        case .failed(let delay):
            waiting[entry.key] = entry.identity
            group.addTask { [clock = delivery.clock] in
                try await clock.sleep(for: delay)
                return .waited(entry)
            }
        }
    }

    /// Waits for the next change of the outbox.
    private func watch(in group: inout ThrowingTaskGroup<Event, any Error>) {
        group.addTask { [changes, changedKey] in
            for await change in changes where change.isReset || change.keys.contains(changedKey) {
                return .changed
            }
            try Task.checkCancellation()
            return .closed
        }
    }
}
