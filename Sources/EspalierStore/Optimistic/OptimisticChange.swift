public import EspalierRecords
public import Foundation

/// A change that all readers see although it is not confirmed yet.
///
/// ```swift
/// let change = cache.optimistically { batch in
///     batch.set(message)
///     batch.append([message], toCollection: "Channel:1")
/// }
/// do {
///     let answer = try await server.send(message)
///     change.confirm(with: answer)
/// } catch {
///     change.rollback()
/// }
/// ```
///
/// A change is a *layer* over the records. Other writes, those of other processes too, go below it:
/// they change what is confirmed, and the writes of the change are applied again on top of it. Of
/// several changes of one record the later one is on top. They can be confirmed and rolled back in
/// any order; those above are then applied again.
///
/// Changes are on disk with what they change. They survive the end of the process, are never
/// evicted, and stay until they are confirmed or rolled back: after a start,
/// ``NormalizedCache/optimisticChanges()`` lists those that were left. Only what empties the whole
/// cache removes them.
///
/// All threads may use a change.
public struct OptimisticChange: Sendable, Identifiable {
    /// The name of the change, by which it is found again after a restart.
    public let id: String
    /// Tells when the change is on disk, or why it is not. Until then it is in the queue of writes,
    /// in the order of the calls, so it can be confirmed or rolled back before.
    ///
    /// The ticket fails for the same reasons as that of ``NormalizedCache/write(_:)``; with
    /// `pendingChange` if a change of this name is pending; and with `optimisticFull` if pending
    /// changes would take more than an eighth of the budget.
    public let applied: WriteTicket

    private let cache: NormalizedCache

    fileprivate init(_ id: String, _ applied: WriteTicket, _ cache: NormalizedCache) {
        self.id = id
        self.applied = applied
        self.cache = cache
    }

    /// Confirms the change as it is: its writes become writes like any others.
    ///
    /// - Returns: A ticket. It fails with `notFound` if the change is not pending, for example
    ///   because it was confirmed before.
    /// - Complexity: That of the change's writes, and of those of the layers over the same records.
    @discardableResult
    public func confirm() -> WriteTicket { cache.end(id, with: nil) }

    /// Confirms the change with what is true now, such as the answer of a server, in place of the
    /// change's own writes.
    ///
    /// ```swift
    /// change.confirm { batch in
    ///     batch.set(answer)
    ///     batch.delete(message.id)
    /// }
    /// ```
    ///
    /// - Parameter body: Adds the writes to a ``WriteBatch``; called once, before the function
    ///   returns. No read sees the records without both the change and these writes.
    /// - Returns: A ticket. It fails with `notFound` if the change is not pending, and for the
    ///   reasons of ``NormalizedCache/write(_:)``; the change is pending then as before.
    /// - Throws: The error that `body` throws. The change is then pending as before.
    @discardableResult
    public func confirm(with body: (inout WriteBatch) throws -> Void) rethrows -> WriteTicket {
        var batch = WriteBatch()
        try body(&batch)
        return cache.end(id, with: batch)
    }

    /// Confirms the change with one model in place of the change's own writes.
    ///
    /// - Parameters:
    ///   - answer: The root of a tree. It must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    /// - Returns: A ticket, as that of `confirm` with a closure.
    @discardableResult
    public func confirm<Model: IdentifiedModel>(
        with answer: Model, policy: WritePolicy? = nil
    ) -> WriteTicket {
        confirm { $0.set(answer, policy: policy) }
    }

    /// Takes the change back: the records become what they are without it.
    ///
    /// - Returns: A ticket. It fails with `notFound` if the change is not pending.
    @discardableResult
    public func rollback() -> WriteTicket {
        let id = id
        return cache.submit(isDroppable: false) { _ in .optimistic(.rollBack(id)) }
    }
}

/// An optimistic change as the cache has it.
public struct PendingChange: Sendable, Identifiable {
    /// The name of the change.
    public let id: String
    /// When it was made, to the second.
    public let madeAt: Date
    /// The identifiers of the nodes that it writes or deletes.
    public let nodes: [String]
    /// The keys and the keys of collections that it writes or deletes.
    public let keys: [String]
    /// The change, to confirm it or to roll it back.
    public let change: OptimisticChange
}

extension NormalizedCache {
    /// Makes writes that all readers see at once, and that are confirmed or taken back later.
    ///
    /// ```swift
    /// let change = cache.optimistically(id: "like Post:7") { $0.set(post.liked()) }
    /// ```
    ///
    /// Returns at once, as every write does. A full queue does not drop the change.
    ///
    /// - Parameters:
    ///   - id: The name of the change. No two pending changes have the same name.
    ///   - body: Adds the writes to a ``WriteBatch``. Called once, before the function returns. The
    ///     writes are kept, and applied again when the records change: an edit of a collection
    ///     whose indexes are outside of it by then does what it can, and a field with a rule that
    ///     is a function is overwritten.
    /// - Returns: The change.
    /// - Throws: The error that `body` throws. Nothing is written then.
    /// - Complexity: O(1) for the caller; flattening and one commit on other threads. The first
    ///   change of a collection copies its elements.
    public func optimistically(
        id: String = UUID().uuidString, _ body: (inout WriteBatch) throws -> Void
    ) rethrows -> OptimisticChange {
        var batch = WriteBatch()
        try body(&batch)
        return OptimisticChange(id, apply(batch, as: id), self)
    }

    private func apply(_ batch: WriteBatch, as id: String) -> WriteTicket {
        guard !id.isEmpty else { return reject(.noIdentifier) }
        if let failure = batch.failure { return reject(failure) }
        return submit(isDroppable: false) { .optimistic(.apply(id, try batch.sections($0))) }
    }

    fileprivate func end(_ id: String, with batch: WriteBatch?) -> WriteTicket {
        if let failure = batch?.failure { return reject(failure) }
        return submit(isDroppable: false) { flattener in
            .optimistic(.confirm(id, with: try batch.map { try $0.sections(flattener) }))
        }
    }

    /// Returns the optimistic change of a name, to confirm it or to roll it back after a restart.
    ///
    /// - Parameter id: The name of the change. If no such change is pending, confirming it and
    ///   rolling it back fail.
    /// - Returns: The change.
    public func optimisticChange(_ id: String) -> OptimisticChange {
        let applied = WriteTicket()
        applied.finish(.success(()))
        return OptimisticChange(id, applied, self)
    }

    /// Returns the optimistic changes that are neither confirmed nor rolled back, the oldest first.
    /// Writes that wait in the queue are not among them.
    ///
    /// - Returns: The changes.
    /// - Throws: A ``CacheError`` if the cache can't be read.
    /// - Complexity: O(*n*) in the bytes of all pending changes.
    public func optimisticChanges() throws(CacheError) -> [PendingChange] {
        do {
            let layers = try engine.withTransaction { transaction, generation in
                try LayerTable(of: generation, transaction).layers.values
            }
            return layers.sorted { $0.number < $1.number }.map(pendingChange)
        } catch {
            throw CacheError(error)
        }
    }

    private func pendingChange(_ layer: Layer) -> PendingChange {
        let names = layer.names.map { ($0.nameSpace, $0.identifier.string) }
        return PendingChange(
            id: layer.identifier.string, madeAt: layer.madeAt.date,
            nodes: names.filter { $0.0 == .node }.map(\.1),
            keys: names.filter { $0.0 != .node }.map(\.1),
            change: optimisticChange(layer.identifier.string))
    }
}
