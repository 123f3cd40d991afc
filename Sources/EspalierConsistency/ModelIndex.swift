import EspalierModels

/// The trees of all listeners without their content: which listener shows which node, and where.
///
/// A slot represents a node of a listener's tree, with its parent and its place among its siblings.
/// The slots of one identifier, of all listeners, form a list, which a hash table leads to. An
/// update therefore finds the occurrences of a node by one lookup, and from each occurrence the
/// path up to the root, whatever else the trees contain.
///
///     table: hash of identifier -> first slot with that hash
///     slot:  hash | owner | parent | first child | next sibling
///            | next, previous slot with the same hash              32 bytes
///
/// The index stores hashes of identifiers. If two identifiers share a hash, the caller finds out
/// when it follows the slot to the node.
///
/// Invariants, which `violations` checks: the slots of a tree are in the order of `forEach`; every
/// slot with a hash is in exactly one list; a free slot is in no list; no slot is marked between
/// two updates. Confined to the `ConsistencyWorker` that owns it.
final class ModelIndex {
    typealias Slot = UInt32
    typealias Owner = UInt32

    struct Entry {
        var identifierHash: UInt64 = 0
        var ownerAndMarks: UInt32 = 0
        var parent: Slot = none
        var firstChild: Slot = none
        var nextSibling: Slot = none
        var nextOccurrence: Slot = none
        var previousOccurrence: Slot = none
    }

    /// The absence of a slot: slot 0 is never used.
    static let none: Slot = 0

    private static let ownerBits: UInt32 = (1 << 28) - 1
    private static let pathMark: UInt32 = 1 << 28
    private static let changeMark: UInt32 = 1 << 29
    private static let targetMark: UInt32 = 1 << 30

    private(set) var entries: ContiguousArray<Entry> = [Entry()]
    private(set) var freeSlots: Slot = none
    private(set) var count = 0
    private(set) var firstOccurrences: [UInt64: Slot] = [:]

    /// The size of the index in memory, in bytes: the slots, and a hash table of a power of two
    /// places that is at most three quarters full.
    var bytes: Int {
        var places = 1
        while places * 3 / 4 < firstOccurrences.capacity { places *= 2 }
        let place = MemoryLayout<UInt64>.stride + MemoryLayout<Slot>.stride
        return entries.capacity * MemoryLayout<Entry>.stride + places * place + places / 8
    }

    // MARK: Looking up

    subscript(_ slot: Slot) -> Entry {
        get { entries[Int(slot)] }
        _modify { yield &entries[Int(slot)] }
    }

    func owner(of slot: Slot) -> Owner { self[slot].ownerAndMarks & Self.ownerBits }

    /// Calls `body` with the slots that have the hash of `identifier`, of all owners.
    func forEachOccurrence(of identifier: NodeIdentifier, _ body: (Slot) -> Void) {
        var slot = firstOccurrences[identifier.bytesHash] ?? Self.none
        while slot != Self.none {
            body(slot)
            slot = self[slot].nextOccurrence
        }
    }

    /// Returns whether a tree may contain a node with the identifier: nodes with the same hash
    /// count, too.
    func contains(_ identifier: NodeIdentifier) -> Bool {
        (firstOccurrences[identifier.bytesHash] ?? Self.none) != Self.none
    }

    // MARK: Trees

    /// Inserts a tree. Calls `visit` with each node that has an identifier, and its slot.
    ///
    /// - Returns: The slot of the root.
    func insert(
        _ model: any ConsistencyManagerModel, owner: Owner,
        _ visit: (NodeIdentifier, Slot) -> Void = { _, _ in }
    ) -> Slot {
        let identifier = model.modelIdentifier.map(NodeIdentifier.init)
        let root = allocateSlot(for: identifier, owner)
        if let identifier { visit(identifier, root) }
        insertChildren(of: model, under: root, owner, visit)
        return root
    }

    /// Replaces the children of `slot` with those of `model`.
    func replaceChildren(of slot: Slot, by model: any ConsistencyManagerModel) {
        removeChildren(of: slot)
        insertChildren(of: model, under: slot, owner(of: slot)) { _, _ in }
    }

    private func insertChildren(
        of model: any ConsistencyManagerModel, under parent: Slot, _ owner: Owner,
        _ visit: (NodeIdentifier, Slot) -> Void
    ) {
        var last = Self.none
        model.forEach { child in
            let slot = insert(child, owner: owner, visit)
            self[slot].parent = parent
            link(slot, after: last, under: parent)
            last = slot
        }
    }

    /// Makes `slot` the next sibling of `sibling`, or the first child if `sibling` is `none`.
    private func link(_ slot: Slot, after sibling: Slot, under parent: Slot) {
        if sibling == Self.none {
            self[parent].firstChild = slot
        } else {
            self[sibling].nextSibling = slot
        }
    }

    /// Applies an edit to the children of `parent`.
    func apply(_ edit: CollectionEdit<any ConsistencyManagerModel>, toChildrenOf parent: Slot) {
        var before = Self.none
        var after = self[parent].firstChild
        var skipped = 0
        while skipped < edit.range?.lowerBound ?? .max, after != Self.none {
            before = after
            after = self[before].nextSibling
            skipped += 1
        }
        for _ in edit.range ?? 0..<0 where after != Self.none {
            let gone = after
            after = self[gone].nextSibling
            removeTree(at: gone)
        }
        for model in edit.elements {
            let slot = insert(model, owner: owner(of: parent))
            self[slot].parent = parent
            link(slot, after: before, under: parent)
            before = slot
        }
        link(after, after: before, under: parent)
    }

    /// Removes a tree. The root must not be the child of a slot that stays.
    func removeTree(at root: Slot) {
        removeChildren(of: root)
        freeSlot(root)
    }

    private func removeChildren(of parent: Slot) {
        var slot = self[parent].firstChild
        self[parent].firstChild = Self.none
        while slot != Self.none {
            let next = self[slot].nextSibling
            removeTree(at: slot)
            slot = next
        }
    }

    /// Removes the children of `parent` for which `isGone` returns true, with their trees.
    func removeChildren(of parent: Slot, where isGone: (Slot) -> Bool) {
        var kept = Self.none
        var slot = self[parent].firstChild
        while slot != Self.none {
            let next = self[slot].nextSibling
            if isGone(slot) {
                link(next, after: kept, under: parent)
                removeTree(at: slot)
            } else {
                kept = slot
            }
            slot = next
        }
    }

    // MARK: Marks of the current update

    /// Marks a target of an update, and the path to its root up to the first slot that is marked.
    func markPath(to target: Slot) {
        self[target].ownerAndMarks |= Self.targetMark
        var slot = target
        while slot != Self.none, !isOnPath(slot) {
            self[slot].ownerAndMarks |= Self.pathMark
            slot = self[slot].parent
        }
    }

    func isOnPath(_ slot: Slot) -> Bool { self[slot].ownerAndMarks & Self.pathMark != 0 }
    func isTarget(_ slot: Slot) -> Bool { self[slot].ownerAndMarks & Self.targetMark != 0 }
    func isChanged(_ slot: Slot) -> Bool { self[slot].ownerAndMarks & Self.changeMark != 0 }
    func markChanged(_ slot: Slot) { self[slot].ownerAndMarks |= Self.changeMark }

    /// Removes the marks from the marked part of a tree.
    func unmark(below root: Slot) {
        guard isOnPath(root) else { return }
        self[root].ownerAndMarks &= Self.ownerBits
        var slot = self[root].firstChild
        while slot != Self.none {
            unmark(below: slot)
            slot = self[slot].nextSibling
        }
    }

    /// Returns whether a node above `slot` has the same identifier.
    func isInsideItself(_ slot: Slot) -> Bool {
        let hash = self[slot].identifierHash
        var above = self[slot].parent
        while above != Self.none {
            if self[above].identifierHash == hash { return true }
            above = self[above].parent
        }
        return false
    }

    func hashes(above slot: Slot) -> Set<UInt64> {
        var hashes: Set<UInt64> = []
        var above = self[slot].parent
        while above != Self.none {
            if self[above].identifierHash != 0 { hashes.insert(self[above].identifierHash) }
            above = self[above].parent
        }
        return hashes
    }

    // MARK: Slots

    private func allocateSlot(for identifier: NodeIdentifier?, _ owner: Owner) -> Slot {
        let slot: Slot
        if freeSlots == Self.none {
            slot = Slot(entries.count)
            entries.append(Entry())
        } else {
            slot = freeSlots
            freeSlots = self[slot].nextSibling
        }
        count += 1
        self[slot] = Entry(ownerAndMarks: owner)
        guard let identifier else { return slot }
        let hash = identifier.bytesHash
        let next = firstOccurrences.updateValue(slot, forKey: hash) ?? Self.none
        self[slot].identifierHash = hash
        self[slot].nextOccurrence = next
        if next != Self.none { self[next].previousOccurrence = slot }
        return slot
    }

    private func freeSlot(_ slot: Slot) {
        let entry = self[slot]
        if entry.nextOccurrence != Self.none {
            self[entry.nextOccurrence].previousOccurrence = entry.previousOccurrence
        }
        if entry.previousOccurrence != Self.none {
            self[entry.previousOccurrence].nextOccurrence = entry.nextOccurrence
        } else if entry.identifierHash != 0 {
            firstOccurrences[entry.identifierHash] =
                entry.nextOccurrence == Self.none ? nil : entry.nextOccurrence
        }
        self[slot] = Entry(nextSibling: freeSlots)
        freeSlots = slot
        count -= 1
    }

    func removeAll() {
        entries = [Entry()]
        freeSlots = Self.none
        count = 0
        firstOccurrences = [:]
    }
}

// MARK: - Invariants, for tests

extension ModelIndex {
    struct Place: Hashable {
        let depth: Int
        let identifierHash: UInt64
    }

    /// Returns the nodes of a tree in pre-order.
    func places(below root: Slot, depth: Int = 0) -> [Place] {
        guard root != Self.none else { return [] }
        var result = [Place(depth: depth, identifierHash: self[root].identifierHash)]
        var child = self[root].firstChild
        while child != Self.none {
            result += places(below: child, depth: depth + 1)
            child = self[child].nextSibling
        }
        return result
    }

    /// Returns the violated invariants, given the roots of all trees in the index.
    func violations(trees: [(root: Slot, owner: Owner)]) -> [String] {
        var found: [String] = []
        var used: Set<Slot> = []
        for tree in trees {
            if self[tree.root].parent != Self.none {
                found.append("root \(tree.root) has a parent")
            }
            visit(tree.root, owner: tree.owner, &used, &found)
        }
        if used.count != count {
            found.append("\(count) slots are counted, \(used.count) are in trees")
        }
        checkFree(used, &found)
        checkOccurrences(used, &found)
        return found
    }

    private func visit(_ slot: Slot, owner: Owner, _ used: inout Set<Slot>, _ found: inout [String])
    {
        guard used.insert(slot).inserted else {
            return found.append("slot \(slot) is in two places")
        }
        if self.owner(of: slot) != owner { found.append("slot \(slot) belongs to another owner") }
        if isOnPath(slot) || isTarget(slot) || isChanged(slot) {
            found.append("slot \(slot) is marked")
        }
        var child = self[slot].firstChild
        while child != Self.none {
            if self[child].parent != slot { found.append("slot \(child) has another parent") }
            visit(child, owner: owner, &used, &found)
            child = self[child].nextSibling
        }
    }

    private func checkFree(_ used: Set<Slot>, _ found: inout [String]) {
        var free: Set<Slot> = []
        var slot = freeSlots
        while slot != Self.none, free.insert(slot).inserted { slot = self[slot].nextSibling }
        if !free.isDisjoint(with: used) { found.append("a slot is free and in use") }
        if free.count + used.count + 1 != entries.count {
            found.append("a slot is neither free nor in use")
        }
    }

    private func checkOccurrences(_ used: Set<Slot>, _ found: inout [String]) {
        var listed: Set<Slot> = []
        for (hash, first) in firstOccurrences {
            var previous = Self.none
            var slot = first
            while slot != Self.none {
                guard listed.insert(slot).inserted else {
                    return found.append("slot \(slot) is listed twice")
                }
                if self[slot].identifierHash != hash {
                    found.append("slot \(slot) is in another hash's list")
                }
                if self[slot].previousOccurrence != previous {
                    found.append("slot \(slot) has another predecessor")
                }
                previous = slot
                slot = self[slot].nextOccurrence
            }
        }
        let named = used.filter { self[$0].identifierHash != 0 }
        if listed != named {
            found.append("\(listed.count) slots are listed, \(named.count) have identifiers")
        }
    }
}
