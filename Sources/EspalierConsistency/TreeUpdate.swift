import EspalierModels

/// The result of an update for one tree.
struct TreeChange {
    /// The new tree; `nil` if the whole tree was deleted.
    var model: (any ConsistencyManagerModel)?
    var updates = ModelUpdates()
    /// The changes of the root's children, by their place in `forEach` before the update.
    var childChanges: [Int: NodeChange] = [:]
    /// The replaced nodes, for the delegate.
    var replacements: [Replacement] = []
    /// The models that required a deleted child.
    var cascaded: [any ConsistencyManagerModel] = []
    var hasWrongMapClass = false

    /// Whether the listener has to be notified.
    var isChange: Bool { model == nil || !updates.isEmpty }

    struct Replacement: Sendable {
        let old: any ConsistencyManagerModel
        let new: any ConsistencyManagerModel
    }

    /// Returns the outcome for a node that `map` has rebuilt from its changed children, and records
    /// its mistakes.
    ///
    /// - Parameter updates: The changes below the node.
    mutating func rebuilt(
        _ model: any ConsistencyManagerModel, as mapped: (any ConsistencyManagerModel)?,
        _ updates: ModelUpdates
    ) -> NodeChange {
        if let mapped, type(of: mapped) != type(of: model) {
            hasWrongMapClass = true
            return NodeChange(model: model)
        }
        guard mapped == nil || !updates.isEmpty else { return NodeChange(model: model) }
        var part = NodeChange(model: mapped, updates: updates)
        guard let text = model.modelIdentifier else { return part }
        if mapped == nil {
            part.updates.deletedModelIds.insert(text)
            cascaded.append(model)
        } else {
            part.updates.changedModelIds.insert(text)
        }
        return part
    }
}

/// Applies changes to one listener's tree, at the cost of the paths from the changed nodes to the
/// root.
///
/// 1. `apply` marks the slots of the nodes that the changes name (the targets) and the slots above
///    them.
/// 2. `findChanges` walks down the marked slots, finds the nodes that really change, and marks the
///    paths to them.
/// 3. `rebuild` walks down these paths and rebuilds each node by one call of `map`.
///
/// Children off the paths are skipped without any call, not even for their identifiers.
///
/// The index knows children by place, so `map` and `forEach` have to visit them in the same order.
/// If a node does not match its slot, the update fails with `IndexMismatch`, and the caller uses an
/// `IdentifierUpdate` instead.
struct TreeUpdate {
    struct IndexMismatch: Error {}

    private let index: ModelIndex
    private let changes: PostedChanges
    private var outcomes:
        [ModelIndex.Slot: (model: any ConsistencyManagerModel, outcome: NodeOutcome)] = [:]
    /// The hashes that several targets of the tree share.
    private var repeated: Set<UInt64> = []
    private(set) var result = TreeChange()

    init(_ changes: PostedChanges, in index: ModelIndex) {
        self.changes = changes
        self.index = index
    }

    /// Applies `changes` to a tree.
    ///
    /// - Parameter targets: The slots of the tree whose identifiers the changes name.
    /// - Returns: The change; `nil` if nothing changes.
    static func apply(
        _ changes: PostedChanges, to model: any ConsistencyManagerModel, at root: ModelIndex.Slot,
        targets: [ModelIndex.Slot], in index: ModelIndex
    ) throws(IndexMismatch) -> TreeChange? {
        var update = TreeUpdate(changes, in: index)
        var hashes: Set<UInt64> = []
        for target in targets {
            index.markPath(to: target)
            let hash = index[target].identifierHash
            if !hashes.insert(hash).inserted { update.repeated.insert(hash) }
        }
        defer { index.unmark(below: root) }
        guard try update.findChanges(in: model, at: root) else { return nil }
        let part = try update.rebuild(model, at: root)
        update.result.model = part.model
        update.result.updates.formUnion(part.updates)
        return update.result
    }

    // MARK: Finding changes

    /// Returns whether the node or a node below it changes.
    private mutating func findChanges(
        in model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> Bool {
        if index.isTarget(slot), let outcome = try outcome(for: model, at: slot) {
            switch outcome {
            case .unchanged(isWhole: true): return false
            case .unchanged(isWhole: false): break
            case .replaced, .deleted:
                outcomes[slot] = (model, outcome)
                index.markChanged(slot)
                return true
            }
        }
        var isChanged = false
        try forEachChild(of: model, at: slot) { (update, child, childSlot) throws(IndexMismatch) in
            if try update.findChanges(in: child, at: childSlot) { isChanged = true }
        }
        if isChanged { index.markChanged(slot) }
        return isChanged
    }

    /// Returns the outcome for a target; `nil` for a node inside itself, and for a node with
    /// another identifier of the same hash.
    private func outcome(
        for model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> NodeOutcome? {
        guard let text = model.modelIdentifier,
            NodeIdentifier(text).bytesHash == index[slot].identifierHash
        else { throw IndexMismatch() }
        return index.isInsideItself(slot) ? nil : changes.outcome(for: model)
    }

    private mutating func forEachChild(
        of model: any ConsistencyManagerModel, at slot: ModelIndex.Slot,
        _ body: (inout TreeUpdate, any ConsistencyManagerModel, ModelIndex.Slot)
            throws(IndexMismatch)
            -> Void
    ) throws(IndexMismatch) {
        if index[slot].parent == ModelIndex.none, let list = model as? any ListModel {
            return try forEachPlace(of: list, at: slot) {
                (update, place, childSlot) throws(IndexMismatch) in
                if update.index.isOnPath(childSlot) {
                    try body(&update, list.child(at: place), childSlot)
                }
            }
        }
        var childSlot = index[slot].firstChild
        var failure: IndexMismatch?
        model.forEachChild { child in
            guard failure == nil else { return }
            guard childSlot != ModelIndex.none else { return failure = IndexMismatch() }
            let current = childSlot
            childSlot = index[current].nextSibling
            guard index.isOnPath(current) else { return }
            do throws(IndexMismatch) { try body(&self, child(), current) } catch { failure = error }
        }
        if let failure { throw failure }
        if childSlot != ModelIndex.none { throw IndexMismatch() }
    }

    private mutating func forEachPlace(
        of list: any ListModel, at slot: ModelIndex.Slot,
        _ body: (inout TreeUpdate, Int, ModelIndex.Slot) throws(IndexMismatch) -> Void
    ) throws(IndexMismatch) {
        let count = list.childCount
        var place = 0
        var childSlot = index[slot].firstChild
        while childSlot != ModelIndex.none {
            guard place < count else { throw IndexMismatch() }
            let current = childSlot
            childSlot = index[current].nextSibling
            try body(&self, place, current)
            place += 1
        }
        if place != count { throw IndexMismatch() }
    }

    // MARK: Rebuilding

    private mutating func rebuild(
        _ model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> NodeChange {
        let found = outcomes[slot]
        if let found, repeated.contains(index[slot].identifierHash) {
            // `map` may pass another one of several nodes with the same identifier here.
            guard type(of: found.model) == type(of: model), found.model.isEqualToModel(model) else {
                throw IndexMismatch()
            }
        }
        switch found?.outcome {
        case .deleted:
            var part = NodeChange(model: nil)
            if let text = model.modelIdentifier { part.updates.deletedModelIds.insert(text) }
            return part
        case .replaced(let merged, let isWhole):
            return try replace(model, by: merged, isWhole: isWhole, at: slot)
        case .unchanged, nil:
            return try mapChildren(of: model, at: slot)
        }
    }

    private mutating func replace(
        _ model: any ConsistencyManagerModel, by merged: any ConsistencyManagerModel, isWhole: Bool,
        at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> NodeChange {
        result.replacements.append(.init(old: model, new: merged))
        var part = NodeChange(model: merged)
        if let text = model.modelIdentifier { part.updates.changedModelIds.insert(text) }
        try collectChanged(below: model, at: slot, into: &part.updates)
        if !isWhole {
            // The parts of the old node that the merge has kept may contain changed nodes.
            let below = IdentifierUpdate(changes).mapChildren(
                of: merged, above: index.hashes(above: slot), &result)
            part.model = below.model
            part.updates.formUnion(below.updates)
        }
        if let model = part.model { index.replaceChildren(of: slot, by: model) }
        return part
    }

    /// Collects the nodes below a replaced node that the changes replace. They count as changed
    /// even if they are no longer in the tree.
    private mutating func collectChanged(
        below model: any ConsistencyManagerModel, at slot: ModelIndex.Slot,
        into updates: inout ModelUpdates
    ) throws(IndexMismatch) {
        try forEachChild(of: model, at: slot) { (update, child, childSlot) throws(IndexMismatch) in
            if update.index.isTarget(childSlot), let text = child.modelIdentifier,
                case .replaced? = update.changes.outcome(for: child)
            {
                updates.changedModelIds.insert(text)
            }
            try update.collectChanged(below: child, at: childSlot, into: &updates)
        }
    }

    private mutating func mapChildren(
        of model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> NodeChange {
        if index[slot].parent == ModelIndex.none, let list = model as? any ListModel {
            return try mapPlaces(of: list, at: slot)
        }
        var childSlot = index[slot].firstChild
        var ordinal = -1
        var updates = ModelUpdates()
        var childChanges: [Int: NodeChange] = [:]
        var gone: Set<ModelIndex.Slot> = []
        var failure: IndexMismatch?
        let mapped = model.mapChildren { child in
            guard failure == nil, childSlot != ModelIndex.none else {
                failure = IndexMismatch()
                return .kept
            }
            let current = childSlot
            childSlot = index[current].nextSibling
            ordinal += 1
            guard index.isChanged(current) else { return .kept }
            do throws(IndexMismatch) {
                let child = child()
                guard matches(child, current) else { throw IndexMismatch() }
                let part = try rebuild(child, at: current)
                updates.formUnion(part.updates)
                childChanges[ordinal] = part
                if part.model == nil { gone.insert(current) }
                return .replaced(part.model)
            } catch {
                failure = error
                return .kept
            }
        }
        if let failure { throw failure }
        if mapped != nil, childSlot != ModelIndex.none {
            // `map` may stop early, but not before the last child that changes.
            var rest = childSlot
            while rest != ModelIndex.none {
                if index.isChanged(rest) { throw IndexMismatch() }
                rest = index[rest].nextSibling
            }
        }
        return finish(model, mapped, updates, childChanges, gone, at: slot)
    }

    private mutating func mapPlaces(
        of list: any ListModel, at slot: ModelIndex.Slot
    ) throws(IndexMismatch) -> NodeChange {
        var updates = ModelUpdates()
        var childChanges: [Int: NodeChange] = [:]
        var gone: Set<ModelIndex.Slot> = []
        try forEachPlace(of: list, at: slot) { (update, place, childSlot) throws(IndexMismatch) in
            guard update.index.isChanged(childSlot) else { return }
            let part = try update.rebuild(list.child(at: place), at: childSlot)
            updates.formUnion(part.updates)
            childChanges[place] = part
            if part.model == nil { gone.insert(childSlot) }
        }
        let mapped = list.replacing(childChanges.mapValues(\.model))
        return finish(list, mapped, updates, childChanges, gone, at: slot)
    }

    private mutating func finish(
        _ model: any ConsistencyManagerModel, _ mapped: (any ConsistencyManagerModel)?,
        _ updates: ModelUpdates, _ childChanges: [Int: NodeChange],
        _ gone: Set<ModelIndex.Slot>, at slot: ModelIndex.Slot
    ) -> NodeChange {
        let part = result.rebuilt(model, as: mapped, updates)
        // Otherwise `map` has returned a model of another type, and the listener keeps its tree.
        if part.model == nil || !part.updates.isEmpty {
            if !gone.isEmpty { index.removeChildren(of: slot, where: gone.contains) }
            if index[slot].parent == ModelIndex.none { result.childChanges = childChanges }
        }
        return part
    }

    /// Returns whether `map` has passed the same child as `forEach` at this place, as far as
    /// identifiers tell.
    private func matches(_ child: any ConsistencyManagerModel, _ slot: ModelIndex.Slot) -> Bool {
        let hash = child.modelIdentifier.map { NodeIdentifier($0).bytesHash } ?? 0
        return hash == index[slot].identifierHash
    }
}
