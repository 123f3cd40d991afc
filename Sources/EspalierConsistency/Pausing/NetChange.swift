import EspalierModels

/// What is left of many updates between two versions of a tree.
///
/// A node that is in both and says something else has changed; one that was there, was deleted and
/// did not come back is deleted. `candidates` are all the identifiers that the updates named:
/// nothing else can have changed.
enum NetChange {
    static func updates(
        from old: any ConsistencyManagerModel, to new: (any ConsistencyManagerModel)?,
        _ candidates: ModelUpdates
    ) -> ModelUpdates {
        let named = candidates.changedModelIds.union(candidates.deletedModelIds)
        let before = nodes(in: old, named)
        guard let new else {
            return ModelUpdates(
                deletedModelIds: candidates.deletedModelIds.filter { before[$0] != nil })
        }
        let after = nodes(in: new, named)
        var result = ModelUpdates()
        for (identifier, models) in before {
            if let others = after[identifier] {
                if !isSame(models, others) { result.changedModelIds.insert(identifier) }
            } else if candidates.deletedModelIds.contains(identifier) {
                result.deletedModelIds.insert(identifier)
            }
        }
        return result
    }

    private static func isSame(
        _ a: [any ConsistencyManagerModel], _ b: [any ConsistencyManagerModel]
    ) -> Bool {
        a.allSatisfy { contains(b, $0) } && b.allSatisfy { contains(a, $0) }
    }

    private static func contains(
        _ models: [any ConsistencyManagerModel], _ model: any ConsistencyManagerModel
    ) -> Bool {
        models.contains { type(of: $0) == type(of: model) && $0.isEqualToModel(model) }
    }

    /// The nodes with one of these identifiers: all that is said of each, in one place or another.
    private static func nodes(
        in model: any ConsistencyManagerModel, _ identifiers: Set<String>
    ) -> [String: [any ConsistencyManagerModel]] {
        var result: [String: [any ConsistencyManagerModel]] = [:]
        func visit(_ model: any ConsistencyManagerModel) {
            if let identifier = model.modelIdentifier, identifiers.contains(identifier),
                !contains(result[identifier] ?? [], model)
            {
                result[identifier, default: []].append(model)
            }
            model.forEach(visit)
        }
        visit(model)
        return result
    }
}
