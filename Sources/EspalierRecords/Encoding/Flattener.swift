/// Takes model trees apart into drafts of records. Pure: no file, no lock, no clock.
///
/// The first occurrence of an identifier in pre-order gives the record for its projection; later ones with the same
/// projection are references to it and are not walked, which is what keeps trees that share nodes linear. Other
/// projections add theirs. A node met inside itself is flagged as lying on a cycle.
package final class Flattener {
    // immutable
    private let limits: TreeLimits
    private let shapes: ShapeInterner
    let bridge = EncodingBridge()

    // confined to the thread that flattens; no access lasts while a model encodes itself
    private let confined = Confined(State())

    private struct State {
        var tree = FlattenedTree()
        var places = NodeTable()
        var path: [Int] = []
        var depth = 0
        var lastShapes = LastShapes()
        var spares: [ValueEncoder] = []
        /// Why a node could not be written: the tree has a hole where it stands, even if a model swallows the error.
        var failure: FlattenError?
        var stack = StackSpace()
    }

    private var state: State {
        @inline(__always) _read { yield confined.value }
        @inline(__always) _modify { yield &confined.value }
    }

    /// The identifier of the node being written.
    var innermostIdentifier: String? { state.path.last.map { state.tree.nodes[$0].identifier } }

    package init(limits: TreeLimits = TreeLimits(), shapes: ShapeInterner = ShapeInterner()) {
        self.limits = limits
        self.shapes = shapes
    }

    /// Everything flattened so far; the flattener starts over.
    package func finish() -> FlattenedTree {
        defer {
            state.tree = FlattenedTree()
            state.places = NodeTable()
            state.failure = nil
        }
        return state.tree
    }

    /// Flattens one value that stands outside a node.
    package func value(_ body: (ValueEncoder) throws -> Void) throws -> ValueDraft {
        let encoder = takeEncoder()
        // Encoders hold the flattener: kept beyond the value, they would keep each other alive for good.
        defer { state.spares.removeAll() }
        try body(encoder)
        if let failure = state.failure { throw failure }
        try count(bytes: encoder.writer.count)
        return ValueDraft(bytes: encoder.writer.bytes, children: encoder.children)
    }

    /// The index of the node of `identifier`, its fields written by `fields` unless they are known already.
    func node(
        identifier: String, projection: String, _ fields: (inout RecordEncoder) throws -> Void
    ) throws -> Int {
        let place = state.places.place(of: identifier, in: state.tree.nodes)
        if let known = place.node {
            if state.path.contains(known) { state.tree.nodes[known].isOnCycle = true }
            if state.tree.nodes[known].holds(projection) { return known }
        }
        let type = state.lastShapes.place(of: projection)
        // Its place is taken before its fields are walked: pre-order, and known to whatever refers back to it.
        let draft = ProjectionDraft(type: projection, shape: state.lastShapes[type] ?? Shape.none)
        let index: Int
        var slot: Int?
        if let known = place.node {
            index = known
            slot = state.tree.nodes[known].others.count
            state.tree.nodes[known].others.append(draft)
            state.tree.hasProjections = true
        } else {
            index = state.tree.nodes.count
            guard index < limits.maximumNodes else { throw FlattenError.tooManyNodes(limit: limits.maximumNodes) }
            state.places.take(place, for: index)
            state.tree.nodes.append(NodeDraft(identifier: identifier, first: draft))
            try count(bytes: identifier.utf8.count)
        }
        do {
            try write(fields, of: projection, type, to: index, slot)
        } catch {
            let reason = error as? FlattenError ?? .modelFailed(type: projection, reason: "\(error)")
            state.failure = state.failure ?? reason
            throw error
        }
        return index
    }

    /// Writes the first projection of the node at `index`, or the one in `slot` of the others.
    private func write(
        _ fields: (inout RecordEncoder) throws -> Void, of projection: String, _ type: Int, to index: Int, _ slot: Int?
    ) throws {
        let encoder = takeEncoder()
        defer { state.spares.append(encoder) }
        state.path.append(index)
        defer { state.path.removeLast() }
        let expected = state.lastShapes[type]
        var record = RecordEncoder(node: encoder, expected: expected)
        try nested { try fields(&record) }
        let shape = try record.shape(type: projection, in: shapes)
        if shape !== expected { state.lastShapes[type] = shape }
        try count(bytes: encoder.writer.count + encoder.children.count * 2)
        state.tree.nodes[index].fill(
            slot, shape: shape, values: encoder.writer.copy(), children: encoder.copyOfChildren())
        if record.isCase { state.tree.nodes[index].markCase(slot) }
    }

    /// One level down.
    @inline(__always)
    func nested<R>(_ body: () throws -> R) throws -> R {
        try enter()
        defer { state.depth -= 1 }
        return try body()
    }

    private func enter() throws {
        let depth = state.depth
        guard depth < limits.maximumDepth, !StackSpace.isDue(at: depth) || state.stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: min(depth, limits.maximumDepth))
        }
        state.depth += 1
    }

    /// Throws unless `levels` more may be entered outside of `nested`: containers of users' code, which recurses by itself.
    func allow(levels: Int) throws {
        guard state.depth + levels < limits.maximumDepth, state.stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: limits.maximumDepth)
        }
    }

    private func count(bytes: Int) throws {
        state.tree.byteCount += bytes
        guard state.tree.byteCount <= limits.maximumBytes else {
            throw FlattenError.treeTooLarge(limit: limits.maximumBytes)
        }
    }

    private func takeEncoder() -> ValueEncoder {
        guard let spare = state.spares.popLast() else { return ValueEncoder(self) }
        spare.reset()
        return spare
    }
}
