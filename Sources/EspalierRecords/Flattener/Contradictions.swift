// A contradiction is a node that occurs again in one write that replaces it, with other content
// than the first time. The record gets the content of the first occurrence, and the flattener
// counts each later one that differs.
//
//     "author": {"id": 1, "name": "Ada"}           the record of User:1: name "Ada"
//     "author": {"id": 1, "name": "Eve"}           a contradiction
//
// To find contradictions, the flattener encodes each later occurrence once more and compares it
// with the first. It adds nothing to the tree. An occurrence inside of a later one is compared too.
// A tree may have a few comparisons for each of its nodes, and a few compared bytes for each of its
// own: values that share their children may have exponentially many occurrences. What is not
// compared is not counted, so the count is a lower bound then.

/// The contradictions that a flattening has met.
struct ContradictionCount {
    /// The comparisons that any tree may have, however small.
    private static let leastComparisons = 1_024
    /// The comparisons that a tree may have in addition for each of its nodes.
    private static let comparisonsPerNode = 4

    /// The bytes that may be encoded for comparisons, whatever the size of the tree. The comparison
    /// that reaches the limit is still finished.
    private static let leastBytes = 1 << 20
    /// The bytes that may be encoded in addition for each byte of the tree.
    private static let bytesPerByte = 4

    /// Comparisons, and the bytes that were encoded for them.
    struct Comparisons {
        fileprivate(set) var count = 0
        fileprivate(set) var bytes = 0

        static func - (left: Comparisons, right: Comparisons) -> Comparisons {
            Comparisons(count: left.count - right.count, bytes: left.bytes - right.bytes)
        }
    }

    /// The number of occurrences that differ from the first one of their node.
    private(set) var found = 0
    private(set) var comparisons = Comparisons()
    /// Whether an occurrence was not walked, or not to its end.
    var isIncomplete = false
    /// The number of comparisons that are being made, one inside of the other.
    private(set) var depth = 0
    /// Occurrences met inside of the first one of their node, which is not complete yet. They are
    /// by node, in the order in which they were met.
    private var pending: [Int: [Occurrence]] = [:]
    /// The objects that were compared. A node that merges may be walked all the same.
    private var objects = KnownObjects()

    var isComparing: Bool { depth > 0 }
    var hasPending: Bool { !pending.isEmpty }

    /// Begins a comparison in a tree of `nodeCount` nodes and `byteCount` bytes. Returns false if
    /// the tree has had all the comparisons that it may have.
    mutating func begin(inTreeOf nodeCount: Int, _ byteCount: Int) -> Bool {
        guard mayCompare(inTreeOf: nodeCount, byteCount) else { return false }
        comparisons.count += 1
        depth += 1
        return true
    }

    private func mayCompare(inTreeOf nodeCount: Int, _ byteCount: Int) -> Bool {
        comparisons.count < Self.leastComparisons + Self.comparisonsPerNode * nodeCount
            && comparisons.bytes < Self.leastBytes + Self.bytesPerByte * byteCount
    }

    /// Adds the comparisons that an earlier flattening has made in a subtree without a
    /// contradiction.
    mutating func add(_ others: Comparisons, inTreeOf nodeCount: Int, _ byteCount: Int) {
        comparisons.count += others.count
        comparisons.bytes += others.bytes
        if others.count > 0, !mayCompare(inTreeOf: nodeCount, byteCount) { isIncomplete = true }
    }

    /// Ends a comparison for which `byteCount` bytes were encoded.
    mutating func end(_ byteCount: Int) {
        depth -= 1
        comparisons.bytes += byteCount
    }

    mutating func count() { found += 1 }

    /// Returns whether every occurrence was walked, and nodes occurred again no more often than a
    /// tree may have comparisons.
    ///
    /// - Parameter merging: The number of later occurrences of nodes that merge.
    func areFew(inTreeOf nodeCount: Int, merging: Int) -> Bool {
        !isIncomplete && merging <= Self.leastComparisons + Self.comparisonsPerNode * nodeCount
    }

    /// Returns false for an object that was asked about before.
    mutating func isNew(_ object: AnyObject?) -> Bool { objects.isNew(object) }

    mutating func keep(_ occurrence: Occurrence) {
        pending[occurrence.node, default: []].append(occurrence)
    }

    /// Removes and returns the pending occurrences of a node and type.
    mutating func takePending(of node: Int, type: Int) -> [Occurrence] {
        guard let known = pending.removeValue(forKey: node) else { return [] }
        let others = known.filter { $0.type != type }
        if !others.isEmpty { pending[node] = others }
        return known.filter { $0.type == type }
    }
}

extension FlattenedTree {
    /// Returns whether an occurrence has the same fields, values and children as a projection.
    func holds(_ occurrence: Occurrence, in part: Part, of shape: Shape) -> Bool {
        occurrence.draft.shape == shape && occurrence.draft.values[...] == values[part.values]
            && occurrence.draft.children[...] == children[part.children]
    }
}

extension Flattener.State {
    /// Returns the place of a projection of a node that the tree has; nil if it lacks the node.
    mutating func knownPlace(of identifier: String, projection: String) -> Place? {
        let earlier = earlierIndex(of: identifier)
        let node =
            earlier.map { reuse.node(at: $0) } ?? nodes.place(of: identifier, in: tree.entries).node
        guard let node else { return nil }
        let type = lastShapes.place(of: projection)
        return Place(
            node: node, type: type, shape: lastShapes.shape(ofTypeAt: type),
            isNew: !tree.has(type, at: node))
    }

    /// Adds a node to the path, to compare an occurrence of it. Returns false if the occurrence
    /// stands inside of two others of the node, or if there were too many comparisons.
    mutating func beginComparison(of node: Int) -> Bool {
        guard path.lazy.filter({ $0 == node }).count <= 1,
            contradictions.begin(inTreeOf: tree.entries.count, tree.byteCount)
        else { return false }
        path.append(node)
        return true
    }

    /// Counts the occurrence that `encoder` has written if it differs from the first one. Keeps
    /// it if the first one is not complete yet.
    mutating func compare(
        _ encoder: ValueEncoder, _ shape: Shape, at place: Place, _ projection: String,
        _ shapes: ShapeInterner
    ) throws {
        let nulls = try encoder.takeExplicitNulls()
        var occurrence: Occurrence {
            Occurrence(
                number: 0, node: place.node, type: place.type,
                draft: ProjectionDraft(
                    type: projection, shape: shape, values: encoder.writer.bytes,
                    children: encoder.children, isCase: false, explicitNulls: nulls))
        }
        if let part = tree.filledPart(ofTypeAt: place.type, at: place.node) {
            let known = lastShapes.shapes[part.shape]
            if shape == known, nulls == tree.explicitNulls(of: part),
                tree.holds(encoder, in: part)
            {
                return
            }
            // Of a node that merges, only what the first occurrence lacks is lost.
            let isLost =
                try !place.merges
                || tree.draft(part, of: lastShapes).filled(
                    from: occurrence.draft, shapes,
                    by: traits[place.type].rules?.rules ?? [:]) != nil
            if isLost { contradictions.count() }
        } else if !place.merges, path.dropLast().contains(place.node) {
            contradictions.keep(occurrence)
        }
    }

    /// Compares the occurrences that were met inside of the first one of their node.
    mutating func comparePending(at place: Place) {
        guard let part = tree.filledPart(ofTypeAt: place.type, at: place.node) else { return }
        let shape = lastShapes.shapes[part.shape]
        for occurrence in contradictions.takePending(of: place.node, type: place.type)
        where !tree.holds(occurrence, in: part, of: shape) {
            contradictions.count()
        }
    }
}
