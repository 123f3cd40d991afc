import EspalierLMDB
import EspalierRecords

/// The models of a write that has changed nothing, kept in memory. A write of the same models needs
/// neither flatten them nor look at their records.
///
///     write ---- find ---- the same encoding ----> takes over what the models were flattened to
///                  |                                 |
///                  +-- none, or another              +-- in the commit: has a record changed?
///                        |                                 |                  |
///                        v                                no                 yes
///                flattens the models                       |                  |
///                        |                                 v                  v
///                        v                           sets the date      writes the records
///                writes the records
///
/// Whether the models are the same is for `FieldValue.hasSameEncoding(as:)` to say, never for `==`.
/// Whether a record has changed is for `CommitHistory` to say, as for trees that reads have
/// decoded, and for the operations of the same commit. A record is skipped only if an equal write
/// has found it stored, and if no commit has changed it and no read has found damage since.
///
/// All threads may use it.
final class WrittenTree: MemoryTree, @unchecked Sendable {
    // immutable
    let models: [any IdentifiedModel]
    let policy: TreePolicy
    /// What the models were flattened to.
    let operation: WriteOperation
    /// The records of the nodes, by index in the flattened tree.
    let handles: [Handle]

    /// How many reads had met damage when the commit of the write began.
    let damageCount: UInt64

    /// - Parameters:
    ///   - handles: The records of the nodes of a write that has changed nothing.
    ///   - number: The commit of that write.
    init(
        _ write: KeepableWrite, _ handles: [Handle], of source: MemorySource, at number: UInt64,
        damageCount: UInt64
    ) {
        self.damageCount = damageCount
        models = write.models
        policy = write.policy
        operation = write.operation
        self.handles = handles
        let description = Description(
            handle: handles.first ?? Handle(0), cycles: [], knowsCycles: false, isCut: false,
            recordCount: handles.count, recordBytes: operation.byteCount, commit: number,
            writtenAt: nil, ages: TreeAges())
        super.init(
            write.key, of: source, RecordedTree(of: handles), description,
            valueBytes: operation.byteCount + handles.count * 128)
    }

    /// Returns the key of the last write of an entry.
    static func key(_ nameSpace: NameSpace, _ name: String) -> Key {
        Key(
            nameSpace: nameSpace, identifier: Identifier(name),
            value: ObjectIdentifier(WrittenTree.self))
    }
}

/// The write of a model or of a list, which memory may keep.
struct KeepableWrite: Sendable {
    let key: MemoryTree.Key
    let models: [any IdentifiedModel]
    let policy: TreePolicy
    let operation: WriteOperation
    /// An earlier write of models with the same encoding, if memory has one.
    let written: WrittenTree?

    /// Returns the operation of a write, which `flatten` makes if memory does not have it.
    ///
    /// - Parameters:
    ///   - source: Who submits the write.
    ///   - memory: Nil if the write is not to be kept.
    static func operation(
        of models: [any IdentifiedModel], _ nameSpace: NameSpace, _ name: String,
        _ policy: TreePolicy, source: Int, in memory: MemoryTier?,
        _ flatten: () throws -> WriteOperation
    ) throws -> WriteOperation {
        guard let memory else { return try flatten() }
        let key = WrittenTree.key(nameSpace, name)
        let written = memory.findWrite(key)
        if let written, written.policy == policy, haveSameEncoding(written.models, models) {
            written.noteUse()
            return .keepable(
                KeepableWrite(
                    key: key, models: written.models, policy: policy,
                    operation: written.operation.submitted(by: source), written: written))
        }
        return .keepable(
            KeepableWrite(
                key: key, models: models, policy: policy, operation: try flatten(), written: nil))
    }

    /// Returns whether two lists of models certainly are flattened to the same tree.
    static func haveSameEncoding(
        _ models: [any IdentifiedModel], _ others: [any IdentifiedModel]
    ) -> Bool {
        models.count == others.count
            && zip(models, others).allSatisfy { ModelStorage.haveSameEncoding($0, $1) }
    }
}

// MARK: - In the commit

extension CommitTransaction {
    /// Writes the nodes of a tree, unless their records are known to be equal. Returns the handles
    /// of the nodes, by index in the tree.
    func write(
        _ tree: FlattenedTree, as keepable: KeepableWrite?,
        in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        if let written = keepable?.written, isStillStored(written, at: transaction.number) {
            counters.recordsUnchanged += UInt64(tree.count)
            unchangedWrites.knownCount += 1
            return written.handles
        }
        let unchanged = counters.recordsUnchanged
        let handles = try TreeWriter(self).write(tree, in: &transaction)
        // Only if every node equals its record, and none needs a new stamp.
        if let keepable, mayKeepWrites, tree.contradictions == 0, tree.hasFewOccurrences,
            !tree.hasCycles, !tree.mayLoseChildren,
            counters.recordsUnchanged - unchanged == UInt64(tree.count)
        {
            unchangedWrites.keepable.append((keepable, handles))
        }
        return handles
    }

    /// Whether a write without changes only has to set the date of its entry. With ages, with
    /// records on cycles that eviction has detached, or with optimistic changes, it also updates
    /// the states of other records.
    private var mayKeepWrites: Bool {
        expiryMark == .none && maxAge == nil && !generation.hasDetached && layers.isEmpty
            && !needsRecount
    }

    /// Whether no commit, and no operation of this one, has changed a record since a write, and no
    /// read of this process has found damage.
    private func isStillStored(_ written: WrittenTree, at number: UInt64) -> Bool {
        mayKeepWrites && written.source.generation === generation
            && written.damageCount == generation.damageCount
            && written.source.history.position == number - 1 && written.isValid
            && !contentChanges.mayHaveChanged(written.tree)
    }
}

/// The writes of a commit that have changed nothing.
struct UnchangedWrites {
    /// The number of those that memory knew.
    var knownCount = 0
    /// Those that memory may keep, with the records of their nodes.
    var keepable: [(write: KeepableWrite, handles: [Handle])] = []
}

extension MemoryTier {
    /// Keeps the writes of a commit that have changed nothing, unless the commit has changed their
    /// records in another way.
    ///
    /// - Parameter entry: What the commit has changed; nil if that can be anything.
    func keep(
        _ writes: UnchangedWrites, of outcome: CommitTransaction.Outcome,
        _ entry: CommitHistory.Entry?
    ) {
        count(repeatedWrites: writes.knownCount)
        let commit = outcome.transaction
        for (write, handles) in writes.keepable {
            guard let entry, !commit.contentChanges.containsNew(handles) else { continue }
            // A model of a type that does not implement the comparison differs even from itself.
            // It would never be found.
            let isComparable = AppCodeScope.run {
                KeepableWrite.haveSameEncoding(write.models, write.models)
            }
            if isComparable { insert(write, handles, commit, entry) }
        }
    }
}
