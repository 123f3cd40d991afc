import EspalierLMDB
import EspalierRecords
import Synchronization

/// Commits groups of operations: one transaction each. Confined to the writer's thread, apart from `flag`.
final class Committer: Sendable {
    // immutable
    private let generations: GenerationHolder

    // protected by `state`; only the writer's thread takes it for long
    private struct State {
        var shapes = ShapeNumbers()
        /// The generation and transaction that `shapes` is as of.
        var asOf: (generation: String, transaction: UInt64)?
    }
    private let state = Mutex(State())

    // protected by itself
    private let cycles = Mutex<[String: Set<Handle>]>([:])

    init(_ generations: GenerationHolder) { self.generations = generations }

    /// Records that a read found on their own path; the next commit flags them.
    func flag(_ handles: [Handle], in generation: Generation) {
        guard !handles.isEmpty else { return }
        cycles.withLock { $0[generation.name, default: []].formUnion(handles) }
    }

    /// Commits all operations or none.
    func commit(_ operations: [WriteOperation]) throws -> ChangeSet {
        if operations.count == 1, operations[0].standsAlone { return try commit(alone: operations[0]) }
        return try generations.withCurrent { try commit(operations, makingRoomIn: $0) }
    }

    private func commit(_ operations: [WriteOperation], makingRoomIn generation: Generation) throws -> ChangeSet {
        do {
            return try commit(operations, to: generation)
        } catch let error as LMDBError where error.code == .mapFull {
            do {
                // A dead process's reader may be what keeps pages from being used again.
                let freesReaders = try generation.environment.clearStaleReaders() > 0
                let makesRoom = operations.allSatisfy(\.makesRoom)
                guard freesReaders || makesRoom else { throw error }
                if makesRoom { try passTime(in: generation) }
                return try commit(operations, to: generation)
            } catch {
                throw CacheError(error, budget: generation.budget)
            }
        }
    }

    /// What a commit frees can be used again two commits later, and a commit that fails frees nothing: two small ones keep a
    /// full cache, whose last deletes have just used up the reserve, from refusing deletes for good.
    private func passTime(in generation: Generation) throws {
        let info = generation.keyspaces.info
        for _ in 0..<2 {
            try generation.environment.write { transaction in
                guard let counters = try transaction.value(info, Counters.key) else { return }
                try transaction.put(info, Counters.key, counters)
            }
        }
    }

    private func commit(alone operation: WriteOperation) throws -> ChangeSet {
        switch operation {
        case .reset:
            _ = try generations.replace()
            var changes = ChangeSet(commit: 0)
            changes.isReset = true
            return changes
        default:
            try generations.withCurrent { try $0.environment.sync() }
            return ChangeSet(commit: 0)
        }
    }

    private func commit(_ operations: [WriteOperation], to generation: Generation) throws -> ChangeSet {
        var transaction = try generation.environment.beginWrite()
        let number = transaction.number
        let known = state.withLock { state -> ShapeNumbers? in
            // The transaction after the last one of ours: nobody else has written, the table is as it was.
            guard let asOf = state.asOf, asOf == (generation.name, number - 1) else { return nil }
            return state.shapes
        }
        let session = try CommitSession(generation, transaction, shapes: known)
        let before = try transaction.pages().used
        for operation in operations { try session.apply(operation, in: &transaction) }
        let flagged = try applyFlags(session, in: &transaction)
        let changedShapes = try session.flush(&transaction)
        let used = try transaction.pages()
        let limit = used.capacity - Generation.reservedPages
        if used.used > limit, used.used > before, !operations.allSatisfy(\.makesRoom) {
            throw CacheError.full(generation.budget)
        }
        try transaction.commit()
        session.settleRestorations()
        state.withLock { state in
            state.shapes = session.shapes
            state.asOf = (generation.name, number)
        }
        for (number, shape) in changedShapes {
            if let shape { generation.shapes.add(shape, number: number) } else { generation.shapes.remove(number) }
        }
        // Those of generations left behind go, too.
        cycles.withLock { $0 = [generation.name: ($0[generation.name] ?? []).subtracting(flagged)] }
        return session.changes
    }

    private func applyFlags(
        _ session: CommitSession, in transaction: inout WriteTransaction
    ) throws -> Set<Handle> {
        let flagged = cycles.withLock { $0[session.generation.name] ?? [] }
        for handle in flagged where try transaction.contains(session.keyspaces.nodes, handle.rawValue) {
            try session.ledger.set(.onCycle, of: handle, in: transaction)
        }
        return flagged
    }
}

extension CommitSession {
    func apply(_ operation: WriteOperation, in transaction: inout WriteTransaction) throws {
        switch operation {
        case .nodes(let tree, let entries, let policy):
            let handles = try write(tree, policy: policy, in: &transaction)
            for entry in entries {
                try ledger.touch(handles[entry], in: transaction)
                try delete(.key, tree.nodes[entry].identifier, in: &transaction)
            }
            counters.writes += 1
        case .key(let key, let value, let tree, let policy):
            let handles = try write(tree, policy: policy, in: &transaction)
            try writeKey(key, value, handles: handles, in: &transaction)
            counters.writes += 1
        case .collection(let key, let edit, let tree, let policy):
            let handles = try write(tree, policy: policy, in: &transaction)
            try self.edit(collection: key, edit, handles: handles, in: &transaction)
            counters.writes += 1
        case .delete(let entries):
            for entry in entries where try delete(entry.nameSpace, entry.identifier, in: &transaction) {
                counters.deletes += 1
            }
        case .restore(let records, let restoration):
            try restore(records, restoration, in: &transaction)
            counters.writes += 1
        case .reset, .barrier: break
        }
    }
}
