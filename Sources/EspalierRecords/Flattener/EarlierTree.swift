/// The tree that an earlier write of the same entry was flattened to. The flattener copies from it
/// the subtrees of models that have not changed.
///
///     earlier tree        new tree
///     Feed                Feed        walked: a post was added
///       Post:1              Post:3    walked: it is new
///         User:1              User:1  copied
///       Post:2              Post:1    walked, because the tree has User:1 already
///         User:2            Post:2    copied, with User:2
///         User:1
///
/// The flattener looks up each node of the new tree by its identifier. If the earlier tree has the
/// node, and both models have the same encoding, the flattener copies the node and all nodes below
/// it, which stand one after the other in the earlier tree. The result has to be the tree that a
/// walk through all models makes. So the flattener copies a subtree only if
///
/// - the new tree has no node of it yet, because the first occurrence of a node counts;
/// - all other nodes to which the subtree refers are in the new tree already, the same with
///   everything below them. Otherwise their occurrences in the subtree could be contradictions;
/// - it begins no deeper than in the earlier tree, so that it is no deeper than a tree may be.
///
/// The flattener also notes which of the nodes that it walks have the same record as in the earlier
/// tree.
///
/// The tree does not change, and all threads may use it.
package final class EarlierTree: Sendable {
    package let tree: FlattenedTree
    fileprivate let nodes: NodeTable
    fileprivate let lastShapes: LastShapes
    /// By node. Empty if the flattener has noted none: the tree is then the first of its entry.
    fileprivate let subtrees: [Subtree]
    /// The models by node. Nil where a model can't be compared, and for the nodes of a small
    /// subtree that was copied, except for the first. If that model changes, the others are walked.
    fileprivate let models: [EarlierModel?]
    /// An estimate of the memory that the tree takes in addition to its drafts.
    package let ownBytes: Int

    fileprivate init(
        _ tree: FlattenedTree, nodes: NodeTable, lastShapes: LastShapes, subtrees: [Subtree],
        models: [EarlierModel?], modelBytes: Int
    ) {
        self.tree = tree
        self.nodes = nodes
        self.lastShapes = lastShapes
        self.subtrees = subtrees
        self.models = models
        ownBytes =
            nodes.byteCount + subtrees.count * (MemoryLayout<Subtree>.stride + 8) + modelBytes
    }

    /// A node of the new tree, as the earlier tree has it.
    package struct Node: Sendable {
        /// The index in the earlier tree; -1 if the identifier is not there.
        package fileprivate(set) var index: Int32 = -1
        /// Whether both trees have the same record of it.
        package fileprivate(set) var isEqual = false

        package init() {}

        fileprivate init(_ index: Int, isEqual: Bool = false) {
            self.index = Int32(truncatingIfNeeded: index)
            self.isEqual = isEqual
        }
    }

    /// The subtree of a node: the nodes that the tree met for the first time in it. They stand one
    /// after the other, and so do their values and children.
    ///
    /// While the node is being walked, `byteCount` and `comparisons` are those of the tree before
    /// the node, and the other counts are 0.
    fileprivate struct Subtree: Sendable {
        var nodeCount: Int32 = 0
        var values: Int32
        var valueCount: Int32 = 0
        var children: Int32
        var childCount: Int32 = 0
        /// The bytes that count for the limit on a tree.
        var byteCount: Int32
        /// How deep the node stands.
        let depth: Int32
        /// The later occurrences of nodes that were compared in it.
        var comparisons: ContradictionCount.Comparisons

        /// What a comparison of its model with another one may cost, in nodes.
        var cost: Int { Int(nodeCount) + comparisons.count + Int(byteCount) / 64 }
    }

    /// The cost of a comparison of all models.
    fileprivate var cost: Int { tree.count + tree.byteCount / 64 }
}

/// A model in memory, with which another one can be compared.
///
/// `@unchecked` because the class has subclasses. All of its properties are constants.
package class EarlierModel: @unchecked Sendable {
    /// An estimate of the memory that it takes without its text and arrays.
    let byteCount: Int

    fileprivate init(byteCount: Int) { self.byteCount = byteCount }
}

/// A model of a type that may tell what it writes. See `FieldValue.hasSameEncoding(as:)`.
package final class ComparableModel<Model: Sendable>: EarlierModel, @unchecked Sendable {
    package let model: Model

    package init(_ model: Model) {
        self.model = model
        super.init(byteCount: MemoryLayout<Model>.stride + 32)
    }
}

// MARK: - Flattening

/// What one flattening has taken from an earlier tree so far.
struct Reuse {
    fileprivate var earlier: EarlierTree?
    /// By node of the earlier tree: the node of the new tree; -1 where it has none yet.
    fileprivate var places: [Int32] = []
    /// By node of the earlier tree: whether the new tree has the same node, with everything below.
    fileprivate var isWhole: [Bool] = []
    /// By node of the new tree.
    fileprivate var nodes: [EarlierTree.Node] = []
    /// By node of the new tree. A second write of an entry notes them, for a third one.
    fileprivate var subtrees: [EarlierTree.Subtree] = []
    fileprivate var models: [EarlierModel?] = []
    fileprivate var modelBytes = 0
    /// What the comparisons may have cost that led to no copy, see `Subtree.cost`. Where such nodes
    /// are nested, each comparison may go through all nodes below.
    fileprivate var vainCost = 0
    /// If a copied subtree has at most this many nodes, only the model of its first node is kept.
    fileprivate static let smallSubtree = 16
    /// Whether the next flattening may need this tree.
    var isKept = false

    /// Whether there is an earlier tree.
    var isOn: Bool { earlier != nil }

    /// Returns the node of the new tree that is a node of the earlier one; nil if it has none yet.
    @inline(__always)
    func node(at index: Int) -> Int? { places[index] < 0 ? nil : Int(places[index]) }

    /// Notes that nodes of the earlier tree were copied to the place that begins at `node`.
    fileprivate mutating func copy(
        _ range: Range<Int>, of earlier: EarlierTree, to node: Int, values: Int, children: Int
    ) {
        subtrees.append(contentsOf: earlier.subtrees[range])
        for (index, copy) in zip(range, node...) {
            places[index] = Int32(truncatingIfNeeded: copy)
            isWhole[index] = true
            nodes.append(EarlierTree.Node(index, isEqual: true))
            subtrees[copy].values &+= Int32(truncatingIfNeeded: values)
            subtrees[copy].children &+= Int32(truncatingIfNeeded: children)
        }
        models.append(nil)
        let rest = range.dropFirst()
        guard range.count > Self.smallSubtree else {
            return models.append(contentsOf: repeatElement(nil, count: rest.count))
        }
        models.append(contentsOf: earlier.models[rest])
        for model in earlier.models[rest] { modelBytes += model?.byteCount ?? 0 }
        // Their text and arrays may belong to them alone.
        modelBytes += 3 * Int(earlier.subtrees[range.lowerBound].byteCount)
    }
}

extension Flattener.State {
    /// Makes the flattener copy from an earlier tree. Called before the first value.
    mutating func begin(with earlier: EarlierTree?) {
        reuse.isKept = true
        guard let earlier else { return }
        reuse.earlier = earlier
        // The types and shapes of the new tree begin with those of the earlier one.
        lastShapes = earlier.lastShapes
        reuse.places = Array(repeating: -1, count: earlier.tree.count)
        reuse.isWhole = Array(repeating: false, count: earlier.tree.count)
        // A little more than the earlier tree has, and no more than for any tree.
        let size = TreeSizes.Size(of: earlier.tree)
        reuse.nodes.reserveCapacity(size.nodes + 8)
        reuse.subtrees.reserveCapacity(size.nodes + 8)
        reuse.models.reserveCapacity(size.nodes + 8)
        tree.entries.reserveCapacity(size.nodes + 8)
        tree.values.reserveCapacity(size.values + 1_024)
        tree.children.reserveCapacity(size.children + 16)
    }

    // This function and the next one change nothing. They are `mutating` because the compiler
    // copies the whole state for a call of a function that is not.
    /// Returns the index of a node in the earlier tree; nil if it is not there.
    @inline(__always)
    mutating func earlierIndex(of identifier: String) -> Int? {
        guard let earlier = reuse.earlier else { return nil }
        return earlier.nodes.node(of: identifier, in: earlier.tree.entries)
    }

    /// Returns the earlier model of a node, if its subtree may be copied should the models be the
    /// same.
    mutating func earlierModel(at index: Int, projection: String) -> EarlierModel? {
        guard let earlier = reuse.earlier, index < earlier.models.count,
            let model = earlier.models[index],
            reuse.places[index] < 0, reuse.vainCost <= 2 * earlier.cost
        else { return nil }
        // The models of a whole write were compared before.
        guard earlier.subtrees[index].nodeCount < earlier.tree.count,
            earlier.subtrees[index].depth >= depth,
            earlier.tree.type(at: index).hasSameBytes(as: projection),
            stack.hasSpace(toCompare: earlier.tree.levels - depth)
        else { return nil }
        return model
    }

    /// Notes that two models of a node were compared, and that the node is not copied.
    mutating func noteVainComparison(at index: Int) {
        guard let earlier = reuse.earlier else { return }
        reuse.vainCost += earlier.subtrees[index].cost
    }

    /// Copies the subtree of a node. Returns the node, or nil if the models have to be walked.
    ///
    /// - Parameter model: The model of the node. It takes the place of the earlier one, which may
    ///   share no memory with the models of the app.
    mutating func copySubtree(
        at index: Int, _ limits: TreeLimits, as model: EarlierModel?
    ) -> Int? {
        guard let earlier = reuse.earlier else { return nil }
        let subtree = earlier.subtrees[index]
        let range = index..<index + Int(subtree.nodeCount)
        let children = Int(subtree.children)..<Int(subtree.children + subtree.childCount)
        guard range.allSatisfy({ reuse.places[$0] < 0 }),
            earlier.tree.children[children].allSatisfy({ $0 >= index || reuse.isWhole[$0] })
        else {
            noteVainComparison(at: index)
            return nil
        }
        let node = tree.count
        // A walk fails where it reaches the limit.
        guard node + range.count <= limits.maximumNodes,
            tree.byteCount + Int(subtree.byteCount) <= limits.maximumBytes
        else { return nil }
        tree.byteCount += Int(subtree.byteCount)
        tree.levels = max(tree.levels, earlier.tree.levels)
        contradictions.add(subtree.comparisons, inTreeOf: node + range.count, tree.byteCount)
        let values = Int(subtree.values)..<Int(subtree.values + subtree.valueCount)
        let valueOffset = tree.values.count - values.lowerBound
        let childOffset = tree.children.count - children.lowerBound
        tree.values.append(contentsOf: earlier.tree.values[values])
        for child in earlier.tree.children[children] {
            tree.children.append(child >= index ? child - index + node : Int(reuse.places[child]))
        }
        tree.entries.append(contentsOf: earlier.tree.entries[range])
        for copy in node..<tree.count {
            tree.entries[copy].first.move(values: valueOffset, children: childOffset)
        }
        reuse.copy(range, of: earlier, to: node, values: valueOffset, children: childOffset)
        if let model { noteModel(model, of: node) }
        return node
    }

    // MARK: Walked nodes

    /// Notes a node that was added to the tree.
    ///
    /// - Parameter index: The index in the earlier tree; nil if the node is not there.
    @inline(never)
    mutating func noteNode(at index: Int?) {
        if let index { reuse.places[index] = Int32(truncatingIfNeeded: tree.count - 1) }
        reuse.nodes.append(EarlierTree.Node(index ?? -1))
        reuse.models.append(nil)
        reuse.subtrees.append(
            EarlierTree.Subtree(
                values: Int32(truncatingIfNeeded: tree.values.count),
                children: Int32(truncatingIfNeeded: tree.children.count),
                byteCount: Int32(truncatingIfNeeded: tree.byteCount),
                depth: Int32(truncatingIfNeeded: depth), comparisons: contradictions.comparisons))
    }

    /// Notes the model of a node that is being walked.
    mutating func noteModel(_ model: EarlierModel, of node: Int) {
        reuse.models[node] = model
        reuse.modelBytes += model.byteCount
    }

    /// Notes that a node, which is replaced, and everything below it were walked.
    @inline(never)
    mutating func noteEnd(of node: Int) {
        let begin = reuse.subtrees[node]
        reuse.subtrees[node].nodeCount = Int32(truncatingIfNeeded: tree.count - node)
        reuse.subtrees[node].valueCount =
            Int32(truncatingIfNeeded: tree.values.count) &- begin.values
        reuse.subtrees[node].childCount =
            Int32(truncatingIfNeeded: tree.children.count) &- begin.children
        reuse.subtrees[node].byteCount =
            Int32(truncatingIfNeeded: tree.byteCount) &- begin.byteCount
        reuse.subtrees[node].comparisons = contradictions.comparisons - begin.comparisons
        compareWithEarlier(node)
    }

    /// Compares a node that was walked with the earlier one.
    private mutating func compareWithEarlier(_ node: Int) {
        let index = Int(reuse.nodes[node].index)
        guard index >= 0, let earlier = reuse.earlier else { return }
        let (part, other) = (tree.entries[node].first, earlier.tree.entries[index].first)
        guard part.type == other.type, part.shape == other.shape, part.isCase == other.isCase,
            part.children.count == other.children.count,
            tree.values[part.values] == earlier.tree.values[other.values]
        else { return }
        var isWhole = true
        for (child, known) in zip(
            tree.children[part.children], earlier.tree.children[other.children])
        {
            guard reuse.places[known] == child else { return }
            isWhole = isWhole && reuse.isWhole[known]
        }
        reuse.nodes[node].isEqual = true
        reuse.isWhole[index] = isWhole
    }

    // MARK: The end

    /// Returns the tree for the next flattening; nil if nothing can be copied from it.
    mutating func finishReuse(_ finished: inout FlattenedTree) -> EarlierTree? {
        defer { reuse = Reuse() }
        finished.earlierNodes = reuse.nodes
        guard reuse.isKept, finished.canBeCopied else { return nil }
        var table = nodes
        if let earlier = reuse.earlier {
            table = NodeTable(capacity: finished.count)
            table.insert(nodes) { $0 }
            table.insert(earlier.nodes) { reuse.node(at: $0) }
        }
        var tree = finished
        tree.earlierNodes = []
        return EarlierTree(
            tree, nodes: table, lastShapes: lastShapes, subtrees: reuse.subtrees,
            models: reuse.models, modelBytes: reuse.modelBytes)
    }
}

extension FlattenedTree {
    /// Whether a later flattening may copy nodes: each has one draft, which depends on nothing but
    /// its model.
    fileprivate var canBeCopied: Bool {
        contradictions == 0 && hasFewOccurrences && !merges && !mayLoseChildren && !expires
            && explicitNulls.isEmpty && !hasCycles
            && byteCount < Int32.max / 4 && count < Int32.max / 4
            // Each tree has the shapes and types of the earlier ones, too.
            && shapes.count <= 256 && types.count <= 256
    }
}
