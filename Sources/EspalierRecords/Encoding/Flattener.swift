import EspalierConfinement

/// Takes model trees apart into drafts of records. Pure: no file, no lock, no clock.
///
/// The first occurrence of an identifier in pre-order gives the record for its projection; later
/// ones with the same projection are references to it and are not walked, which is what keeps trees
/// that share nodes linear. Other projections add theirs. A node met inside itself is flagged as
/// lying on a cycle.
package final class Flattener {
    // immutable
    private let limits: TreeLimits
    private let shapes: ShapeInterner
    let bridge = EncodingBridge()

    // confined to the thread that flattens; no access lasts while a model encodes itself
    private let confined = Confined(State())

    private var state: State {
        @inline(__always) _read { yield confined.value }
        @inline(__always) _modify { yield &confined.value }
    }

    /// The identifier of the node being written.
    var innermostIdentifier: String? { state.path.last.map { state.tree.entries[$0].identifier } }

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
        state.tree.types = state.lastShapes.types
        state.tree.shapes = state.lastShapes.shapes
        shapes.sizes.note(state.tree)
        return state.tree
    }

    /// Flattens one value that stands outside a node.
    package func value(_ body: (ValueEncoder) throws -> Void) throws -> ValueDraft {
        let encoder = takeEncoder()
        // Encoders hold the flattener: kept beyond the value, they would keep each other alive for
        // good.
        defer { state.encoders.removeAll() }
        try body(encoder)
        if let failure = state.failure { throw failure }
        try state.count(bytes: encoder.writer.count, limits)
        return ValueDraft(bytes: encoder.writer.bytes, children: encoder.children)
    }

    /// The index of the node of `identifier`, its fields written by `fields` unless they are known
    /// already.
    func node(
        identifier: String, projection: String, _ fields: (inout RecordEncoder) throws -> Void
    ) throws -> Int {
        if state.tree.entries.isEmpty, let size = shapes.sizes.last(of: projection) {
            state.reserveCapacity(size)
        }
        // Its place is taken before its fields are walked: pre-order, and known to whatever refers
        // back to it.
        let place = try state.place(of: identifier, projection: projection, limits)
        guard place.isNew else { return place.node }
        do {
            try write(fields, of: projection, to: place)
        } catch {
            let reason =
                error as? FlattenError ?? .modelFailed(type: projection, reason: "\(error)")
            state.failure = state.failure ?? reason
            throw error
        }
        return place.node
    }

    @inline(__always)
    private func write(
        _ fields: (inout RecordEncoder) throws -> Void, of projection: String, to place: State.Place
    ) throws {
        let encoder = takeEncoder()
        defer { state.path.removeLast() }
        var record = RecordEncoder(
            node: encoder, expected: state.lastShapes.expected(at: place.shape))
        try nested { try fields(&record) }
        // What is expected by now may be another: that of a node of the type further down.
        var shape = place.shape
        if !record.isAsExpected {
            shape = state.lastShapes.setShape(
                try record.shape(type: projection, in: shapes), ofTypeAt: place.type)
        }
        try state.fill(place, shape: shape, from: encoder, isCase: record.isCase, limits)
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
        guard depth < limits.maximumDepth, !StackSpace.isDue(at: depth) || state.stack.hasSpace()
        else {
            throw FlattenError.tooDeep(limit: min(depth, limits.maximumDepth))
        }
        state.depth += 1
    }

    /// Throws unless `levels` more may be entered outside of `nested`: containers of users' code,
    /// which recurses by itself.
    func allow(levels: Int) throws {
        guard state.depth + levels < limits.maximumDepth, state.stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: limits.maximumDepth)
        }
    }

    private func takeEncoder() -> ValueEncoder {
        let depth = state.path.count
        while state.encoders.count <= depth { state.encoders.append(ValueEncoder(self)) }
        let encoder = state.encoders[depth]
        encoder.reset()
        return encoder
    }
}
