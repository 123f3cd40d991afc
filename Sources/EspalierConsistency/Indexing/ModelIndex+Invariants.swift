/// What tests look at after each step.
extension ModelIndex {
    struct Place: Hashable {
        let depth: Int
        let identifierHash: UInt64
    }

    /// A tree in pre-order.
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

    /// What is wrong, given the roots of all trees that are in it.
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
