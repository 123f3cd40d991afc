import EspalierLMDB
import EspalierModels
import EspalierRecords

/// One operation for the committer. Its models are flattened; it has no handles or shape numbers.
enum WriteOperation: Sendable {
    /// Stores trees whose roots are the nodes at `roots`. Keys of the same names are deleted.
    case nodes(FlattenedTree, roots: [Int], source: Int = 0)
    /// Stores what a key names: a reference to a node of the tree, or an inline model.
    case key(String, ValueDraft, FlattenedTree, source: Int = 0)
    /// Edits the collection under a key. With `expecting`, the edit fails unless the stored
    /// collection has the elements that the sender of the edit expects.
    case collection(
        String, CollectionOperation, FlattenedTree,
        expecting: CollectionNeighbours? = nil, source: Int = 0)
    /// An operation `nodes`, `key` or `collection`, with the models that it was flattened from.
    indirect case keepable(KeepableWrite)
    /// Writes that take effect together.
    case batch([BatchSection])
    /// Makes, confirms or rolls back an optimistic change.
    case optimistic(OptimisticStep)
    /// Adds an operation to an outbox, or notes what has become of one.
    case outbox(OutboxStep)
    /// Runs code that reads and writes in the commit.
    case transaction(TransactionBody)
    /// Deletes the records of names.
    case delete([RecordName])
    /// Puts records in place of those under their names.
    case restore([RestoredRecord], Restoration)
    /// Makes the records of names count as expired.
    case outdate([RecordName])
    /// Evicts the records of names, however lately they were accessed, if nothing refers to them.
    case evict([RecordName])
    /// Evicts those records that have expired, and to which nothing refers.
    case evictExpired([RecordName])
    case pin(RecordName)
    case unpin(RecordName)
    /// Fails unless the pinned records fit a budget.
    case checkPins(for: ByteCount)
    /// Evicts the least recently accessed records until no more than this many bytes are in use.
    case trim(to: ByteCount)
    case setBudget(ByteCount, mayExceed: Bool)
    case collectCycles
    /// Repairs the damage to the index that a walk of the cache has found.
    case repair(IndexRepair)
    /// Looks for damaged records, index entries and counts, and repairs them.
    case repairAll
    /// Stores a new dictionary.
    case install(TrainedDictionary, isForAll: Bool)
    /// Compresses new blocks without a dictionary.
    case retireDictionary
    /// Packs containers anew.
    case repack(RepackedSlice)
    /// Packs all containers anew, and copies them into a new file.
    case compact(mayExceed: Bool)
    /// Starts an empty generation.
    case reset
    /// Changes nothing. When a barrier is done, every write before it is on disk.
    case barrier

    /// The operation without its models.
    var content: WriteOperation {
        if case .keepable(let write) = self { write.operation } else { self }
    }

    /// Returns a copy of an operation `nodes`, `key` or `collection` with another source.
    func submitted(by source: Int) -> WriteOperation {
        switch self {
        case .nodes(let tree, let roots, _): .nodes(tree, roots: roots, source: source)
        case .key(let key, let value, let tree, _): .key(key, value, tree, source: source)
        case .collection(let key, let operation, let tree, let neighbours, _):
            .collection(key, operation, tree, expecting: neighbours, source: source)
        default: self
        }
    }

    /// Bytes that the operation holds in the queue.
    var byteCount: Int {
        switch content {
        case .nodes(let tree, _, _), .key(_, _, let tree, _), .collection(_, _, let tree, _, _):
            tree.byteCount
        case .batch(let sections): sections.reduce(64) { $0 + $1.tree.byteCount }
        case .optimistic(let step): step.byteCount
        case .outbox(let step): step.byteCount
        case .restore(let records, _): records.reduce(0) { $0 + $1.byteCount }
        case .delete(let names), .outdate(let names): 64 + names.count * 32
        case .reset, .barrier, .evict, .evictExpired, .pin, .unpin, .trim, .setBudget,
            .collectCycles, .repairAll, .transaction,
            .repair, .checkPins, .install, .retireDictionary, .repack, .compact, .keepable:
            64
        }
    }

    /// Who submitted the operation: a number that the change set of the commit keeps, so that the
    /// submitter recognises its own writes. 0 stands for no submitter, and for each write with a
    /// node that merges.
    var source: Int {
        switch content {
        // The submitter does not know what a merge makes of its models, and has to hear of it.
        case .nodes(let tree, _, let source), .key(_, _, let tree, let source),
            .collection(_, _, let tree, _, let source):
            tree.merges ? 0 : source
        default: 0
        }
    }

    /// The sections of an operation that has some.
    private var sections: [BatchSection] {
        switch self {
        case .batch(let sections): sections
        case .optimistic(let step): step.sections
        case .outbox(let step): step.sections
        default: []
        }
    }

    /// The later occurrences of nodes of which something is not stored.
    var contradictions: Int {
        switch content {
        case .nodes(let tree, _, _), .key(_, _, let tree, _), .collection(_, _, let tree, _, _):
            tree.contradictions
        default: sections.reduce(0) { $0 + $1.tree.contradictions }
        }
    }

    /// How many levels its values are nested at most.
    var levels: Int {
        switch content {
        case .nodes(let tree, _, _), .key(_, _, let tree, _), .collection(_, _, let tree, _, _):
            tree.levels
        default: sections.map(\.tree.levels).max() ?? 0
        }
    }

    /// The nodes that the operation stores.
    var nodeCount: Int {
        switch content {
        case .nodes(let tree, _, _), .key(_, _, let tree, _), .collection(_, _, let tree, _, _):
            tree.nodes.count
        case .restore(let records, _): records.count
        default: sections.reduce(0) { $0 + $1.tree.nodes.count }
        }
    }

    /// The names of the records that the operation needs as they are stored: what it pins, the list
    /// that it edits, and the nodes, whose records keep the fields of types that it does not have.
    var targets: [RecordName] {
        switch content {
        case .nodes(let tree, _, _), .key(_, _, let tree, _): Array(tree.names)
        case .collection(let key, let operation, let tree, _, _):
            (operation.isEdit ? [RecordName(.collection, key)] : []) + tree.names
        case .pin(let name): [name]
        case .transaction(let body): body.targets.all
        default: sections.flatMap(\.targets)
        }
    }

    /// Whether the operation may use the pages that are reserved for eviction. An operation that
    /// frees pages, or hardly needs any, has to work when no others are free.
    var mayUseReserve: Bool {
        switch content {
        case .delete, .reset, .barrier, .outdate, .evict, .evictExpired, .unpin, .repair,
            .checkPins:
            true
        case .collection(_, .edit(let edit), _, _, _):
            edit.range != nil && edit.elements.isEmpty
        case .batch(let sections): sections.allSatisfy(\.isDelete)
        default: false
        }
    }

    /// Whether the operation is a promise that everything before is on disk.
    var isBarrier: Bool { if case .barrier = self { true } else { false } }

    /// Whether the operation runs transactions of its own and shares none with other operations.
    var standsAlone: Bool {
        switch self {
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact, .repairAll: true
        default: false
        }
    }

    /// Returns whether this write overwrites everything that an earlier write of the same entry
    /// stores, so that the earlier one can be left out.
    ///
    /// This is so if both replace all their nodes, and if this write has every node of the earlier
    /// one, as the same types see it.
    func overwrites(_ earlier: WriteOperation) -> Bool {
        switch (content, earlier.content) {
        case (.nodes(let new, _, _), .nodes(let old, _, _)): new.overwrites(old)
        case (.key(let key, _, let new, _), .key(let oldKey, _, let old, _)):
            Identifier(key) == Identifier(oldKey) && new.overwrites(old)
        default: false
        }
    }
}

/// A change of a collection whose models are flattened. Indexes count the elements that a read
/// returns: an element whose own node was deleted does not count.
enum CollectionOperation: Sendable {
    /// Replaces all elements, whatever is stored, and makes the collection if there is none.
    case replaceAll([ValueDraft])
    /// Replaces a range. An edit without a range appends, and makes the collection if there is
    /// none.
    case edit(CollectionEdit<ValueDraft>)
    /// Replaces a range, without inserting nodes that the collection has outside of it.
    case editNew(CollectionEdit<ValueDraft>)
    /// Appends those elements that are not in the collection yet, and makes the collection if there
    /// is none.
    case appendNew([ValueDraft])
    /// Moves one element to the index that it has afterwards.
    case move(from: Int, to: Int)
    /// Removes the elements whose positions the closure returns. Positions count all stored
    /// elements, those whose node was deleted too.
    case removeAll(@Sendable (CommitTransaction, Snapshot) throws -> Set<Int>)

    /// Whether the operation keeps what it does not name.
    var isEdit: Bool {
        if case .replaceAll = self { false } else { true }
    }

    /// Whether the operation makes a collection that is not there.
    var makesCollection: Bool {
        switch self {
        case .replaceAll, .appendNew: true
        case .edit(let edit): edit.range == nil
        case .editNew, .move, .removeAll: false
        }
    }
}

/// What an operation does to an optimistic change.
enum OptimisticStep: Sendable {
    /// Makes an optimistic change of this name.
    case apply(String, [BatchSection])
    /// Ends an optimistic change: its writes, or those in its place, are writes like any others.
    case confirm(String, with: [BatchSection]?)
    /// Ends an optimistic change as if it had never been.
    case rollBack(String)

    var sections: [BatchSection] {
        switch self {
        case .apply(_, let sections), .confirm(_, with: let sections?): sections
        case .confirm, .rollBack: []
        }
    }

    /// The bytes that the step holds in the queue.
    var byteCount: Int { sections.reduce(64) { $0 + $1.tree.byteCount } }
}
