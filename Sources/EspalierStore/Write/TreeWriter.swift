import EspalierLMDB
import EspalierRecords

/// Writes the nodes of a flattened tree, one record each, unless the stored record is equal.
///
/// If the last write of the entry has stored an equal record, which has not changed since, the
/// writer does not look at it, see `WrittenTree`.
///
/// The writer finds the other records of a tree that was stored before by following
/// stored references:
/// the children of a stored record are nearly always the records of the node's children.
/// `VerifiedIndexEntries` says for which of them the index need not be asked again. The writer
/// compares a stored record with its node in place, value by value.
struct TreeWriter {
    private let commit: CommitTransaction

    init(_ commit: CommitTransaction) { self.commit = commit }

    /// Writes a tree. Returns the handles of its nodes, by index in the tree.
    ///
    /// - Parameter earlier: The records of the earlier tree to which `tree.earlierNodes` refers.
    ///   Empty if there is none, or if one of the records may have changed since.
    func write(
        _ tree: FlattenedTree, earlier: [Handle] = [], in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        var locations = try locate(tree, earlier, in: &transaction)
        if !tree.keptNodes.isEmpty {
            locations.changed.removeAll { $0.old != nil && tree.keptNodes.contains($0.index) }
        }
        // One projection of a node may remove a child that another has, and of two occurrences the
        // first counts. A child that is left out needs a stamp of its own, because no record of the
        // tree refers to it.
        let mayLoseChildren = tree.mayLoseChildren
        var referred: Set<Handle> = []
        for change in locations.changed {
            let slot = RecordSlot(handle: locations.handles[change.index], old: change.old)
            let children = try write(
                change.index, of: tree, to: slot, handles: locations.handles, in: &transaction)
            if mayLoseChildren { referred.formUnion(children) }
        }
        commit.lifetime.contradictions += UInt64(tree.contradictions)
        commit.counters.recordsUnchanged += UInt64(tree.count - locations.changed.count)
        if mayLoseChildren {
            for handle in locations.handles where !referred.contains(handle) {
                try commit.states.touch(handle, in: transaction)
            }
        }
        try date(locations.handles, of: tree, in: transaction)
        try touchCycles(locations.handles, of: tree, in: transaction)
        return locations.handles
    }

    /// Touches the flagged records whose references the tree has, as a read of the tree would:
    /// eviction detaches such a record from its children, unless it counts as accessed.
    private func touchCycles(
        _ handles: [Handle], of tree: FlattenedTree, in transaction: borrowing WriteTransaction
    ) throws {
        guard commit.generation.hasDetached else { return }
        for index in handles.indices where tree.hasChildren(at: index) {
            let handle = handles[index]
            if try commit.states.entry(handle, in: transaction).isListedCycle {
                try commit.states.touch(handle, in: transaction)
            }
        }
    }

    /// Writes some nodes of a tree again. `handles` are those of all its nodes. Returns them, with
    /// those that the written nodes have now.
    func rewrite(
        _ nodes: [Int], of tree: FlattenedTree, handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        var handles = handles
        let slots = try nodes.map { index in
            let slot = try commit.slot(.node, tree.entries[index].identifier, in: &transaction)
            handles[index] = slot.handle
            return slot
        }
        for (index, slot) in zip(nodes, slots) {
            _ = try write(index, of: tree, to: slot, handles: handles, in: &transaction)
            if let maxAge = tree.maxAge(at: index) ?? commit.maxAge {
                try commit.states.noteTime(
                    slot.handle, WriteTime(commit.now), maxAge: maxAge, in: transaction)
            }
        }
        return handles
    }

    /// Dates the nodes that expire, changed or not, and takes the age from those that do not any
    /// more.
    private func date(
        _ handles: [Handle], of tree: FlattenedTree, in transaction: borrowing WriteTransaction
    ) throws {
        let usual = commit.maxAge
        if tree.maxAge != nil || usual != nil {
            commit.expiryMark = .any
        } else if tree.expires {
            commit.expiryMark = max(commit.expiryMark, .typed)
        }
        guard commit.expiryMark > .none else { return }
        let now = WriteTime(commit.now)
        for (index, handle) in handles.enumerated() {
            let maxAge = tree.maxAge(at: index) ?? usual
            guard
                try maxAge != nil
                    || commit.states.entry(handle, in: transaction).expiry != nil
            else { continue }
            try commit.states.noteTime(handle, now, maxAge: maxAge, in: transaction)
        }
    }

    /// Writes one node. Returns the handles that its record refers to.
    private func write(
        _ index: Int, of tree: FlattenedTree, to slot: RecordSlot, handles: [Handle],
        in transaction: inout WriteTransaction
    ) throws -> [Handle] {
        let merge = try RecordMerge(index, of: tree, into: slot.old, handles: handles)
        if !merge.isWhole { commit.mixedRecords += 1 }
        let identifier = tree.entries[index].identifier
        let content = RecordContent(
            nameSpace: .node, identifier: identifier, shape: merge.shape,
            children: merge.children, values: merge.values)
        if try commit.put(content, at: slot, in: &transaction) {
            commit.changes.write(identifier)
        }
        if tree.entries[index].isOnCycle {
            // A write is an access. Without a stamp the record would be the first to be evicted.
            let stamp = commit.states.stamp
            commit.knownCycles.noteNewCycle()
            try commit.states.update(slot.handle, in: transaction) { entry in
                entry.flags.insert(.onCycle)
                entry.stamp = stamp
            }
        }
        // Stored fields that the tree lacks may lead back to a record of the tree, and so may
        // fields of several occurrences.
        if merge.keepsChildren || tree.isMixed(at: index) { commit.suspectCycle(at: slot.handle) }
        return merge.children
    }

    // MARK: - Locations

    /// Where the nodes of a tree go, and which of their records have to be written.
    private struct RecordLocations {
        /// By index in the tree.
        var handles: [Handle] = []
        /// The nodes to write, in the order of the tree: those whose records differ, or all nodes
        /// if the tree may lose children.
        var changed: [Change] = []

        struct Change {
            let index: Int
            /// The stored record.
            var old: Record?
        }
    }

    private func locate(
        _ tree: FlattenedTree, _ earlier: [Handle], in transaction: inout WriteTransaction
    ) throws -> RecordLocations {
        var locations = RecordLocations()
        // A node that equals its record needs no write, even if it merges. With several
        // projections, mixed occurrences or rules, only a merge tells whether the record changes.
        guard !tree.mayLoseChildren else {
            let bound = try tree.entries.indices.map { try bind(tree, $0, in: &transaction) }
            locations.handles = bound.map(\.handle)
            for index in tree.entries.indices {
                try addChange(
                    at: index, isNew: bound[index].isNew, of: tree, to: &locations,
                    in: &transaction)
            }
            return locations
        }
        let walk = try walk(tree, earlier, in: &transaction)
        locations.handles = walk.steps.map(\.handle)
        for index in tree.entries.indices where !walk.steps[index].likeness.isContent {
            try addChange(
                at: index, isNew: walk.steps[index].isNew, of: tree, to: &locations,
                in: &transaction)
        }
        let count = locations.changed.count
        // A record that was not looked at refers to the earlier records of its children. Once one
        // of these has another handle, or damage was met, every record is looked at.
        if walk.hasEarlier, commit.needsRecount || !walk.hasEarlierHandles(locations.handles) {
            for index in tree.entries.indices where walk.steps[index].isEarlier {
                try addChange(at: index, isNew: false, of: tree, to: &locations, in: &transaction)
            }
        }
        // The handles of all children are known only now.
        for index in tree.entries.indices
        where walk.steps[index].likeness.isContent && !walk.steps[index].isEarlier {
            guard !walk.hasChildren(of: tree, at: index, locations.handles) else { continue }
            try addChange(
                at: index, isNew: false, of: tree, to: &locations, in: &transaction)
        }
        if locations.changed.count > count { locations.changed.sort { $0.index < $1.index } }
        return locations
    }

    /// Adds a node whose record has to be written, with the stored record. The handle changes where
    /// the index leads to another node's record.
    private func addChange(
        at index: Int, isNew: Bool, of tree: FlattenedTree, to locations: inout RecordLocations,
        in transaction: inout WriteTransaction
    ) throws {
        var change = RecordLocations.Change(index: index)
        if !isNew {
            let slot = try commit.slot(
                .node, tree.entries[index].identifier, boundTo: locations.handles[index],
                in: &transaction)
            locations.handles[index] = slot.handle
            change.old = slot.old
        }
        locations.changed.append(change)
    }

    private func bind(
        _ tree: FlattenedTree, _ index: Int, in transaction: inout WriteTransaction
    ) throws -> (handle: Handle, isNew: Bool) {
        try commit.index.bind(.node, tree.entries[index].identifier, in: &transaction)
    }

    // MARK: - The walk

    /// The stored records that a walk through a tree has found.
    private struct Walk {
        struct Step {
            var handle = Handle(0)
            var isNew = false
            /// Whether the record was not looked at, because the earlier tree has an equal node.
            var isEarlier = false
            /// The record that the node has in the earlier tree, if that was asked.
            var earlier: Handle?
            /// What the stored record has in common with the node.
            var likeness = Likeness.none
            /// Where the children of the stored record begin in `children`.
            var start = 0
            /// The handle to which the record of this node's first parent refers in its place.
            var guess: Handle?
        }

        /// By index in the tree.
        var steps: [Step]
        /// The children of the stored records.
        var children: [Handle] = []
        /// Whether there are records that were not looked at.
        var hasEarlier = false
        /// The number of each of the tree's shapes; nil for a shape without one.
        let shapeNumbers: [UInt64?]

        init(_ count: Int, shapeNumbers: [UInt64?]) {
            self.shapeNumbers = shapeNumbers
            steps = Array(repeating: Step(), count: count)
            children.reserveCapacity(count)
        }

        /// Returns whether a stored record refers to exactly the children of its node.
        func hasChildren(of tree: FlattenedTree, at index: Int, _ handles: [Handle]) -> Bool {
            var position = steps[index].start
            for number in tree.entries[index].first.children {
                guard children[position] == handles[tree.children[number]] else { return false }
                position += 1
            }
            return true
        }

        /// Returns whether all nodes that the earlier tree has still have their records there.
        func hasEarlierHandles(_ handles: [Handle]) -> Bool {
            zip(steps, handles).allSatisfy { step, handle in
                step.earlier == nil || step.earlier == handle
            }
        }

        /// Removes the children of the last stored record.
        mutating func removeChildren(of index: Int) {
            let count = children.count - steps[index].start
            if count > 0 { children.removeLast(count) }
        }

        /// Assumes that the children of the last stored record are the records of its node's
        /// children.
        mutating func guessChildren(of tree: FlattenedTree, at index: Int) {
            var position = steps[index].start
            for number in tree.entries[index].first.children where position < children.count {
                let child = tree.children[number]
                if child > index, steps[child].guess == nil {
                    steps[child].guess = children[position]
                }
                position += 1
            }
        }
    }

    /// Gives every node its handle, in the order of the tree, and compares the nodes with the
    /// stored records.
    private func walk(
        _ tree: FlattenedTree, _ earlier: [Handle], in transaction: inout WriteTransaction
    ) throws -> Walk {
        let index = commit.index
        // In a tree with nodes that merge, a later occurrence may have changed a node after the
        // flattener has found it equal.
        let earlier = tree.earlierNodes.isEmpty || tree.merges ? [] : earlier
        var walk = Walk(tree.count, shapeNumbers: tree.shapes.map { commit.shapes.number(of: $0) })
        for node in tree.entries.indices {
            let known = earlier.isEmpty ? EarlierTree.Node() : tree.earlierNodes[node]
            if known.isEqual, !tree.entries[node].isOnCycle {
                walk.steps[node].handle = earlier[Int(known.index)]
                walk.steps[node].isEarlier = true
                walk.hasEarlier = true
                walk.steps[node].likeness = .content
                continue
            }
            walk.steps[node].start = walk.children.count
            let guess = walk.steps[node].guess.flatMap { index.verified.contains($0) ? $0 : nil }
            var likeness = Likeness.none
            if let guess { likeness = try compare(tree, node, at: guess, &walk) }
            var bound = (handle: guess ?? Handle(0), isNew: false)
            if !likeness.isContent {
                bound = try bind(tree, node, in: &transaction)
                if bound.isNew {
                    likeness = .none
                    commit.states.reserveCapacity(tree.count - node)
                } else if bound.handle != guess {
                    likeness = try compare(tree, node, at: bound.handle, &walk)
                    if likeness.isContent { index.verified.insert(bound.handle) }
                }
            }
            if !likeness.isNone { walk.guessChildren(of: tree, at: node) }
            if known.index >= 0 { walk.steps[node].earlier = earlier[Int(known.index)] }
            walk.steps[node].handle = bound.handle
            walk.steps[node].isNew = bound.isNew
            // A node on a cycle is always written, because its flag and its stamp have to be set.
            walk.steps[node].likeness =
                tree.entries[node].isOnCycle && likeness.isContent ? .identifier : likeness
        }
        return walk
    }

    /// Compares a node with the record of a handle. Appends the record's children to the walk.
    private func compare(
        _ tree: FlattenedTree, _ index: Int, at handle: Handle, _ walk: inout Walk
    ) throws -> Likeness {
        let number = walk.shapeNumbers[tree.entries[index].first.shape]
        var likeness = Likeness.none
        walk.removeChildren(of: index)
        do {
            if let record = try commit.records.find(handle) {
                likeness = try withExtendedLifetime(record.owner) {
                    try tree.likeness(
                        of: record.reader, at: handle, to: index, shapeNumber: number,
                        children: &walk.children)
                }
            }
        } catch is FormatError {
            likeness = .none
        }
        if likeness.isNone { walk.removeChildren(of: index) }
        return likeness
    }
}
