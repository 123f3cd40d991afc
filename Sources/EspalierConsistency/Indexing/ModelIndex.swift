import EspalierModels

/// Which listener shows which node, and where: the trees of all listeners, without their content.
///
/// A slot stands for a node of a listener's tree, with its parent and its place among its siblings;
/// the slots of one identifier, whoever's they are, form a list that a hash table leads to. So an
/// update finds what shows its nodes by one look-up each, and from there the way up to the roots,
/// whatever else the trees hold.
///
///     table: hash of identifier -> first slot of that hash
///     slot:  hash | owner | parent | first child | next sibling | next, previous of the same hash       32 bytes
///
/// Identifiers are kept as hashes: where two share one, whoever follows the slot to the node finds
/// out.
///
/// Invariants, which `violations` looks for: a tree's slots stand in the order of `forEach`; every
/// slot with a hash is in exactly one list; a free slot is in none; between two updates nothing is
/// marked. Confined to the actor that owns it.
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

    /// No slot: the one at 0 is never handed out.
    static let none: Slot = 0

    private static let ownerBits: UInt32 = (1 << 28) - 1
    private static let pathMark: UInt32 = 1 << 28
    private static let changeMark: UInt32 = 1 << 29
    private static let targetMark: UInt32 = 1 << 30

    private(set) var entries: ContiguousArray<Entry> = [Entry()]
    private(set) var freeSlots: Slot = none
    private(set) var count = 0
    private(set) var firstOccurrences: [UInt64: Slot] = [:]

    /// What all of it takes in memory: slots, and a hash table that is at most three quarters full,
    /// of a power of two of places.
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

    /// The slots of one hash, of all owners.
    func forEachOccurrence(of identifier: NodeIdentifier, _ body: (Slot) -> Void) {
        var slot = firstOccurrences[identifier.bytesHash] ?? Self.none
        while slot != Self.none {
            body(slot)
            slot = self[slot].nextOccurrence
        }
    }

    // MARK: Trees

    /// The root's slot. `visit` is told of each node with an identifier, and its slot.
    func insert(
        _ model: any ConsistencyManagerModel, owner: Owner,
        _ visit: (NodeIdentifier, Slot) -> Void = { _, _ in }
    ) -> Slot {
        let identifier = model.modelIdentifier.map(NodeIdentifier.init)
        let root = take(for: identifier, owner)
        if let identifier { visit(identifier, root) }
        insertChildren(of: model, under: root, owner, visit)
        return root
    }

    /// Takes the children of `slot` away and puts those of `model` in their place.
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

    /// Makes `slot` the one that comes after `sibling`, the first child if there is none.
    private func link(_ slot: Slot, after sibling: Slot, under parent: Slot) {
        if sibling == Self.none {
            self[parent].firstChild = slot
        } else {
            self[sibling].nextSibling = slot
        }
    }

    private func next(after sibling: Slot, under parent: Slot) -> Slot {
        sibling == Self.none ? self[parent].firstChild : self[sibling].nextSibling
    }

    /// Takes the children of `parent` in `range` away and puts `models` in their place.
    func replaceChildren(
        of parent: Slot, in range: Range<Int>, by models: [any ConsistencyManagerModel]
    ) {
        var before = Self.none
        for _ in 0..<range.lowerBound { before = next(after: before, under: parent) }
        var after = next(after: before, under: parent)
        for _ in range where after != Self.none {
            let gone = after
            after = self[gone].nextSibling
            removeTree(at: gone)
        }
        for model in models {
            let slot = insert(model, owner: owner(of: parent))
            self[slot].parent = parent
            link(slot, after: before, under: parent)
            before = slot
        }
        link(after, after: before, under: parent)
    }

    /// Takes a whole tree away; its root must not be among the children of a slot that stays.
    func removeTree(at root: Slot) {
        removeChildren(of: root)
        free(root)
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

    /// Takes those children of `parent` away, with their trees, for which `isGone` holds.
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

    // MARK: Marks of an update under way

    /// Marks what an update names, and the way from it to its root, up to where the way is marked
    /// already.
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

    /// Takes the marks of the marked part of a tree away.
    func unmark(below root: Slot) {
        guard isOnPath(root) else { return }
        self[root].ownerAndMarks &= Self.ownerBits
        var slot = self[root].firstChild
        while slot != Self.none {
            unmark(below: slot)
            slot = self[slot].nextSibling
        }
    }

    /// Whether a node above `slot` has its identifier: a node inside itself.
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

    private func take(for identifier: NodeIdentifier?, _ owner: Owner) -> Slot {
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

    private func free(_ slot: Slot) {
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
