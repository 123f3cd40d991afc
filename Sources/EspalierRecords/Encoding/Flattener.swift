/// Takes model trees apart into drafts of records. Pure: no file, no lock, no clock.
///
/// The first occurrence of an identifier in pre-order gives the record for its projection; later ones with the same
/// projection are references to it and are not walked, which is what keeps trees that share nodes linear. Other
/// projections add theirs. A node met inside itself is flagged as lying on a cycle.
package final class Flattener {
    private var tree = FlattenedTree()
    private var nodes: [Identifier: Int] = [:]
    private var path: [Int] = []
    private var depth = 0
    private var lastShapes: [String: Shape] = [:]
    private var spares: [ValueEncoder] = []
    /// Why a node could not be written: the tree has a hole where it stands, even if a model swallows the error.
    private var failure: FlattenError?
    private let limits: TreeLimits
    private let shapes: ShapeInterner
    private var stack = StackSpace()
    let bridge = EncodingBridge()

    /// The identifier of the node being written.
    var innermostIdentifier: String? { path.last.map { tree.nodes[$0].identifier } }

    package init(limits: TreeLimits = TreeLimits(), shapes: ShapeInterner = ShapeInterner()) {
        self.limits = limits
        self.shapes = shapes
    }

    /// Everything flattened so far; the flattener starts over.
    package func finish() -> FlattenedTree {
        defer {
            tree = FlattenedTree()
            nodes = [:]
            failure = nil
        }
        return tree
    }

    /// Flattens one value that stands outside a node.
    package func value(_ body: (ValueEncoder) throws -> Void) throws -> ValueDraft {
        let encoder = takeEncoder()
        // Encoders hold the flattener: kept beyond the value, they would keep each other alive for good.
        defer { spares.removeAll() }
        try body(encoder)
        if let failure { throw failure }
        try count(bytes: encoder.writer.count)
        return ValueDraft(bytes: encoder.writer.bytes, children: encoder.children)
    }

    /// The index of the node of `identifier`, its fields written by `fields` unless they are known already.
    func node(
        identifier: String, projection: String, _ fields: (inout RecordEncoder) throws -> Void
    ) throws -> Int {
        let index: Int
        if let known = nodes[Identifier(identifier)] {
            index = known
            if path.contains(known) { tree.nodes[known].isOnCycle = true }
            if tree.nodes[known].projections.contains(where: { $0.type == projection }) { return known }
        } else {
            index = tree.nodes.count
            guard index < limits.maximumNodes else { throw FlattenError.tooManyNodes(limit: limits.maximumNodes) }
            nodes[Identifier(identifier)] = index
            tree.nodes.append(NodeDraft(identifier: identifier))
            try count(bytes: identifier.utf8.count)
        }
        do {
            try write(fields, of: projection, to: index)
        } catch {
            let reason = error as? FlattenError ?? .modelFailed(type: projection, reason: "\(error)")
            failure = failure ?? reason
            throw error
        }
        return index
    }

    private func write(
        _ fields: (inout RecordEncoder) throws -> Void, of projection: String, to index: Int
    ) throws {
        // Its place is taken before its fields are walked: pre-order, and known to whatever refers back to it.
        let slot = tree.nodes[index].projections.count
        tree.nodes[index].projections.append(ProjectionDraft(type: projection, shape: Shape.none))
        let encoder = takeEncoder()
        defer { spares.append(encoder) }
        path.append(index)
        defer { path.removeLast() }
        var record = RecordEncoder(node: encoder, expected: lastShapes[projection])
        try nested { try fields(&record) }
        let shape = try record.shape(type: projection, in: shapes)
        lastShapes[projection] = shape
        try count(bytes: encoder.writer.count + encoder.children.count * 2)
        tree.nodes[index].projections[slot].shape = shape
        tree.nodes[index].projections[slot].values = encoder.writer.bytes
        tree.nodes[index].projections[slot].children = encoder.children
    }

    /// One level down.
    func nested<R>(_ body: () throws -> R) throws -> R {
        guard depth < limits.maximumDepth, !StackSpace.isDue(at: depth) || stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: min(depth, limits.maximumDepth))
        }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Throws unless `levels` more may be entered outside of `nested`: containers of users' code, which recurses by itself.
    func allow(levels: Int) throws {
        guard depth + levels < limits.maximumDepth, stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: limits.maximumDepth)
        }
    }

    private func count(bytes: Int) throws {
        tree.byteCount += bytes
        guard tree.byteCount <= limits.maximumBytes else {
            throw FlattenError.treeTooLarge(limit: limits.maximumBytes)
        }
    }

    private func takeEncoder() -> ValueEncoder {
        guard let spare = spares.popLast() else { return ValueEncoder(self) }
        spare.reset()
        return spare
    }
}
