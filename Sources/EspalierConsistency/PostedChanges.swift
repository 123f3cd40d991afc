import EspalierModels
import EspalierRecords
import Synchronization

/// The changes of one update by identifier: a flattened tree, or a deletion.
///
/// For each identifier, the first occurrence of each projection in pre-order counts, as in records
/// on disk. If projections contradict each other about a field, the later one counts. If a tree
/// contradicts itself about a node, the version that counts replaces the others in all stored
/// trees, so that every listener ends with the same node.
struct PostedChanges: Sendable {
    private(set) var byIdentifier: [NodeIdentifier: ModelChange] = [:]
    /// The types as which nodes of `byIdentifier` are deleted: other types may have them still.
    private var deletedTypes: [NodeIdentifier: Set<ObjectIdentifier>] = [:]
    /// The nodes that a tree has as a type to which the posted content can't be applied.
    let foreignNodes = ForeignNodes()

    init(deleting identifier: NodeIdentifier) { byIdentifier = [identifier: .deleted] }

    /// The change of one node, without the nodes below it.
    init(announcing model: any ConsistencyManagerModel, under identifier: NodeIdentifier) {
        byIdentifier = [identifier: .updated([model])]
    }

    /// - Parameter deleted: The nodes that are gone. A node may be posted as one type, and be gone
    ///   as another.
    init(posting model: any ConsistencyManagerModel, deleting deleted: [GoneNode] = []) {
        var isContradictory = false
        collect(model, &isContradictory)
        if isContradictory || hasContradictingProjections { resolveContradictions() }
        for node in deleted {
            let identifier = NodeIdentifier(node.identifier)
            if let type = node.type {
                deletedTypes[identifier, default: []].insert(ObjectIdentifier(type))
                // No model: nothing is posted, but trees that have the node are looked at.
                if byIdentifier[identifier] == nil { byIdentifier[identifier] = .updated([]) }
            } else {
                byIdentifier[identifier] = .deleted
            }
        }
    }

    /// The changes in the form that updates listeners receive: without the nodes that are deleted
    /// as some types only.
    var changes: [String: ModelChange] {
        Dictionary(
            byIdentifier.compactMap { identifier, change in
                if case .updated(let models) = change, models.isEmpty { return nil }
                return (identifier.text, change)
            }, uniquingKeysWith: { first, _ in first })
    }

    subscript(_ identifier: NodeIdentifier) -> ModelChange? { byIdentifier[identifier] }

    /// Returns the outcome of these changes for one node, without its children; `nil` if the
    /// changes do not concern the node.
    func outcome(for model: any ConsistencyManagerModel) -> NodeOutcome? {
        guard let text = model.modelIdentifier, let change = byIdentifier[NodeIdentifier(text)]
        else { return nil }
        if let types = deletedTypes[NodeIdentifier(text)],
            types.contains(ObjectIdentifier(type(of: model)))
        {
            return .deleted
        }
        switch change {
        case .deleted: return .deleted
        case .updated(let posted):
            let merged = mergeNotingGaps(posted, into: model, text)
            // A model of another type does not fit into the node's place.
            guard type(of: merged) == type(of: model) else {
                foreignNodes.insert(text)
                return .unchanged(isWhole: false)
            }
            let isPosted = posted.contains {
                type(of: $0) == type(of: merged) && $0.isEqualToModel(merged)
            }
            guard merged.isEqualToModel(model) else { return .replaced(merged, isWhole: isPosted) }
            if !isPosted, !(model is any ProjectedModel) { foreignNodes.insert(text) }
            return .unchanged(isWhole: isPosted)
        }
    }

    /// Merges the posted versions of a node into the one that a tree has. If that leaves out values
    /// of other types, for example a child that another one has replaced, the node is foreign.
    private func mergeNotingGaps(
        _ posted: [any ConsistencyManagerModel], into model: any ConsistencyManagerModel,
        _ identifier: String
    ) -> any ConsistencyManagerModel {
        guard model is any ProjectedModel,
            posted.contains(where: { type(of: $0) != type(of: model) })
        else { return Self.merge(posted, into: model) }
        let (merged, hasGaps) = MergeGaps.areFound { Self.merge(posted, into: model) }
        if hasGaps { foreignNodes.insert(identifier) }
        return merged
    }

    /// Returns whether the node was posted, and as other types only.
    func isForeign(_ node: ShownNode) -> Bool {
        guard case .updated(let models)? = self[NodeIdentifier(node.identifier)], !models.isEmpty
        else { return false }
        return !models.contains { type(of: $0) == node.type }
    }

    // MARK: Flattening

    private mutating func collect(
        _ model: any ConsistencyManagerModel, _ isContradictory: inout Bool
    ) {
        if let text = model.modelIdentifier, add(model, NodeIdentifier(text)) {
            isContradictory = true
        }
        model.forEach { collect($0, &isContradictory) }
    }

    /// Adds a node, unless the same projection was added before.
    ///
    /// - Returns: Whether the earlier node has different content.
    private mutating func add(_ model: any ConsistencyManagerModel, _ identifier: NodeIdentifier)
        -> Bool
    {
        guard case .updated(let models)? = byIdentifier[identifier] else {
            byIdentifier[identifier] = .updated([model])
            return false
        }
        let projection = model.projectionIdentifier
        if let first = models.first(where: { $0.projectionIdentifier == projection }) {
            return !first.isEqualToModel(model)
        }
        byIdentifier[identifier] = .updated(models + [model])
        return false
    }

    // MARK: Contradictions

    private var hasContradictingProjections: Bool {
        byIdentifier.values.contains { change in
            guard case .updated(let models) = change, models.count > 1 else { return false }
            return models.contains { !Self.merge(models, into: $0).isEqualToModel($0) }
        }
    }

    private mutating func resolveContradictions() {
        let raw = self
        var budget = Self.nodeBudget + Self.nodeBudgetPerNode * raw.byIdentifier.count
        for (identifier, change) in raw.byIdentifier {
            guard case .updated(let models) = change else { continue }
            byIdentifier[identifier] = .updated(
                models.map {
                    raw.resolved(raw.effective($0, identifier), above: [identifier], &budget)
                })
        }
    }

    /// The number of nodes that `resolveContradictions` may visit. A node that counts may contain
    /// such a node twice, and so on: a small tree can expand to one that exceeds the memory. Nodes
    /// beyond the budget stay as they were posted.
    private static let (nodeBudget, nodeBudgetPerNode) = (100_000, 100)

    /// Returns the model with the versions of its children that count. A node inside itself stays
    /// as it is, because its expansion would not end.
    private func resolved(
        _ model: any ConsistencyManagerModel, above: Set<NodeIdentifier>, _ budget: inout Int
    ) -> any ConsistencyManagerModel {
        budget -= 1
        guard budget > 0 else { return model }
        let mapped = model.map { child in
            guard let text = child.modelIdentifier else {
                return resolved(child, above: above, &budget)
            }
            let identifier = NodeIdentifier(text)
            guard !above.contains(identifier) else { return child }
            return resolved(
                effective(child, identifier), above: above.union([identifier]), &budget)
        }
        guard let mapped, type(of: mapped) == type(of: model) else { return model }
        return mapped
    }

    /// Returns the version of the node that counts.
    private func effective(
        _ model: any ConsistencyManagerModel, _ identifier: NodeIdentifier
    ) -> any ConsistencyManagerModel {
        guard case .updated(let models)? = byIdentifier[identifier] else { return model }
        let projection = model.projectionIdentifier
        let first = models.first {
            $0.projectionIdentifier == projection && type(of: $0) == type(of: model)
        }
        let merged = Self.merge(models, into: first ?? model)
        return type(of: merged) == type(of: model) ? merged : model
    }

    private static func merge(
        _ models: [any ConsistencyManagerModel], into model: any ConsistencyManagerModel
    ) -> any ConsistencyManagerModel {
        models.reduce(model) { $0.mergeModel($1) }
    }
}

/// Collects the nodes that stand in listeners' trees as other types than the posted ones, and can't
/// take over all that was posted. What such a tree has to show can only be read from a store, which
/// has the fields of all types.
final class ForeignNodes: Sendable {
    private let identifiers = Mutex<Set<String>>([])

    func insert(_ identifier: String) { identifiers.withLock { _ = $0.insert(identifier) } }

    /// Returns the nodes since the last call.
    func take() -> Set<String> {
        identifiers.withLock { identifiers in
            defer { identifiers = [] }
            return identifiers
        }
    }
}

/// The outcome of changes for a node that they concern.
enum NodeOutcome {
    /// The node has the posted content already. `isWhole` if this includes everything below it.
    case unchanged(isWhole: Bool)
    /// Another model replaces the node. `isWhole` if it is the posted model; otherwise parts of it
    /// may be older than the changes.
    case replaced(any ConsistencyManagerModel, isWhole: Bool)
    case deleted
}

/// An identifier that is compared by its bytes, as in records on disk: texts that only look alike
/// are different identifiers.
struct NodeIdentifier: Hashable, Sendable {
    let text: String
    /// The hash of the bytes; never 0, which stands for nodes without identifier.
    let bytesHash: UInt64

    init(_ text: String) {
        self.text = text
        bytesHash = Swift.max(text.bytesHash, 1)
    }

    /// Returns `nil` for a model without identifier.
    init?(of model: any ConsistencyManagerModel) {
        guard let text = model.modelIdentifier else { return nil }
        self.init(text)
    }

    static func == (a: NodeIdentifier, b: NodeIdentifier) -> Bool {
        a.bytesHash == b.bytesHash && a.text.hasSameBytes(as: b.text)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(bytesHash) }
}

// MARK: - Posting

/// An update as it was submitted.
struct PostedUpdate: Sendable {
    let model: any ConsistencyManagerModel
    let isDeletion: Bool
    let context: (any Sendable)?
    let time: ChangeTime
    /// The epoch of submission: only listeners of this epoch receive the update.
    let epoch: Int
    /// Called on the main actor with the models that required a deleted model.
    let onCascade: (@MainActor @Sendable ([any ConsistencyManagerModel]) -> Void)?
    /// Called with the nodes that listeners show as other types: the update can't change these.
    var onForeignNodes: (@Sendable (Set<String>) -> Void)?
    /// Whether the update was read from a store.
    var isFetched = false
    /// The nodes that the store does not have any more.
    var gone: [GoneNode] = []
}

/// The changes of a posted update, with what its listeners are told about them.
struct SubmittedChanges: Sendable {
    let changes: PostedChanges
    let context: (any Sendable)?
    let time: ChangeTime
    let onForeignNodes: (@Sendable (Set<String>) -> Void)?
    let isFetched: Bool

    /// Returns `nil` for the deletion of a model without identifier.
    init?(_ update: PostedUpdate) {
        if !update.isDeletion {
            changes = PostedChanges(posting: update.model, deleting: update.gone)
        } else if let text = update.model.modelIdentifier {
            changes = PostedChanges(deleting: NodeIdentifier(text))
        } else {
            return nil
        }
        context = update.context
        time = update.time
        onForeignNodes = update.onForeignNodes
        isFetched = update.isFetched
    }

    init(announcing update: PostedUpdate, under identifier: NodeIdentifier) {
        changes = PostedChanges(announcing: update.model, under: identifier)
        context = update.context
        time = update.time
        onForeignNodes = update.onForeignNodes
        isFetched = update.isFetched
    }

    /// An update without identifiers takes memory too.
    fileprivate var nodeCount: Int { max(changes.byIdentifier.count, 1) }
}

/// The changes that were posted since the start of the oldest fetch that is in progress.
///
/// A tree from a cache is as old as the moment at which it was requested. When the tree gets a
/// listener, the listener catches up with the changes since. Nothing is kept while no fetch is in
/// progress.
///
/// A cache that never replies would keep all changes forever. If more than `nodeLimit` nodes were
/// posted, the oldest changes are dropped, and a tree that arrives later misses them until its
/// nodes are posted again. At least the latest three quarters of the limit are kept, and the latest
/// update whatever its size; never more than the limit and one update.
struct RecentChanges {
    /// Ten megabytes, without the models.
    static let defaultNodeLimit = 65_536

    private let nodeLimit: Int
    private var fetches: [ChangeTime] = []
    private var updates: [SubmittedChanges] = []
    private var nodeCount = 0

    init(nodeLimit: Int = Self.defaultNodeLimit) { self.nodeLimit = nodeLimit }

    mutating func begin(_ fetch: ChangeTime) { fetches.append(fetch) }

    mutating func end(_ fetch: ChangeTime) {
        if let position = fetches.firstIndex(of: fetch) { fetches.remove(at: position) }
        guard let oldest = fetches.min() else {
            updates = []
            nodeCount = 0
            return
        }
        updates.removeAll { !$0.time.after(oldest) }
        nodeCount = updates.reduce(0) { $0 + $1.nodeCount }
    }

    mutating func append(_ update: SubmittedChanges) {
        guard !fetches.isEmpty else { return }
        updates.append(update)
        nodeCount += update.nodeCount
        if nodeCount > nodeLimit { dropOldest() }
    }

    /// Drops a quarter of the limit at once, so that not every update moves the array.
    private mutating func dropOldest() {
        var dropped = 0
        while dropped < updates.count - 1,
            nodeCount - updates[dropped].nodeCount >= nodeLimit / 4 * 3
        {
            nodeCount -= updates[dropped].nodeCount
            dropped += 1
        }
        updates.removeFirst(dropped)
    }

    /// The nodes that updates after `fetch` have named.
    func identifiers(since fetch: ChangeTime) -> Set<NodeIdentifier> {
        updates(since: fetch).reduce(into: []) { $0.formUnion($1.changes.byIdentifier.keys) }
    }

    /// Returns the updates after `fetch`, in the order in which all listeners received them.
    func updates(since fetch: ChangeTime) -> [SubmittedChanges] {
        updates.filter { $0.time.after(fetch) }
    }
}
