import EspalierModels

/// Applies changes to a tree without the index, by asking every node for its identifier.
///
/// It serves the parts of a node that a merge keeps, and models whose `map` and `forEach` visit
/// their children in different orders.
struct IdentifierUpdate {
    private let changes: PostedChanges

    init(_ changes: PostedChanges) { self.changes = changes }

    func apply(to model: any ConsistencyManagerModel) -> TreeChange {
        var result = TreeChange()
        let part = update(model, above: [], isRoot: true, &result)
        result.model = part.model
        result.updates = part.updates
        return result
    }

    private func update(
        _ model: any ConsistencyManagerModel, above: Set<UInt64>, isRoot: Bool,
        _ result: inout TreeChange
    ) -> NodeChange {
        guard let text = model.modelIdentifier, !above.contains(NodeIdentifier(text).bytesHash),
            let outcome = changes.outcome(for: model)
        else { return mapChildren(of: model, above: above, isRoot: isRoot, &result) }
        switch outcome {
        case .deleted:
            return NodeChange(model: nil, updates: ModelUpdates(deletedModelIds: [text]))
        case .unchanged(isWhole: true): return NodeChange(model: model)
        case .unchanged(isWhole: false):
            return mapChildren(of: model, above: above, isRoot: isRoot, &result)
        case .replaced(let merged, let isWhole):
            result.replacements.append(.init(old: model, new: merged))
            var part =
                isWhole
                ? NodeChange(model: merged)
                : mapChildren(of: merged, above: above, &result)
            part.updates.changedModelIds.insert(text)
            part.updates.changedModelIds.formUnion(changed(below: model))
            return part
        }
    }

    /// Updates the nodes below `model`, but not the model itself. `above` contains the hashes of
    /// the identifiers on the path to the model.
    func mapChildren(
        of model: any ConsistencyManagerModel, above: Set<UInt64>, isRoot: Bool = false,
        _ result: inout TreeChange
    ) -> NodeChange {
        var above = above
        if let text = model.modelIdentifier { above.insert(NodeIdentifier(text).bytesHash) }
        guard isChanged(below: model, above: above) else { return NodeChange(model: model) }
        var updates = ModelUpdates()
        var ordinal = -1
        let mapped = model.map { child in
            ordinal += 1
            let part = update(child, above: above, isRoot: false, &result)
            updates.formUnion(part.updates)
            if isRoot, part.model == nil || !part.updates.isEmpty {
                result.childChanges[ordinal] = part
            }
            return part.model
        }
        return result.rebuilt(model, as: mapped, updates)
    }

    /// Returns whether a node below `model` changes: otherwise `map` need not be called.
    private func isChanged(below model: any ConsistencyManagerModel, above: Set<UInt64>) -> Bool {
        var isChanged = false
        model.forEach { child in
            guard !isChanged else { return }
            var above = above
            if let text = child.modelIdentifier {
                let hash = NodeIdentifier(text).bytesHash
                if !above.contains(hash) {
                    switch changes.outcome(for: child) {
                    case .deleted, .replaced: return isChanged = true
                    case .unchanged(isWhole: true): return
                    case .unchanged(isWhole: false), nil: break
                    }
                }
                above.insert(hash)
            }
            isChanged = self.isChanged(below: child, above: above)
        }
        return isChanged
    }

    private func changed(below model: any ConsistencyManagerModel) -> Set<String> {
        var changed: Set<String> = []
        model.forEach { child in
            if let text = child.modelIdentifier, case .replaced? = changes.outcome(for: child) {
                changed.insert(text)
            }
            changed.formUnion(self.changed(below: child))
        }
        return changed
    }
}
