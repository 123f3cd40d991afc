import EspalierLMDB
import EspalierRecords

/// The models of a write that has changed few records or none, kept in memory. The next write of
/// the entry flattens only the models that are not the same, and looks only at their records.
///
///     write ---- find ---- all are the same ----> takes over what the models were flattened to
///                  |                                 |
///                  +-- some are the same ----> flattens the others, and copies the rest
///                  |                                 |
///                  +-- none ----> flattens all       |
///                                    |               v
///                                    |          in the commit: has a record changed since?
///                                    |               |                  |
///                                    |              yes                 no
///                                    v               v                  v
///                          looks at all records of the tree     looks at records that
///                                                               are not known to be equal
///
/// Whether models are the same is for `FieldValue.hasSameEncoding(as:)` to say, never for `==`.
/// What is copied is for `EarlierTree` to say. Whether a record has changed is for `CommitHistory`
/// to say, as for trees that reads have decoded, and for the operations of the same commit.
///
/// A record is skipped only if the kept write has stored it or found it equal, and if no commit has
/// changed it and no read has found damage since.
///
/// All threads may use it.
final class WrittenTree: MemoryTree, @unchecked Sendable {
    // immutable
    let models: [any IdentifiedModel]
    let policy: TreePolicy
    /// What the models were flattened to.
    let operation: WriteOperation
    /// The tree of the operation, to copy from; nil if a write that is not the same has to flatten
    /// all models.
    let flattened: EarlierTree?
    /// The records of the nodes, by index in the flattened tree.
    let handles: [Handle]
    /// How many reads had met damage when the commit of the write began.
    let damageCount: UInt64

    /// - Parameters:
    ///   - handles: The records of the nodes of the write.
    ///   - number: The commit of the write.
    init(
        _ write: KeepableWrite, _ handles: [Handle], of source: MemorySource, at number: UInt64,
        damageCount: UInt64
    ) {
        self.damageCount = damageCount
        models = write.models
        policy = write.policy
        operation = write.operation
        flattened = write.flattened
        self.handles = handles
        let description = Description(
            handle: handles.first ?? Handle(0), cycles: [], knowsCycles: false, isCut: false,
            recordCount: handles.count, recordBytes: operation.byteCount, commit: number,
            writtenAt: nil, ages: TreeAges())
        super.init(
            write.key, of: source, RecordedTree(of: handles), description,
            valueBytes: operation.byteCount + handles.count * 128 + (flattened?.ownBytes ?? 0))
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
    /// The tree of the operation, from which the next write may copy.
    let flattened: EarlierTree?
    /// The last write of the entry, if memory has it.
    let earlier: WrittenTree?
    /// Whether its models have the same encoding.
    let isSame: Bool

    /// Returns the operation of a write. Calls `flatten` with the flattener if memory does not have
    /// the operation.
    ///
    /// - Parameters:
    ///   - source: Who submits the write.
    ///   - memory: Nil if the write is not to be kept.
    static func operation(
        of models: [any IdentifiedModel], _ nameSpace: NameSpace, _ name: String,
        _ policy: TreePolicy, source: Int, in memory: MemoryTier?, _ flattener: Flattener,
        _ flatten: (Flattener) throws -> WriteOperation
    ) throws -> WriteOperation {
        guard let memory else { return try flatten(flattener) }
        let key = WrittenTree.key(nameSpace, name)
        var earlier = memory.findWrite(key)
        if let known = earlier, known.policy != policy { earlier = nil }
        earlier?.noteUse()
        var stack = StackSpace()
        // The earlier write may come from a thread with a larger stack.
        if let earlier, stack.hasSpace(toCompare: earlier.operation.levels),
            haveSameEncoding(earlier.models, models)
        {
            return .keepable(
                KeepableWrite(
                    key: key, models: earlier.models, policy: policy,
                    operation: earlier.operation.submitted(by: source),
                    flattened: earlier.flattened, earlier: earlier, isSame: true))
        }
        flattener.reuse(earlier?.flattened)
        let operation = try flatten(flattener)
        return .keepable(
            KeepableWrite(
                key: key, models: models, policy: policy, operation: operation,
                flattened: flattener.takeEarlierTree(), earlier: earlier, isSame: false))
    }

    /// Whether the earlier write has models of the same types.
    fileprivate var hasEarlierTypes: Bool {
        guard let known = earlier?.models, known.count == models.count else { return false }
        return zip(known, models).allSatisfy { type(of: $0) == type(of: $1) }
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
    /// Writes the nodes of a tree whose records are not known to be equal. Returns the handles of
    /// the nodes, by index in the tree.
    func write(
        _ tree: FlattenedTree, as keepable: KeepableWrite?,
        in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        var stored: WrittenTree?
        if let earlier = keepable?.earlier, isStillStored(earlier, at: transaction.number) {
            stored = earlier
        }
        if let stored, keepable?.isSame == true {
            counters.recordsUnchanged += UInt64(tree.count)
            keptWrites.knownCount += 1
            return stored.handles
        }
        let (unchanged, mixed) = (counters.recordsUnchanged, mixedRecords)
        let handles = try TreeWriter(self).write(
            tree, earlier: stored?.handles ?? [], in: &transaction)
        if let keepable, mayKeepWrites,
            mayKeep(
                tree, unchanged: Int(counters.recordsUnchanged - unchanged),
                mixed: mixedRecords - mixed)
        {
            keptWrites.keepable.append((keepable, handles, contentChanges.mark()))
        }
        return handles
    }

    /// Whether the next write of a tree that was written may skip records that it finds equal to
    /// the tree: every record has the content of its node, and none needs a new stamp. A tree of
    /// which most records are new is not kept, because a stream of new trees would take the memory
    /// from those that reads use.
    private func mayKeep(_ tree: FlattenedTree, unchanged: Int, mixed: Int) -> Bool {
        guard tree.count > 0, tree.contradictions == 0, tree.hasFewOccurrences, !tree.hasCycles,
            !tree.mayLoseChildren
        else { return false }
        return unchanged == tree.count
            || !tree.merges && mixed == 0 && unchanged >= (tree.count + 1) / 2
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

/// The writes of a commit that memory knows, or may keep.
struct KeptWrites {
    /// The number of those that memory knew to have changed nothing.
    var knownCount = 0
    /// Those that memory may keep, with the records of their nodes, and what the commit had changed
    /// when they were done.
    var keepable: [(write: KeepableWrite, handles: [Handle], mark: ContentChanges.Mark)] = []
}

extension MemoryTier {
    /// Keeps writes of a commit, unless the commit has changed their records after them.
    ///
    /// - Parameter entry: What the commit has changed; nil if that can be anything.
    func keep(
        _ writes: KeptWrites, of outcome: CommitTransaction.Outcome,
        _ entry: CommitHistory.Entry?
    ) {
        count(repeatedWrites: writes.knownCount)
        let commit = outcome.transaction
        for (write, handles, mark) in writes.keepable {
            guard let entry, !commit.contentChanges.haveChanged(handles, after: mark) else {
                continue
            }
            // A model of a type that does not implement the comparison differs even from itself.
            // It would never be found.
            // An earlier write of the same types was kept, so that these can be compared.
            var stack = StackSpace()
            let isComparable =
                write.hasEarlierTypes
                || stack.hasSpace(toCompare: write.operation.levels)
                    && AppCodeScope.run {
                        KeepableWrite.haveSameEncoding(write.models, write.models)
                    }
            if isComparable { insert(write, handles, commit, entry) }
        }
    }
}
