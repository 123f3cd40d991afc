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

    /// The number of occurrences that differ from the first one of their node.
    private(set) var found = 0
    private var comparisons = 0
    /// The bytes that were encoded for comparisons.
    private var bytes = 0
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
        guard comparisons < Self.leastComparisons + Self.comparisonsPerNode * nodeCount,
            bytes < Self.leastBytes + Self.bytesPerByte * byteCount
        else { return false }
        comparisons += 1
        depth += 1
        return true
    }

    /// Ends a comparison for which `byteCount` bytes were encoded.
    mutating func end(_ byteCount: Int) {
        depth -= 1
        bytes += byteCount
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
