import EspalierLMDB
import EspalierModels
public import EspalierRecords
import Synchronization

/// Reads and writes that take effect together: all of them, or none.
///
/// ```swift
/// try await cache.transaction { transaction in
///     guard let account = transaction.read(Account.self, "Account:1") else { return }
///     try transaction.set(account.withBalance(account.balance - 5))
///     try transaction.set(Transfer(id: "Transfer:9", amount: 5))
/// }
/// ```
///
/// Reads see the newest state of the cache, whichever process wrote it, and what the transaction
/// itself has written. They count as accesses, which keep records from eviction, as other reads do.
/// Use a transaction in the closure that receives it, and on its thread only; anywhere else reads
/// return nil and writes throw.
public final class CacheTransaction {
    // immutable
    private let commit: CommitTransaction
    private let body: TransactionBody

    // confined to the thread that commits
    /// The transaction of LMDB; nil after the closure has returned.
    private var transaction: WriteTransaction?
    private var hasWritten = false
    /// The failure of a write that leaves the transaction of LMDB incomplete.
    private var failure: (any Error)?

    fileprivate init(
        _ commit: CommitTransaction, _ transaction: consuming WriteTransaction,
        _ body: TransactionBody
    ) {
        self.commit = commit
        self.transaction = consume transaction
        self.body = body
    }

    // MARK: - Reading

    /// Reads the tree of the node `identifier`.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read.
    ///   - identifier: The node's identifier.
    /// - Returns: The model with everything below it; nil for a miss.
    /// - Complexity: O(*n*) in the records of the tree.
    public func read<Model: IdentifiedModel>(_ type: Model.Type, _ identifier: String) -> Model? {
        read { try $0.node(type, identifier) }
    }

    /// Reads the collection under `key`.
    ///
    /// - Parameters:
    ///   - type: The type as which the elements are read.
    ///   - key: The collection's key.
    /// - Returns: The elements in order, without those whose node was deleted; nil for a miss.
    public func collection<Model: IdentifiedModel>(of type: Model.Type, forKey key: String)
        -> [Model]?
    {
        read { try $0.collection(type, forKey: key) }
    }

    private func read<Value>(_ body: (SnapshotReader) throws -> ReadOutcome<Value>) -> Value? {
        readNotingCuts(body)?.value
    }

    /// Returns a value, and whether references back to records above were left out of it.
    private func readNotingCuts<Value>(
        _ body: (SnapshotReader) throws -> ReadOutcome<Value>
    ) -> (value: Value, isCut: Bool)? {
        guard let snapshot = transaction?.snapshot else { return nil }
        let reader = SnapshotReader(commit, snapshot, limits: self.body.limits)
        // A closed snapshot or a damaged part of the index is a miss, as it is for every read.
        let value = try? body(reader).value
        // A later commit stores the accesses, as it does for other reads. So a transaction that
        // only reads changes no page.
        self.body.touch(reader.touched, commit.generation)
        return value.map { ($0, !reader.onCycle.isEmpty) }
    }

    // MARK: - Writing

    /// Stores a tree, as `NormalizedCache.set` does.
    ///
    /// - Parameters:
    ///   - model: The root of the tree. It must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Throws: A ``CacheError``: `noIdentifier`, `notFlattened` or `treeTooLarge`, after which
    ///   the transaction can go on; other errors end it, even if the closure catches them.
    public func set<Model: IdentifiedModel>(
        _ model: Model, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) throws {
        try set([model], policy: policy, maxAge: maxAge)
    }

    /// Stores several trees.
    ///
    /// - Parameters:
    ///   - models: The roots of the trees. Each must have an identifier.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Throws: The same errors as `set` of one model.
    public func set<Model: IdentifiedModel>(
        _ models: [Model], policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) throws {
        _ = try store(
            models, policy: TreePolicy(policy, root: Model.writePolicy), maxAge: maxAge)
    }

    /// Stores trees. Returns true if a read of each now gives exactly the model, because the
    /// records have nothing that the models lack. Returns false if that is not known: a write that
    /// replaces does not compare all occurrences of a node.
    func store<Model: IdentifiedModel>(
        _ models: [Model], policy: TreePolicy, maxAge: Duration? = nil
    ) throws -> Bool {
        let mixed = commit.mixedRecords
        var isPlain = false
        try write { flattener in
            flattener.policy = policy
            flattener.maxAge = maxAge
            let roots = try models.map { try flattener.root(of: $0) }
            let tree = flattener.finish()
            isPlain =
                tree.mergesAll && !tree.hasProjections && !tree.hasDifferences
                && !commit.layers.hasLayers(ofNodesIn: tree)
            return .nodes(tree, roots: roots)
        }
        return isPlain && commit.mixedRecords == mixed
    }

    /// Sets the collection under `key`, as
    /// ``NormalizedCache/setCollection(_:forKey:policy:maxAge:)`` does.
    ///
    /// - Parameters:
    ///   - models: The elements, in order.
    ///   - key: The collection's key; not empty.
    ///   - policy: What becomes of fields that are nil, and of those that other types declare; nil:
    ///     the types decide.
    ///   - maxAge: How old the records of the tree may be, see ``IdentifiedModel/maxAge``; nil for
    ///     what their types say.
    /// - Throws: The same errors as `set` of one model.
    public func setCollection<Model: IdentifiedModel>(
        _ models: [Model], forKey key: String, policy: WritePolicy? = nil, maxAge: Duration? = nil
    ) throws {
        guard !key.isEmpty else { throw CacheError.noIdentifier }
        let policy = TreePolicy(policy, root: Model.writePolicy)
        try write { flattener in
            flattener.policy = policy
            flattener.maxAge = maxAge
            let values = try models.map { model in
                try flattener.value { try ModelStorage.encode(model, into: $0) }
            }
            return .collection(key, .replaceAll(values), flattener.finish())
        }
    }

    /// Sets the collection under `key`. Nodes that a read of the model's type returns, fresh or
    /// not, stay as they are. Models that were deleted are left out, with those that require a
    /// deleted one; the other models are stored.
    func setCollection<Model: IdentifiedModel>(
        keepingNodesOf models: [Model], forKey key: String, policy: TreePolicy, source: Int
    ) throws {
        guard !key.isEmpty else { throw CacheError.noIdentifier }
        // A stored list keeps its elements from eviction. So if it has elements that were deleted,
        // models of this list that are not found were probably deleted, and not evicted.
        let list = try storedList(key)
        var kept: [(model: Model, stored: String?, isMissing: Bool)] = []
        for model in models {
            var reason: MissReason?
            let stored = model.modelIdentifier.flatMap { identifier in
                let node = read { reader in
                    let outcome = try reader.node(Model.self, identifier)
                    reason = outcome.reason
                    return outcome
                }
                return node == nil ? nil : identifier
            }
            if reason != .deleted { kept.append((model, stored, reason == .notFound)) }
        }
        // If more models are missing, others than the deleted ones are among them.
        if kept.count(where: \.isMissing) <= list.deletedCount {
            kept.removeAll(where: \.isMissing)
        }
        try write { flattener in
            flattener.policy = policy
            var values = try kept.map { element in
                element.stored != nil
                    ? nil : try flattener.value { try ModelStorage.encode(element.model, into: $0) }
            }
            var tree = flattener.finish()
            for (index, element) in kept.enumerated() {
                guard let stored = element.stored else { continue }
                values[index] = ValueDraft(node: tree.count + tree.storedNodes.count)
                tree.storedNodes.append(stored)
            }
            return .collection(
                key, .replaceAll(values.compactMap(\.self)), tree, source: source)
        }
        if let maxAge = list.maxAge { try set(maxAge: maxAge, ofCollection: key) }
    }

    /// What a list that is sent again has to know of the stored one.
    private struct StoredList {
        /// The elements whose node was deleted, and not by an optimistic change.
        var deletedCount = 0
        /// How old the list may be, in seconds.
        var maxAge: UInt64?
    }

    private func storedList(_ key: String) throws -> StoredList {
        try withTransaction { transaction in
            var stored = StoredList()
            let name = RecordName(.collection, key)
            guard let record = try commit.namedRecord(name, in: transaction) else { return stored }
            stored.maxAge = try commit.states.entry(record.handle, in: transaction).expiry
            if let list = try? SegmentList(record) {
                stored.deletedCount = try SegmentEditor(commit, list).deletedCount(in: transaction)
            }
            return stored
        }
    }

    /// Sets how old a stored list may be.
    private func set(maxAge: UInt64, ofCollection key: String) throws {
        try withTransaction { transaction in
            let name = RecordName(.collection, key)
            guard let record = try commit.namedRecord(name, in: transaction) else { return }
            let state = try commit.states.entry(record.handle, in: transaction)
            try commit.states.setTimes(
                record.handle, writtenAt: state.writtenAt, maxAge: maxAge, in: transaction)
        }
    }

    private func withTransaction<Result>(
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        guard let open = transaction.take() else { throw CacheError.closed }
        let result = Swift.Result { try body(open) }
        transaction = consume open
        return try result.get()
    }

    /// Deletes the node `identifier`, as ``NormalizedCache/delete(_:)`` does.
    ///
    /// - Parameter identifier: The node's identifier.
    /// - Throws: A ``CacheError`` that ends the transaction, or `noIdentifier`.
    public func delete(_ identifier: String) throws {
        guard !identifier.isEmpty else { throw CacheError.noIdentifier }
        try write { _ in .delete([.init(.node, identifier)]) }
    }

    private func write(_ operation: (Flattener) throws -> WriteOperation) throws {
        if let failure { throw CacheError(failure) }
        let flattened: WriteOperation
        do {
            flattened = try operation(body.makeFlattener())
        } catch {
            // Nothing was written, so the transaction can go on.
            throw CacheError(error)
        }
        guard var open = transaction.take() else {
            throw CacheError(.closed, "The transaction has ended. Use it in its closure only.")
        }
        body.targets.add(flattened.targets)
        hasWritten = true
        do {
            commit.states.tick()
            try commit.apply(flattened, in: &open)
        } catch {
            failure = error
        }
        transaction = consume open
        if let failure { throw CacheError(failure) }
    }

    /// Ends the use of the transaction by the closure. Returns the transaction of LMDB.
    fileprivate func end() -> WriteTransaction {
        guard let open = transaction.take() else {
            // `write` puts it back in every case.
            preconditionFailure("the transaction is in use")
        }
        return open
    }

    /// Throws the reason why the commit must not end, if there is one. `result` is the closure's.
    fileprivate func check(_ result: Result<Void, any Error>) throws {
        if let failure { throw failure }
        // Without writes there is nothing to undo: the writes of the same commit go on.
        guard hasWritten, case .failure(let error) = result else { return }
        // Never the error itself: that of another cache would look like one of this commit.
        throw CacheError.rolledBack(error)
    }
}

/// The closure of a transaction, and what it needs to write.
struct TransactionBody: Sendable {
    /// Runs the closure, and keeps its result for the caller.
    let run: @Sendable (CacheTransaction) throws -> Void
    let limits: TreeLimits
    let makeFlattener: @Sendable () -> Flattener
    /// What the writes of the closure need, once it has run.
    let targets = Targets()
    /// Logs that a read has accessed records of a generation.
    let touch: @Sendable ([Handle], Generation) -> Void
}

extension CommitTransaction {
    /// Runs the closure of a transaction. An error of the closure after a write ends the commit;
    /// its writes are then committed one by one.
    func run(_ body: TransactionBody, in transaction: inout WriteTransaction) throws {
        let scope = CacheTransaction(self, consume transaction, body)
        let result = Result { try AppCodeScope.run { try body.run(scope) } }
        transaction = scope.end()
        try scope.check(result)
        counters.writes += 1
    }
}

extension NormalizedCache {
    /// Reads and writes in one step that no other write of any process comes between.
    ///
    /// ```swift
    /// let total = try await cache.transaction { transaction in
    ///     let cart = transaction.read(Cart.self, "Cart:1") ?? Cart(id: "Cart:1")
    ///     let longer = cart.adding(item)
    ///     try transaction.set(longer)
    ///     return longer.total
    /// }
    /// ```
    ///
    /// The transaction comes after all writes submitted before it. The closure runs on the thread
    /// that commits, and delays all writes of all processes: keep it short. It must not wait for
    /// the cache; such a wait fails with `waitInsideRead`. If the commit has to be repeated, for
    /// example to make room, the closure runs again, and only its last run counts.
    ///
    /// - Parameter body: Reads and writes by the transaction that it gets.
    /// - Returns: What the closure returns, once the writes are committed.
    /// - Throws: The error that the closure throws, after which nothing of the transaction is
    ///   stored; or the ``CacheError`` for which the writes could not be committed.
    /// - Complexity: The transaction's reads and writes; one commit, shared with other writes that
    ///   wait.
    public func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (CacheTransaction) throws -> Result
    ) async throws -> Result {
        let (ticket, outcome) = submit(body)
        do {
            try await ticket.committed
        } catch {
            throw outcome.reason(for: error)
        }
        return try outcome.value()
    }

    /// Reads and writes in one step that no other write of any process comes between. Blocks the
    /// calling thread.
    ///
    /// - Parameter body: Reads and writes by the transaction that it gets.
    /// - Returns: What the closure returns, once the writes are committed.
    /// - Throws: The error that the closure throws, or a ``CacheError``, as the suspending form
    ///   does.
    public func transaction<Result: Sendable>(
        _ body: @escaping @Sendable (CacheTransaction) throws -> Result
    ) throws -> Result {
        let (ticket, outcome) = submit(body)
        do {
            try ticket.wait()
        } catch {
            throw outcome.reason(for: error)
        }
        return try outcome.value()
    }

    /// Changes a stored model in one step: no other write, of any process, comes between the
    /// reading and the writing.
    ///
    /// ```swift
    /// try await cache.update(Person.self, "Person:1") { $0.with(visits: $0.visits + 1) }
    /// ```
    ///
    /// `transaction` does the same for several models, and for models that may be missing;
    /// it says when the closure may run twice, and what it must not do.
    ///
    /// The whole tree is written. If records refer back to records above them, the read leaves
    /// those references out. Then nodes that the closure does not change keep their stored
    /// references, and a node that it changes loses the references that the read has left out.
    /// Update such a node as a type that does not refer to others.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read. Fields that only other types declare stay.
    ///   - identifier: The node's identifier.
    ///   - change: Returns the new model for the stored one.
    /// - Returns: The new model, once it is committed.
    /// - Throws: The error that `change` throws, after which the stored model is as it was;
    ///   ``CacheError`` with `notFound` if there is no such model; another ``CacheError`` if it
    ///   could not be committed.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String,
        _ change: @escaping @Sendable (Model) throws -> Model
    ) async throws -> Model {
        try await transaction { try $0.update(type, identifier, change) }
    }

    /// Changes a stored model in one step. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - type: The type as which the node is read. Fields that only other types declare stay.
    ///   - identifier: The node's identifier.
    ///   - change: Returns the new model for the stored one.
    /// - Returns: The new model, once it is committed.
    /// - Throws: The same errors as the suspending form.
    @discardableResult
    public func update<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String,
        _ change: @escaping @Sendable (Model) throws -> Model
    ) throws -> Model {
        try transaction { try $0.update(type, identifier, change) }
    }

    /// Submits a change of a stored model, see `update`.
    func submitUpdate<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String,
        _ change: @escaping @Sendable (Model) throws -> Model
    ) -> (WriteTicket, TransactionOutcome<Model>) {
        submit { try $0.update(type, identifier, change) }
    }

    /// Submits a transaction. A full queue does not drop it, and it separates the writes before it
    /// from those after it: it may read what the earlier ones have written.
    func submit<Result: Sendable>(
        _ body: @escaping @Sendable (CacheTransaction) throws -> Result
    ) -> (WriteTicket, TransactionOutcome<Result>) {
        let outcome = TransactionOutcome<Result>()
        let limits = engine.configuration.limits
        let ticket = submit(isDroppable: false) { [engine] _ in
            let makeFlattener: @Sendable () -> Flattener = { engine.makeFlattener() }
            return .transaction(
                TransactionBody(
                    run: { try outcome.keep(body($0)) }, limits: limits,
                    makeFlattener: makeFlattener,
                    touch: { engine.touch($0, in: $1) }))
        }
        return (ticket, outcome)
    }
}

extension TransactionBody {
    /// The names of records that the writes of a closure need as they are stored. If the commit has
    /// to make room and runs the closure again, they are evicted last.
    final class Targets: Sendable {
        // protected by itself
        private let names = Mutex<Set<RecordName>>([])

        var all: [RecordName] { names.withLock { Array($0) } }

        func add(_ more: [RecordName]) { names.withLock { $0.formUnion(more) } }
    }
}

extension CacheTransaction {
    fileprivate func update<Model: IdentifiedModel>(
        _ type: Model.Type, _ identifier: String, _ change: (Model) throws -> Model
    ) throws -> Model {
        guard let stored = readNotingCuts({ try $0.node(type, identifier) }) else {
            throw CacheError.noModel(identifier)
        }
        let changed = try change(stored.value)
        // The closure has seen the merged model: its nils are meant.
        let policy = TreePolicy(.replace, root: Model.writePolicy)
        try write { flattener in
            flattener.policy = policy
            let root = try flattener.root(of: changed)
            var tree = flattener.finish()
            if stored.isCut {
                let before = body.makeFlattener()
                before.policy = policy
                _ = try before.root(of: stored.value)
                tree.keptNodes = tree.nodes(equalTo: before.finish())
            }
            return .nodes(tree, roots: [root])
        }
        return changed
    }
}

/// The result of the last run of a transaction's closure.
final class TransactionOutcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    /// Keeps the result of `body`.
    func keep(_ body: @autoclosure () throws -> Value) throws {
        let result = Result { try body() }
        let earlier = self.result.withLock { kept in
            defer { kept = result }
            return kept
        }
        // After the lock: code of the app may run when the result of an earlier run is released.
        withExtendedLifetime(earlier) {}
        _ = try result.get()
    }

    /// Returns why a transaction was not committed: the closure's error, or that of the commit.
    func reason(for error: any Error) -> any Error {
        guard (error as? CacheError)?.code == .rolledBack,
            case .failure(let reason)? = result.withLock({ $0 })
        else { return error }
        return reason
    }

    /// Returns the value of a transaction that was committed.
    func value() throws -> Value {
        guard let result = result.withLock({ $0 }) else { throw CacheError.closed }
        return try result.get()
    }
}
