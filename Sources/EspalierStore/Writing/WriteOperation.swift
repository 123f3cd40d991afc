import EspalierModels
import EspalierRecords

/// A write as it is committed: flattened, without handles or numbers.
enum WriteOperation: Sendable {
    /// Trees whose entries are the nodes at `entries`. Key entries of the same names give way to
    /// them.
    case nodes(FlattenedTree, entries: [Int], policy: WritePolicy)
    /// What a key names: a reference to a node of the tree, or an inline model.
    case key(String, ValueDraft, FlattenedTree, policy: WritePolicy)
    /// An edit of what a key names; `expecting` what its sender has, where that is to be compared.
    case collection(
        String, FlattenedEdit, FlattenedTree, policy: WritePolicy,
        expecting: CollectionNeighbours? = nil)
    case delete([Entry])
    /// Records in place of what stands under their names.
    case restore([RestoredRecord], Restoration)
    /// Out of the cache, whatever their age, if nothing refers to them.
    case evict([Entry])
    case pin(Entry)
    case unpin(Entry)
    /// Fails unless what is pinned fits a smaller budget.
    case checkPins(for: ByteCount)
    /// The oldest out of the cache until no more than so many bytes are in use.
    case trim(to: ByteCount)
    case setBudget(ByteCount, mayExceed: Bool)
    case collectCycles
    /// What a sweep found wrong with names.
    case mend(NameRepair)
    /// New dictionaries.
    case install(TrainedDictionaries)
    /// No dictionary for new records.
    case retireDictionaries
    /// Records to be compressed anew.
    case recompress([Handle])
    case compact
    /// A new generation, empty.
    case reset
    /// Nothing but its place in the order: everything before it is on disk when it is done.
    case barrier

    struct Entry: Sendable, Hashable {
        let nameSpace: NameSpace
        let identifier: String
    }

    var byteCount: Int {
        switch self {
        case .nodes(let tree, _, _), .key(_, _, let tree, _), .collection(_, _, let tree, _, _):
            tree.byteCount
        case .restore(let records, _): records.reduce(0) { $0 + $1.byteCount }
        case .delete, .reset, .barrier, .evict, .pin, .unpin, .trim, .setBudget, .collectCycles,
            .mend, .checkPins, .install,
            .retireDictionaries, .recompress, .compact:
            64
        }
    }

    /// Whether it may use the pages kept in reserve: what makes room has to work when there is
    /// none.
    var makesRoom: Bool {
        switch self {
        case .delete, .reset, .barrier, .evict, .unpin, .mend, .checkPins: true
        case .collection(_, .remove, _, _, _): true
        default: false
        }
    }

    /// Whether it has to be alone in its transaction.
    var standsAlone: Bool {
        switch self {
        case .reset, .barrier, .trim, .setBudget, .collectCycles, .compact: true
        default: false
        }
    }
}
