import EspalierModels
import EspalierRecords

/// What an update says, by identifier: a posted tree flattened, or a deletion.
///
/// Per identifier the first occurrence of each projection in pre-order counts, which is the rule on
/// disk; where projections say different things of one field, the later one does. Where a tree says
/// different things of one node, what counts has replaced the rest in all that is kept here, so
/// that every listener ends with the same.
struct PostedChanges: Sendable {
    private(set) var byIdentifier: [NodeIdentifier: ModelChange] = [:]

    init(deleting identifier: NodeIdentifier) { byIdentifier = [identifier: .deleted] }

    init(posting model: any ConsistencyManagerModel) {
        var saysTwoThings = false
        collect(model, &saysTwoThings)
        if saysTwoThings || hasContradictingProjections { settle() }
    }

    /// As the listeners of all changes are told.
    var changes: [String: ModelChange] {
        Dictionary(byIdentifier.map { ($0.text, $1) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(_ identifier: NodeIdentifier) -> ModelChange? { byIdentifier[identifier] }

    /// What these changes make of one node, without regard to its children; nil where they do not
    /// concern it.
    func outcome(for model: any ConsistencyManagerModel) -> NodeOutcome? {
        guard let text = model.modelIdentifier, let change = byIdentifier[NodeIdentifier(text)]
        else { return nil }
        switch change {
        case .deleted: return .deleted
        case .updated(let posted):
            let merged = Self.merge(posted, into: model)
            // A model of another type has no place where this one stands.
            guard type(of: merged) == type(of: model) else { return .unchanged(isWhole: false) }
            let isPosted = posted.contains {
                type(of: $0) == type(of: merged) && $0.isEqualToModel(merged)
            }
            return merged.isEqualToModel(model)
                ? .unchanged(isWhole: isPosted) : .replaced(merged, isWhole: isPosted)
        }
    }

    // MARK: Flattening

    private mutating func collect(_ model: any ConsistencyManagerModel, _ saysTwoThings: inout Bool)
    {
        if let text = model.modelIdentifier, note(model, NodeIdentifier(text)) {
            saysTwoThings = true
        }
        model.forEach { collect($0, &saysTwoThings) }
    }

    /// Whether the same projection was there before and said something else.
    private mutating func note(_ model: any ConsistencyManagerModel, _ identifier: NodeIdentifier)
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

    // MARK: Settling

    private var hasContradictingProjections: Bool {
        byIdentifier.values.contains { change in
            guard case .updated(let models) = change, models.count > 1 else { return false }
            return models.contains { !Self.merge(models, into: $0).isEqualToModel($0) }
        }
    }

    private mutating func settle() {
        let raw = self
        var room = Self.room + Self.roomPerNode * raw.byIdentifier.count
        for (identifier, change) in raw.byIdentifier {
            guard case .updated(let models) = change else { continue }
            byIdentifier[identifier] = .updated(
                models.map { raw.settled(raw.counting($0, identifier), above: [identifier], &room) }
            )
        }
    }

    /// How many nodes settling may visit. What counts may hold what counts twice, and that again: a
    /// small tree can stand for one that no memory holds. Then the rest stays as it was posted.
    private static let (room, roomPerNode) = (100_000, 100)

    /// The model with its children as they count. A node inside itself is left: it has no last
    /// occurrence.
    private func settled(
        _ model: any ConsistencyManagerModel, above: Set<NodeIdentifier>, _ room: inout Int
    ) -> any ConsistencyManagerModel {
        room -= 1
        guard room > 0 else { return model }
        let mapped = model.map { child in
            guard let text = child.modelIdentifier else {
                return settled(child, above: above, &room)
            }
            let identifier = NodeIdentifier(text)
            guard !above.contains(identifier) else { return child }
            return settled(counting(child, identifier), above: above.union([identifier]), &room)
        }
        guard let mapped, type(of: mapped) == type(of: model) else { return model }
        return mapped
    }

    private func counting(
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

/// What becomes of a node that changes concern.
enum NodeOutcome {
    /// The changes say what it says already. `isWhole` if they say it of all that is below, too.
    case unchanged(isWhole: Bool)
    /// `isWhole` if the model is the posted one; otherwise parts of it may be older than the
    /// changes.
    case replaced(any ConsistencyManagerModel, isWhole: Bool)
    case deleted
}
