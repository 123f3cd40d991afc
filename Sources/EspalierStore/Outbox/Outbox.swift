import EspalierRecords
public import Foundation

/// A durable queue of what an app wants a server to do.
///
/// ```swift
/// let outbox = cache.outbox("messages", of: SendMessage.self)
/// try outbox.add(SendMessage(text), key: "Channel:1") { batch in
///     batch.append([message], toCollection: "Channel:1")
/// }
/// // When there is a network:
/// try await outbox.drain { operation, queued in
///     let answer = try await server.send(operation.text, idempotencyKey: queued.id)
///     return .sent(answer)
/// }
/// ```
///
/// An operation is any `Codable` value. It can have an *optimistic change*: writes that all readers
/// see at once, and that are confirmed when the operation was sent; see ``OptimisticChange``. Both
/// are on disk in one commit. They survive the end of the process, are never evicted, and together
/// take an eighth of the budget at most.
///
/// - Each operation is sent *at least once*. A process that dies after the server has got an
///   operation, and before the answer is on disk, sends it again: give the server the operation's
///   ``QueuedOperation/id``, by which it recognises the second one. The answer is written once.
/// - Operations with the same key are sent in the order in which they were added, one after the
///   other. Those with other keys don't wait for them.
/// - An operation that the server refuses, or whose attempts are used up, becomes a *dead letter*:
///   its change is rolled back, those behind it go on, and it stays in the outbox until you
///   ``retry(_:)`` or ``drop(_:)`` it.
///
/// An operation is lost if you drop it, if its bytes are damaged, and if the whole cache begins
/// anew, because it was emptied or its files can't be read: an event tells of that. If the cache
/// begins anew while an operation is being sent, its answer is not written. The change of an
/// operation whose bytes are damaged stays in ``NormalizedCache/optimisticChanges()``, under the
/// name `outbox/messages/ID`: end it, or add the operation again, which takes it back.
///
/// All threads may use an outbox. Making one costs nothing and writes nothing.
public struct Outbox<Operation: Codable & Sendable>: Sendable {
    /// The name of the outbox, under which it is found again after a restart.
    public let name: String

    let cache: NormalizedCache

    // MARK: Adding

    /// Adds an operation at the end. Returns at once, as every write does; a full queue of writes
    /// does not drop it.
    ///
    /// - Parameters:
    ///   - operation: What is to be sent. It is stored as JSON.
    ///   - key: Operations with the same key are sent one after the other. By default all are.
    ///   - id: The name of the operation, unique in the outbox. Send it to the server as
    ///     idempotency key.
    ///   - change: Adds the writes of the optimistic change to a ``WriteBatch``. Called once,
    ///     before the function returns.
    /// - Returns: A ticket: the operation and its change are on disk, or why they are not. It fails
    ///   with `pendingChange` if the outbox has an operation of this name, with `optimisticFull`
    ///   if an eighth of the budget is not enough, and for the reasons of
    ///   ``NormalizedCache/write(_:)``.
    /// - Throws: The error of encoding the operation, or the error that `change` throws. Nothing is
    ///   added then.
    @discardableResult
    public func add(
        _ operation: Operation, key: String = "", id: String = UUID().uuidString,
        change: (inout WriteBatch) throws -> Void = { _ in }
    ) throws -> WriteTicket {
        let payload = [UInt8](try JSONEncoder().encode(operation))
        var batch = WriteBatch()
        try change(&batch)
        guard !id.isEmpty, !name.isEmpty else { return cache.reject(.noIdentifier) }
        if let failure = batch.failure { return cache.reject(failure) }
        let draft = OutboxDraft(
            name: OutboxName(name, id), key: Identifier(key), payload: payload)
        return cache.submit(isDroppable: false) { [batch] in
            .outbox(.add(draft, try batch.sections($0)))
        }
    }

    // MARK: Looking

    /// Returns the operations that were not sent yet and the dead letters, in the order in which
    /// they were added. Those whose ``add(_:key:id:change:)`` still waits in the queue of writes
    /// are not among them.
    ///
    /// - Throws: A ``CacheError`` if the cache can't be read.
    /// - Complexity: O(*n*) in the bytes of all outboxes.
    public func operations() throws(CacheError) -> [QueuedOperation<Operation>] {
        try cache.outboxEntries(name).map(QueuedOperation.init)
    }

    /// Follows the outbox.
    ///
    /// ```swift
    /// for await operations in outbox.updates() {
    ///     unsent = operations.count
    /// }
    /// ```
    ///
    /// - Returns: The operations as ``operations()`` returns them, now and after each commit that
    ///   has changed the outbox, of this process or another one. A slow consumer misses states in
    ///   between and never the last one. The sequence ends when it is cancelled or the cache is
    ///   closed.
    public func updates() -> AsyncStream<[QueuedOperation<Operation>]> {
        let changes = cache.changes()
        let (stream, continuation) = AsyncStream<[QueuedOperation<Operation>]>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let key = OutboxName.changedKey(name)
        let task = Task {
            await yieldOperations(to: continuation)
            for await change in changes where change.isReset || change.keys.contains(key) {
                await yieldOperations(to: continuation)
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Yields the operations as soon as they can be read: the state would be missed if nothing
    /// changed after a read that fails.
    private func yieldOperations(
        to continuation: AsyncStream<[QueuedOperation<Operation>]>.Continuation
    ) async {
        var pause = Duration.milliseconds(20)
        while !Task.isCancelled {
            do throws(CacheError) {
                continuation.yield(try operations())
                return
            } catch  where error.code == .closed {
                return
            } catch {
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    // MARK: Dead letters

    /// Lets a dead letter wait again, after its last attempt or a refusal. Its change is applied
    /// again, on top of others. It keeps its place, so it is sent before what was added later.
    ///
    /// - Parameter id: The name of the operation. One that waits goes on waiting.
    /// - Returns: A ticket. It fails with `notFound` if there is no such operation.
    @discardableResult
    public func retry(_ id: String) -> WriteTicket {
        let operation = OutboxName(name, id)
        return cache.submit(isDroppable: false) { _ in .outbox(.revive(operation)) }
    }

    /// Removes an operation and rolls its change back. If it is being sent, the server may get it
    /// all the same, and its answer is written.
    ///
    /// - Parameter id: The name of the operation.
    /// - Returns: A ticket. It fails with `notFound` if there is no such operation.
    @discardableResult
    public func drop(_ id: String) -> WriteTicket {
        let operation = OutboxName(name, id)
        return cache.submit(isDroppable: false) { _ in .outbox(.drop(operation)) }
    }
}

/// An operation in an ``Outbox``.
public struct QueuedOperation<Operation: Codable & Sendable>: Sendable, Identifiable {
    /// The name of the operation. A server that gets it twice recognises the second one by it.
    public let id: String
    /// Operations with the same key are sent one after the other.
    public let key: String
    /// When it was added, to the second.
    public let addedAt: Date
    /// What is to be sent, or the error if it can't be decoded, for example because an earlier
    /// version of the app has added it. Such an operation becomes a dead letter when it is its
    /// turn.
    public let content: Result<Operation, any Error>
    /// How often it was sent in vain.
    public let attempts: Int
    /// Whether it is a dead letter.
    public let isDead: Bool
    /// Why the last attempt has failed, as a text for developers; nil if none has.
    public let failure: String?

    init(_ entry: OutboxEntry) {
        id = entry.id.string
        key = entry.key.string
        addedAt = entry.addedAt.date
        content = Result {
            try JSONDecoder().decode(Operation.self, from: Data(entry.payload))
        }
        attempts = entry.attempts
        isDead = entry.isDead
        failure = entry.failure.isEmpty ? nil : entry.failure
    }
}

extension NormalizedCache {
    /// Returns the outbox of a name.
    ///
    /// - Parameters:
    ///   - name: The name; not empty.
    ///   - type: The type of its operations.
    /// - Returns: The outbox. It is empty until an operation is added.
    public func outbox<Operation: Codable & Sendable>(
        _ name: String, of type: Operation.Type = Operation.self
    ) -> Outbox<Operation> {
        Outbox(name: name, cache: self)
    }

    /// Returns the operations of an outbox, or of all, in their order.
    package func outboxEntries(_ outbox: String? = nil) throws(CacheError) -> [OutboxEntry] {
        let name = outbox.map { Identifier($0) }
        do {
            let operations = try engine.withTransaction { transaction, generation in
                try LayerTable(of: generation, transaction, from: .operation).operations.values.map
                {
                    var entry = $0
                    entry.lineage = generation.lineage
                    return entry
                }
            }
            return operations.filter { name == nil || $0.outbox == name }
                .sorted { $0.number < $1.number }
        } catch {
            throw CacheError(error)
        }
    }
}
