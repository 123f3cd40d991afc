import EspalierConsistency
import EspalierModels

/// The naive implementation of an update: it visits and rebuilds every node.
struct PlainUpdate {
    struct Result {
        var model: Child?
        var updates = ModelUpdates()
    }

    private enum Change {
        case deleted
        /// The first node of each projection.
        case posted([Child])
    }

    private var changes: [String: Change] = [:]

    init(deleting identifier: String) { changes = [identifier: .deleted] }

    init(posting model: Child) { collect(model) }

    private mutating func collect(_ model: Child) {
        if let id = model.modelIdentifier {
            var known: [Child] = []
            if case .posted(let models)? = changes[id] { known = models }
            if !known.contains(where: { $0.projectionIdentifier == model.projectionIdentifier }) {
                known.append(model)
            }
            changes[id] = .posted(known)
        }
        var children: [Child] = []
        model.forEach { children.append($0) }
        for child in children { collect(child) }
    }

    func apply(to model: Child, above: [String] = []) -> Result {
        guard let id = model.modelIdentifier, !above.contains(id), let change = changes[id] else {
            return mapChildren(of: model, above)
        }
        guard case .posted(let posted) = change else {
            return Result(model: nil, updates: .deleted([id]))
        }
        guard let merged = replacement(of: model, by: posted) else {
            return mapChildren(of: model, above)
        }
        var result = mapChildren(of: merged, above)
        result.updates.changedModelIds.formUnion(changed(below: model))
        result.updates.changedModelIds.insert(id)
        return result
    }

    private func replacement(of model: Child, by posted: [Child]) -> Child? {
        let merged = posted.reduce(model) { $0.mergeModel($1) }
        return type(of: merged) == type(of: model) && !merged.isEqualToModel(model) ? merged : nil
    }

    private func changed(below model: Child) -> Set<String> {
        var result: Set<String> = []
        model.forEach { child in
            if let id = child.modelIdentifier, case .posted(let posted)? = changes[id],
                replacement(of: child, by: posted) != nil
            {
                result.insert(id)
            }
            result.formUnion(changed(below: child))
        }
        return result
    }

    private func mapChildren(of model: Child, _ above: [String]) -> Result {
        let above = above + [model.modelIdentifier].compactMap { $0 }
        var updates = ModelUpdates()
        let mapped = model.map { child in
            let result = apply(to: child, above: above)
            updates.changedModelIds.formUnion(result.updates.changedModelIds)
            updates.deletedModelIds.formUnion(result.updates.deletedModelIds)
            return result.model
        }
        if let id = model.modelIdentifier {
            if mapped == nil {
                updates.deletedModelIds.insert(id)
            } else if updates != ModelUpdates() {
                updates.changedModelIds.insert(id)
            }
        }
        return Result(model: mapped, updates: updates)
    }

    // MARK: Pausing

    /// Returns the net result of many updates.
    static func net(from old: Child, to new: Child?, _ candidates: ModelUpdates) -> ModelUpdates {
        var result = ModelUpdates()
        for id in candidates.changedModelIds.union(candidates.deletedModelIds) {
            let before = versions(of: id, in: old)
            let after = new.map { versions(of: id, in: $0) } ?? []
            if before.isEmpty { continue }
            if after.isEmpty {
                if candidates.deletedModelIds.contains(id) { result.deletedModelIds.insert(id) }
            } else if !before.allSatisfy({ a in after.contains { isSame(a, $0) } })
                || !after.allSatisfy({ a in before.contains { isSame(a, $0) } })
            {
                result.changedModelIds.insert(id)
            }
        }
        return result
    }

    static func versions(of id: String, in model: Child) -> [Child] {
        var result = model.modelIdentifier == id ? [model] : []
        model.forEach { result += versions(of: id, in: $0) }
        return result
    }
}
