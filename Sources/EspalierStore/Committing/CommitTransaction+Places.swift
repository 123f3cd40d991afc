import EspalierLMDB
import EspalierRecords

/// Where the nodes of a tree go, and which of their records are to be written.
struct RecordLocations {
    /// By index in the tree.
    var handles: [Handle] = []
    /// What does not say the same already, in the order of the tree.
    var changed: [Change] = []

    /// A node that is to be written.
    struct Change {
        let index: Int
        /// What stands there.
        var old: Record?
    }
}

// A tree that was stored before is found along itself: a record's children are, nearly always,
// those of the node, and where their names are known to lead to them the index is not asked. What a
// record says is compared where it stands.
extension CommitTransaction {
    func places(
        of tree: FlattenedTree, policy: WritePolicy, in transaction: inout WriteTransaction
    ) throws -> RecordLocations {
        var places = RecordLocations()
        guard policy == .replace && !tree.hasProjections else {
            let bound = try tree.entries.indices.map { try bind(tree, $0, in: &transaction) }
            places.handles = bound.map(\.handle)
            for index in tree.entries.indices {
                places.changed.append(RecordLocations.Change(index: index))
                if !bound[index].isNew {
                    try look(&places, places.changed.count - 1, tree, in: &transaction)
                }
            }
            return places
        }
        let walk = try find(tree, in: &transaction)
        places.handles = walk.steps.map(\.handle)
        for index in tree.entries.indices where !walk.steps[index].likeness.isContent {
            places.changed.append(RecordLocations.Change(index: index))
            if !walk.steps[index].isNew {
                try look(&places, places.changed.count - 1, tree, in: &transaction)
            }
        }
        let certain = places.changed.count
        for index in tree.entries.indices where walk.steps[index].likeness.isContent {
            guard !walk.hasChildren(of: tree, at: index, places.handles) else { continue }
            places.changed.append(RecordLocations.Change(index: index))
            try look(&places, places.changed.count - 1, tree, in: &transaction)
        }
        if places.changed.count > certain { places.changed.sort { $0.index < $1.index } }
        return places
    }

    private func bind(
        _ tree: FlattenedTree, _ index: Int, in transaction: inout WriteTransaction
    ) throws -> (handle: Handle, isNew: Bool) {
        try bind(.node, tree.entries[index].identifier, in: &transaction)
    }

    /// Looks at what stands under a handle. That changes where an index entry leads to another's
    /// record.
    private func look(
        _ places: inout RecordLocations, _ number: Int, _ tree: FlattenedTree,
        in transaction: inout WriteTransaction
    ) throws {
        let index = places.changed[number].index
        let place = try place(
            .node, tree.entries[index].identifier, boundTo: places.handles[index], in: &transaction)
        places.handles[index] = place.handle
        places.changed[number].old = place.old
    }

    // MARK: Finding

    /// What is found of a tree on the way through it.
    private struct Walk {
        /// What is found of a node.
        struct Step {
            var handle = Handle(0)
            var isNew = false
            var likeness = Likeness.none
            /// Where the children of its record begin.
            var start = 0
            /// What the parent that was met first refers to in its place.
            var guess: Handle?
        }

        /// By index in the tree.
        var steps: [Step]
        /// The children of the records found.
        var children: [Handle] = []
        /// Of the tree's shapes, as far as they have one.
        let shapeNumbers: [UInt64?]

        init(_ count: Int, shapeNumbers: [UInt64?]) {
            self.shapeNumbers = shapeNumbers
            steps = Array(repeating: Step(), count: count)
            children.reserveCapacity(count)
        }

        /// Whether a record that was found refers to just the nodes that it is to.
        func hasChildren(of tree: FlattenedTree, at index: Int, _ handles: [Handle]) -> Bool {
            var place = steps[index].start
            for number in tree.entries[index].first.children {
                guard children[place] == handles[tree.children[number]] else { return false }
                place += 1
            }
            return true
        }

        /// Forgets the children of the node met last.
        mutating func cutChildren(of index: Int) {
            let count = children.count - steps[index].start
            if count > 0 { children.removeLast(count) }
        }

        /// Takes the children of the record of the node met last for those of the node.
        mutating func guessChildren(of tree: FlattenedTree, at index: Int) {
            var place = steps[index].start
            for number in tree.entries[index].first.children where place < children.count {
                let child = tree.children[number]
                if child > index, steps[child].guess == nil { steps[child].guess = children[place] }
                place += 1
            }
        }
    }

    /// Gives every node its handle, in the order of the tree, and compares what has a record with
    /// that.
    private func find(_ tree: FlattenedTree, in transaction: inout WriteTransaction) throws -> Walk
    {
        var walk = Walk(tree.count, shapeNumbers: tree.shapes.map { shapes.number(of: $0) })
        // The records of a tree stand side by side.
        let stored = try SequentialReader(transaction.snapshot, keyspaces.nodes)
        for index in tree.entries.indices {
            walk.steps[index].start = walk.children.count
            let guess = walk.steps[index].guess.flatMap { names.contains($0) ? $0 : nil }
            var likeness = Likeness.none
            if let guess { likeness = try compare(tree, index, at: guess, &walk, by: stored) }
            var bound = (handle: guess ?? Handle(0), isNew: false)
            if !likeness.isContent {
                bound = try bind(tree, index, in: &transaction)
                if bound.isNew {
                    likeness = .none
                    counts.reserveCapacity(tree.count - index)
                } else if bound.handle != guess {
                    likeness = try compare(tree, index, at: bound.handle, &walk, by: stored)
                    if likeness.isContent { names.insert(bound.handle) }
                }
            }
            if !likeness.isNone { walk.guessChildren(of: tree, at: index) }
            walk.steps[index].handle = bound.handle
            walk.steps[index].isNew = bound.isNew
            // Its flag is to be set, and its time.
            walk.steps[index].likeness =
                tree.entries[index].isOnCycle && likeness.isContent ? .identifier : likeness
        }
        return walk
    }

    /// What the record of a handle has in common with the node met last, whose children are those
    /// of this record then.
    private func compare(
        _ tree: FlattenedTree, _ index: Int, at handle: Handle, _ walk: inout Walk,
        by stored: SequentialReader
    ) throws -> Likeness {
        let number = walk.shapeNumbers[tree.entries[index].first.shape]
        var likeness = Likeness.none
        walk.cutChildren(of: index)
        do {
            _ = try stored.withValue(handle.rawValue) { value in
                let record = ByteReader(lent: value)
                // One of several chunks is joined and read as any other that may have changed.
                guard try !Chunks.isFirst(record) else { return }
                likeness = try decompressed(record) {
                    try tree.likeness(
                        of: $0, at: handle, to: index, shapeNumber: number, children: &walk.children
                    )
                }
            }
        } catch is FormatError {
            likeness = .none
        }
        if likeness.isNone { walk.cutChildren(of: index) }
        return likeness
    }
}
