import EspalierModels

/// What changes make of one listener's tree, at the cost of the ways from what they name to the
/// root.
///
/// The slots of what the changes name, and those above them, are marked. A first walk goes down the
/// marked slots alone, finds out what really changes and marks the way to it; a second one makes
/// the nodes on those ways anew, each by one call of `map`. Children off the way are passed by
/// without being asked for anything, not even for their identifier.
///
/// The index tells places, and `map` and `forEach` should agree on them. Where a node is not what
/// its slot says, the update stops with `OutOfStep`, and the tree is updated by identifier instead.
struct TreeUpdate {
    struct OutOfStep: Error {}

    private let index: ModelIndex
    private let changes: PostedChanges
    private var outcomes:
        [ModelIndex.Slot: (model: any ConsistencyManagerModel, outcome: NodeOutcome)] = [:]
    /// Hashes that the tree has several targets of.
    private var repeated: Set<UInt64> = []
    private(set) var result = TreeChange()

    init(_ changes: PostedChanges, in index: ModelIndex) {
        self.changes = changes
        self.index = index
    }

    /// Nil when nothing changes. `targets` are the slots of the tree whose identifier the changes
    /// name.
    static func apply(
        _ changes: PostedChanges, to model: any ConsistencyManagerModel, at root: ModelIndex.Slot,
        targets: [ModelIndex.Slot], in index: ModelIndex
    ) throws(OutOfStep) -> TreeChange? {
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

    // MARK: What changes

    /// Whether the node changes, or one below it.
    private mutating func findChanges(
        in model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(OutOfStep) -> Bool {
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
        try forEachChild(of: model, at: slot) { (update, child, childSlot) throws(OutOfStep) in
            if try update.findChanges(in: child, at: childSlot) { isChanged = true }
        }
        if isChanged { index.markChanged(slot) }
        return isChanged
    }

    /// The outcome for a node that the changes name; nil for one inside itself, and for a hash that
    /// two identifiers share.
    private func outcome(
        for model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(OutOfStep) -> NodeOutcome? {
        guard let text = model.modelIdentifier,
            NodeIdentifier(text).bytesHash == index[slot].identifierHash
        else { throw OutOfStep() }
        return index.isInsideItself(slot) ? nil : changes.outcome(for: model)
    }

    private mutating func forEachChild(
        of model: any ConsistencyManagerModel, at slot: ModelIndex.Slot,
        _ body: (inout TreeUpdate, any ConsistencyManagerModel, ModelIndex.Slot) throws(OutOfStep)
            -> Void
    ) throws(OutOfStep) {
        if index[slot].parent == ModelIndex.none, let list = model as? any ListModel {
            return try forEachPlace(of: list, at: slot) {
                (update, place, childSlot) throws(OutOfStep) in
                if update.index.isOnPath(childSlot) {
                    try body(&update, list.child(at: place), childSlot)
                }
            }
        }
        var childSlot = index[slot].firstChild
        var failure: OutOfStep?
        model.forEachChild { child in
            guard failure == nil else { return }
            guard childSlot != ModelIndex.none else { return failure = OutOfStep() }
            let current = childSlot
            childSlot = index[current].nextSibling
            guard index.isOnPath(current) else { return }
            do throws(OutOfStep) { try body(&self, child(), current) } catch { failure = error }
        }
        if let failure { throw failure }
        if childSlot != ModelIndex.none { throw OutOfStep() }
    }

    private mutating func forEachPlace(
        of list: any ListModel, at slot: ModelIndex.Slot,
        _ body: (inout TreeUpdate, Int, ModelIndex.Slot) throws(OutOfStep) -> Void
    ) throws(OutOfStep) {
        let count = list.childCount
        var place = 0
        var childSlot = index[slot].firstChild
        while childSlot != ModelIndex.none {
            guard place < count else { throw OutOfStep() }
            let current = childSlot
            childSlot = index[current].nextSibling
            try body(&self, place, current)
            place += 1
        }
        if place != count { throw OutOfStep() }
    }

    // MARK: Making it anew

    private mutating func rebuild(
        _ model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(OutOfStep) -> TreeChange.Part {
        let found = outcomes[slot]
        if let found, repeated.contains(index[slot].identifierHash) {
            // Of several nodes of one identifier `map` may hand out another one here.
            guard type(of: found.model) == type(of: model), found.model.isEqualToModel(model) else {
                throw OutOfStep()
            }
        }
        switch found?.outcome {
        case .deleted:
            var part = TreeChange.Part(model: nil)
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
    ) throws(OutOfStep) -> TreeChange.Part {
        result.replacements.append((model, merged))
        var part = TreeChange.Part(model: merged)
        if let text = model.modelIdentifier { part.updates.changedModelIds.insert(text) }
        try collectChanged(below: model, at: slot, into: &part.updates)
        if !isWhole {
            // What the merge has kept of the old node may hold nodes that the changes name.
            let settled = IdentifierUpdate(changes).applyBelow(
                merged, above: index.hashes(above: slot), &result)
            part.model = settled.model
            part.updates.formUnion(settled.updates)
        }
        if let model = part.model { index.replaceChildren(of: slot, by: model) }
        return part
    }

    /// The nodes below a replaced one that the changes name and change: they changed, too, if they
    /// are still there or not.
    private mutating func collectChanged(
        below model: any ConsistencyManagerModel, at slot: ModelIndex.Slot,
        into updates: inout ModelUpdates
    ) throws(OutOfStep) {
        var changed: Set<String> = []
        try forEachChild(of: model, at: slot) { (update, child, childSlot) throws(OutOfStep) in
            if update.index.isTarget(childSlot), let text = child.modelIdentifier,
                case .replaced? = update.changes.outcome(for: child)
            {
                changed.insert(text)
            }
            var below = ModelUpdates()
            try update.collectChanged(below: child, at: childSlot, into: &below)
            changed.formUnion(below.changedModelIds)
        }
        updates.changedModelIds.formUnion(changed)
    }

    private mutating func mapChildren(
        of model: any ConsistencyManagerModel, at slot: ModelIndex.Slot
    ) throws(OutOfStep) -> TreeChange.Part {
        if index[slot].parent == ModelIndex.none, let list = model as? any ListModel {
            return try mapPlaces(of: list, at: slot)
        }
        var childSlot = index[slot].firstChild
        var ordinal = -1
        var updates = ModelUpdates()
        var childUpdates: [Int: Delivery.ChildUpdate] = [:]
        var gone: Set<ModelIndex.Slot> = []
        var failure: OutOfStep?
        let mapped = model.mapChildren { child in
            guard failure == nil, childSlot != ModelIndex.none else {
                failure = OutOfStep()
                return .kept
            }
            let current = childSlot
            childSlot = index[current].nextSibling
            ordinal += 1
            guard index.isChanged(current) else { return .kept }
            do throws(OutOfStep) {
                let child = child()
                guard matches(child, current) else { throw OutOfStep() }
                let part = try rebuild(child, at: current)
                updates.formUnion(part.updates)
                childUpdates[ordinal] = .init(updates: part.updates, isDeleted: part.model == nil)
                if part.model == nil { gone.insert(current) }
                return .replaced(part.model)
            } catch {
                failure = error
                return .kept
            }
        }
        if let failure { throw failure }
        if mapped != nil, childSlot != ModelIndex.none {
            // A `map` that stops asking has to have nothing left to ask for.
            var rest = childSlot
            while rest != ModelIndex.none {
                if index.isChanged(rest) { throw OutOfStep() }
                rest = index[rest].nextSibling
            }
        }
        return finish(model, mapped, updates, childUpdates, gone, at: slot)
    }

    private mutating func mapPlaces(
        of list: any ListModel, at slot: ModelIndex.Slot
    ) throws(OutOfStep) -> TreeChange.Part {
        var updates = ModelUpdates()
        var childUpdates: [Int: Delivery.ChildUpdate] = [:]
        var gone: Set<ModelIndex.Slot> = []
        var children: [Int: (any ConsistencyManagerModel)?] = [:]
        try forEachPlace(of: list, at: slot) { (update, place, childSlot) throws(OutOfStep) in
            guard update.index.isChanged(childSlot) else { return }
            let part = try update.rebuild(list.child(at: place), at: childSlot)
            updates.formUnion(part.updates)
            childUpdates[place] = .init(updates: part.updates, isDeleted: part.model == nil)
            if part.model == nil { gone.insert(childSlot) }
            children.updateValue(part.model, forKey: place)
        }
        return finish(list, list.replacing(children), updates, childUpdates, gone, at: slot)
    }

    private mutating func finish(
        _ model: any ConsistencyManagerModel, _ mapped: (any ConsistencyManagerModel)?,
        _ updates: ModelUpdates,
        _ childUpdates: [Int: Delivery.ChildUpdate], _ gone: Set<ModelIndex.Slot>,
        at slot: ModelIndex.Slot
    ) -> TreeChange.Part {
        if let mapped, type(of: mapped) != type(of: model) {
            result.hasWrongMapClass = true
            return TreeChange.Part(model: model)
        }
        var part = TreeChange.Part(model: mapped, updates: updates)
        guard mapped == nil || !updates.isEmpty else { return part }
        if let text = model.modelIdentifier {
            if mapped == nil {
                part.updates.deletedModelIds.insert(text)
            } else {
                part.updates.changedModelIds.insert(text)
            }
        }
        if mapped == nil, model.modelIdentifier != nil { result.cascaded.append(model) }
        if !gone.isEmpty { index.removeChildren(of: slot, where: gone.contains) }
        if index[slot].parent == ModelIndex.none { result.childUpdates = childUpdates }
        return part
    }

    /// Whether `map` has handed out what `forEach` did at this place, as far as identifiers tell.
    private func matches(_ child: any ConsistencyManagerModel, _ slot: ModelIndex.Slot) -> Bool {
        let hash = child.modelIdentifier.map { NodeIdentifier($0).bytesHash } ?? 0
        return hash == index[slot].identifierHash
    }
}
