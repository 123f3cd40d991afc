import EspalierConfinement

/// Flattens model trees into drafts of records. Pure: no file, no lock, no clock.
///
/// The first occurrence of an identifier in pre-order gives the record for its projection. Later
/// occurrences with the same projection are references to it. They are compared with it, up to
/// limits that grow with the tree (see `ContradictionCount`), so that trees that share nodes take
/// linear time. Other projections add their fields. A node met inside itself is flagged as lying on
/// a cycle.
///
/// Later occurrences of a node that merges are walked too, and the fields that the first lacks are
/// taken from them. The same object is walked once. Structs have no identity, so each of their
/// occurrences is walked, up to `TreeLimits.maximumLogicalNodes`.
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

    /// Which nodes of the tree merge. Set before the first value.
    package var policy: TreePolicy {
        get { state.policy }
        set { state.policy = newValue }
    }

    /// How old the records of the tree may be, in place of what their types say; nil if the types
    /// decide. Set before the first value.
    package var maxAge: Duration? {
        get { state.tree.maxAge.map { .seconds($0) } }
        set { state.tree.maxAge = newValue.map(MaxAge.seconds) }
    }

    /// The identifier of the node being written.
    var innermostIdentifier: String? { state.path.last.map { state.tree.entries[$0].identifier } }

    package init(limits: TreeLimits = TreeLimits(), shapes: ShapeInterner = ShapeInterner()) {
        self.limits = limits
        self.shapes = shapes
    }

    /// Returns the tree of all nodes flattened so far, and starts over.
    package func finish() -> FlattenedTree {
        let tree = state.finish()
        shapes.sizes.record(tree)
        return tree
    }

    /// Makes the flattener copy what has not changed from the tree of an earlier write, which had
    /// the same policy, and keep what the next write needs to do the same. Called before the first
    /// value.
    package func reuse(_ earlier: EarlierTree?) { state.begin(with: earlier) }

    /// Returns the tree that was finished last, for the next write; nil if that write has to walk
    /// all models.
    package func takeEarlierTree() -> EarlierTree? { state.finished.take() }

    /// Flattens one value that stands outside a node.
    package func value(_ body: (ValueEncoder) throws -> Void) throws -> ValueDraft {
        let encoder = nextEncoder()
        // Encoders refer to the flattener: kept beyond the value, the two would keep each other
        // alive for good.
        defer { state.encoders.removeAll() }
        try body(encoder)
        if let failure = state.failure ?? state.unfinished { throw failure }
        try encoder.dropUnusedChildren()
        try state.count(bytes: encoder.writer.count, limits)
        return ValueDraft(bytes: encoder.writer.bytes, children: encoder.children)
    }

    /// Returns the index of the node of `identifier`. `fields` writes its fields unless the tree
    /// has them already. `object` returns the model if it is an object.
    ///
    /// - Parameters:
    ///   - isSame: Whether an earlier model of the node has the same encoding.
    ///   - model: Returns the model for a later comparison; nil if it can't be compared.
    func node(
        identifier: String, projection: String, object: () -> AnyObject? = { nil },
        traits: () -> TypeTraits = { TypeTraits() },
        isSame: (EarlierModel) -> Bool = { _ in false },
        model: () -> EarlierModel? = { nil },
        _ fields: (inout RecordEncoder) throws -> Void
    ) throws -> Int {
        if state.contradictions.isComparing {
            return compared(identifier, projection, object, fields)
        }
        let earlier = state.earlierIndex(of: identifier)
        if let earlier, let known = state.earlierModel(at: earlier, projection: projection) {
            if isSame(known) {
                let model = model()
                if let node = state.copySubtree(at: earlier, limits, as: model) { return node }
            } else {
                state.noteVainComparison(at: earlier)
            }
        }
        if state.tree.entries.isEmpty, !state.reuse.isOn,
            let size = shapes.sizes.last(of: projection)
        {
            state.reserveCapacity(size)
        }
        // The node gets its place before its fields are walked: in pre-order, and known to a model
        // below that refers back to it.
        var place = try state.place(
            of: identifier, at: earlier, projection: projection, limits)
        if state.lacksTraits(ofTypeAt: place.type) {
            let traits = traits()
            state.addTraits(traits, ofTypeAt: place.type)
        }
        place.merges = state.merges(typeAt: place.type)
        if place.merges {
            state.tree.merges = true
            guard state.occurrences.isNew(object()) || place.isNew else {
                state.contradictions.isIncomplete = true
                return place.node
            }
        } else if !place.isNew {
            compare(fields, of: projection, at: place, object)
            return place.node
        }
        if state.reuse.isOn, place.isFirst, let model = model() {
            state.noteModel(model, of: place.node)
        }
        do {
            if place.isNew {
                try write(fields, of: projection, to: place)
            } else {
                try add(fields, of: projection, to: place)
            }
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
        let encoder = nextEncoder()
        if place.merges { prepare(encoder, toMerge: place) }
        defer { state.path.removeLast() }
        var record = RecordEncoder(
            node: encoder, expected: state.lastShapes.expected(at: place.shape))
        try nested { try fields(&record) }
        // A node of the same type further down may have changed the expected shape by now.
        var shape = place.shape
        if !record.isAsExpected {
            shape = state.lastShapes.setShape(
                try record.shape(type: projection, in: shapes), ofTypeAt: place.type)
        }
        if place.merges {
            try state.noteFields(of: encoder, state.lastShapes.shapes[shape], ofTypeAt: place.type)
        }
        try encoder.dropUnusedChildren()
        try state.fill(place, shape: shape, from: encoder, isCase: record.isCase, limits)
        if state.reuse.isOn, place.isFirst { state.noteEnd(of: place.node) }
        if place.merges {
            try state.addPending(to: place.node, shapes, limits)
        } else if state.contradictions.hasPending {
            state.comparePending(at: place)
        }
    }

    @inline(never)
    private func prepare(_ encoder: ValueEncoder, toMerge place: State.Place) {
        encoder.marksNulls = true
        encoder.marksFields = state.hasRules(ofTypeAt: place.type)
    }

    /// Adds a later occurrence of a node.
    @inline(never)
    private func add(
        _ fields: (inout RecordEncoder) throws -> Void, of projection: String, to place: State.Place
    ) throws {
        let number = try state.occurrences.next(limits)
        state.path.append(place.node)
        defer { state.path.removeLast() }
        let encoder = nextEncoder()
        prepare(encoder, toMerge: place)
        let expected = state.lastShapes.expected(at: place.shape)
        var record = RecordEncoder(node: encoder, expected: expected)
        try nested { try fields(&record) }
        let shape =
            record.isAsExpected
            ? expected ?? .none : try record.shape(type: projection, in: shapes)
        try state.noteFields(of: encoder, shape, ofTypeAt: place.type)
        let nulls = try encoder.takeExplicitNulls()
        try encoder.dropUnusedChildren()
        if record.isAsExpected, state.holds(encoder, nulls, at: place) {
            return try state.addPending(to: place.node, shapes, limits)
        }
        let occurrence = Occurrence(
            number: number, node: place.node, type: place.type,
            draft: ProjectionDraft(
                type: projection, shape: shape, values: encoder.writer.bytes,
                children: encoder.children, isCase: record.isCase, explicitNulls: nulls))
        try state.add(occurrence, shapes, limits)
    }

    // MARK: Contradictions

    /// Compares an occurrence that stands inside of one that is compared. Returns the index of its
    /// node. For a node that the tree lacks, returns an index that no node has: the outer
    /// occurrence then differs from the first one.
    @inline(never)
    private func compared(
        _ identifier: String, _ projection: String, _ object: () -> AnyObject?,
        _ fields: (inout RecordEncoder) throws -> Void
    ) -> Int {
        guard var place = state.knownPlace(of: identifier, projection: projection) else {
            state.contradictions.isIncomplete = true
            return state.tree.entries.count
        }
        if place.isNew {
            state.contradictions.isIncomplete = true
        } else {
            place.merges = state.merges(typeAt: place.type)
            compare(fields, of: projection, at: place, object)
        }
        return place.node
    }

    /// Compares a later occurrence with the first one. An error in it does not fail the write,
    /// because the write does not store this occurrence.
    @inline(never)
    private func compare(
        _ fields: (inout RecordEncoder) throws -> Void, of projection: String,
        at place: State.Place,
        _ object: () -> AnyObject?
    ) {
        guard state.contradictions.isNew(object()), state.beginComparison(of: place.node) else {
            state.contradictions.isIncomplete = true
            return
        }
        let encoder = nextEncoder()
        encoder.marksNulls = place.merges
        defer {
            state.contradictions.end(encoder.writer.count)
            state.path.removeLast()
        }
        let expected = state.lastShapes.expected(at: place.shape)
        var record = RecordEncoder(node: encoder, expected: expected)
        do {
            try nested { try fields(&record) }
            let shape =
                record.isAsExpected
                ? expected ?? .none : try record.shape(type: projection, in: shapes)
            try encoder.dropUnusedChildren()
            try state.compare(encoder, shape, at: place, projection, shapes)
        } catch {
            state.contradictions.isIncomplete = true
        }
    }

    // MARK: Failures

    /// Whether a field was not written to its end, and its bytes were not taken back.
    var hasUnfinishedField: Bool { state.unfinished != nil }

    /// Notes that the bytes of the field were taken back.
    func forgetUnfinishedField() { state.unfinished = nil }

    /// Notes a field that was not written to its end. An occurrence that is only compared is not
    /// stored.
    func noteUnfinishedField(_ error: any Error, of type: Any.Type) {
        guard !state.contradictions.isComparing, state.unfinished == nil else { return }
        state.unfinished =
            error as? FlattenError ?? .modelFailed(type: "\(type)", reason: "\(error)")
    }

    private func nextEncoder() -> ValueEncoder {
        let depth = state.path.count
        while state.encoders.count <= depth { state.encoders.append(ValueEncoder(self)) }
        let encoder = state.encoders[depth]
        encoder.reset()
        return encoder
    }

    // MARK: Depth

    /// Runs `body` one level down.
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
        if state.depth > state.tree.levels { state.tree.levels = state.depth }
    }

    /// Runs `body` one level down, unless the values written before are more than one tree may
    /// have.
    ///
    /// Values inside a record can share memory and still be written one by one: forty arrays that
    /// hold the next one twice are a terabyte. Counting at the end of the record would be too late.
    @inline(__always)
    func nested<R>(behind byteCount: Int, _ body: () throws -> R) throws -> R {
        guard byteCount <= limits.maximumBytes else {
            throw FlattenError.treeTooLarge(limit: limits.maximumBytes)
        }
        return try nested(body)
    }

    /// Throws unless the tree may go `levels` deeper without `nested`: containers of a model's own
    /// code recurse by themselves.
    func checkDepth(adding levels: Int) throws {
        guard state.depth + levels < limits.maximumDepth, state.stack.hasSpace() else {
            throw FlattenError.tooDeep(limit: limits.maximumDepth)
        }
        state.tree.levels = max(state.tree.levels, state.depth + levels)
    }

    // MARK: State

    /// The parts of a tree while it is flattened. A step that touches several of them is a method,
    /// which retains none of them: counting references took a fifth of the time of a node.
    struct State {
        var tree = FlattenedTree()
        var nodes = NodeTable()
        /// The nodes being written, outermost first.
        var path: [Int] = []
        var depth = 0
        var lastShapes = LastShapes()
        /// One encoder for each node on the path, and one for the value in which the path begins.
        var encoders: [ValueEncoder] = []
        /// The first failure to write a node. The tree has a hole there, even if a model swallows
        /// the error.
        var failure: FlattenError?
        /// The first failure to write a field that left its bytes unfinished.
        var unfinished: FlattenError?
        var stack = StackSpace()
        var policy = TreePolicy.replace {
            didSet {
                tree.mergesAll = policy == .merge
                asksTypes = policy == .ofTypes
            }
        }
        /// Whether a node merges if its type says so.
        private var asksTypes = false
        /// The later occurrences of nodes that merge.
        var occurrences = OccurrenceCount()
        /// The occurrences of nodes that are replaced, and that differ from the first.
        var contradictions = ContradictionCount()
        var reuse = Reuse()
        /// What the tree that was finished last leaves for the next write.
        var finished: EarlierTree?

        /// What types say, by their positions, which they keep from one tree to the next.
        private(set) var traits: [KnownTraits] = []
        // Whether a type has rules, an age, or a policy to merge.
        private var hasRules = false
        private var hasMaxAges = false
        private var hasMergingTypes = false

        struct KnownTraits {
            /// False for a type that was met in comparisons alone.
            var isKnown = false
            var maxAge: UInt64?
            var rules: TypeRules?
            var merges = false
        }

        /// Where a projection of a node goes.
        struct Place {
            let node: Int
            let type: Int
            /// The shape that the projection is expected to have.
            let shape: Int
            /// The position among the node's other projections; nil for its first.
            var slot: Int?
            /// Whether the tree has nothing there yet.
            var isNew = true
            /// Whether the projection is merged with what is stored.
            var merges = false

            /// Whether it is the first projection of its node, and replaced.
            var isFirst: Bool { isNew && slot == nil && !merges }
        }

        /// Returns the tree, and starts over.
        mutating func finish() -> FlattenedTree {
            var finished = FlattenedTree()
            swap(&finished, &tree)
            finished.types = lastShapes.types
            finished.shapes = lastShapes.shapes
            while traits.count < finished.types.count { traits.append(KnownTraits()) }
            tree.mergesAll = finished.mergesAll
            if finished.merges {
                if hasRules { finished.rules = traits.map(\.rules) }
                if !finished.mergesAll { finished.mergingTypes = traits.map(\.merges) }
            }
            if hasMaxAges { finished.maxAges = traits.map(\.maxAge) }
            finished.contradictions = contradictions.found
            finished.hasFewOccurrences = contradictions.areFew(
                inTreeOf: finished.count, merging: occurrences.count)
            self.finished = finishReuse(&finished)
            nodes = NodeTable()
            (failure, unfinished) = (nil, nil)
            occurrences = OccurrenceCount()
            contradictions = ContradictionCount()
            return finished
        }

        /// Reserves memory for a tree as large as `size`.
        mutating func reserveCapacity(_ size: TreeSizes.Size) {
            tree.entries.reserveCapacity(size.nodes)
            tree.values.reserveCapacity(size.values)
            tree.children.reserveCapacity(size.children)
            nodes = NodeTable(capacity: size.nodes)
        }

        /// Returns the place of a projection. Adds the place if it is new, and the node to the
        /// path.
        ///
        /// - Parameter earlier: The index of the node in the earlier tree; nil if it is not there.
        mutating func place(
            of identifier: String, at earlier: Int?, projection: String, _ limits: TreeLimits
        ) throws -> Place {
            // A node of the earlier tree is not in `nodes`.
            let found = earlier == nil ? nodes.place(of: identifier, in: tree.entries) : nil
            let node = found.map(\.node) ?? earlier.flatMap { reuse.node(at: $0) }
            let type = lastShapes.place(of: projection)
            var place = Place(
                node: node ?? tree.count, type: type, shape: lastShapes.shape(ofTypeAt: type))
            let part = FlattenedTree.Part(type: place.type)
            if let known = node {
                if path.contains(known) { tree.entries[known].isOnCycle = true }
                place.isNew = !tree.has(place.type, at: known)
                guard place.isNew else { return place }
                place.slot = tree.others[known, default: []].count
                tree.others[known, default: []].append(part)
            } else {
                guard place.node < limits.maximumNodes else {
                    throw FlattenError.tooManyNodes(limit: limits.maximumNodes)
                }
                if let found { nodes.insert(place.node, at: found) }
                tree.entries.append(FlattenedTree.Entry(identifier: identifier, first: part))
                if reuse.isOn { noteNode(at: earlier) }
                try count(bytes: identifier.utf8.count, limits)
            }
            path.append(place.node)
            return place
        }

        /// Moves the values and children that `encoder` has into their place.
        mutating func fill(
            _ place: Place, shape: Int, from encoder: ValueEncoder, isCase: Bool,
            _ limits: TreeLimits
        ) throws {
            var part = FlattenedTree.Part(type: place.type, shape: shape)
            part.isCase = isCase
            let (values, children) = (tree.values.count, tree.children.count)
            if place.merges { try takeNulls(of: encoder, at: values) }
            encoder.writer.copy(to: &tree.values)
            encoder.copyChildren(to: &tree.children)
            part.values = values..<tree.values.count
            part.children = children..<tree.children.count
            try count(bytes: part.values.count + part.children.count * 2, limits)
            if let slot = place.slot {
                tree.others[place.node, default: []][slot] = part
            } else {
                tree.entries[place.node].first = part
            }
        }

        /// Notes the explicit nulls in the values that go to `position`.
        private mutating func takeNulls(of encoder: ValueEncoder, at position: Int) throws {
            let nulls = try encoder.takeExplicitNulls()
            if !nulls.isEmpty { tree.explicitNulls[position] = nulls }
        }

        /// Returns whether the flattener has not asked yet what a type says about its records.
        @inline(__always)
        func lacksTraits(ofTypeAt type: Int) -> Bool {
            type >= traits.count || !traits[type].isKnown
        }

        @inline(never)
        mutating func addTraits(_ new: TypeTraits, ofTypeAt type: Int) {
            while traits.count <= type { traits.append(KnownTraits()) }
            traits[type].isKnown = true
            if let maxAge = new.maxAge {
                traits[type].maxAge = MaxAge.seconds(maxAge)
                hasMaxAges = true
            }
            if !new.rules.isEmpty {
                traits[type].rules = TypeRules(rules: new.rules)
                hasRules = true
            }
            if new.policy == .merge {
                traits[type].merges = true
                hasMergingTypes = true
            }
        }

        func hasRules(ofTypeAt type: Int) -> Bool { traits[type].rules != nil }

        /// Returns whether nodes of a type merge in this tree.
        @inline(__always)
        func merges(typeAt type: Int) -> Bool {
            tree.mergesAll
                || asksTypes && hasMergingTypes && type < traits.count
                    && traits[type].merges
        }

        /// Notes which fields of a type with rules tell null from absent.
        mutating func noteFields(
            of encoder: ValueEncoder, _ shape: Shape, ofTypeAt type: Int
        ) throws {
            guard encoder.marksFields, !encoder.fieldStarts.isEmpty else { return }
            for slot in try encoder.fieldSlots() where slot < shape.count {
                traits[type].rules?.fields.insert(Identifier(shape.names[slot]))
            }
        }

        /// Returns whether the values that `encoder` has written, in the fields expected at
        /// `place`, are those of the tree.
        func holds(_ encoder: ValueEncoder, _ nulls: Set<Int>, at place: Place) -> Bool {
            guard let part = tree.filledPart(ofTypeAt: place.type, at: place.node) else {
                return false
            }
            return part.shape == place.shape && tree.explicitNulls(of: part) == nulls
                && tree.holds(encoder, in: part)
        }

        /// Adds an occurrence that was walked, and those that were met inside of it. Inside of
        /// another occurrence of its node, which is not complete yet and counts before it, it has
        /// to wait.
        mutating func add(
            _ occurrence: Occurrence, _ shapes: ShapeInterner, _ limits: TreeLimits
        ) throws {
            guard isOutermost(occurrence.node) else { return occurrences.keep(occurrence) }
            try merge(occurrence, shapes, limits)
            try addPending(to: occurrence.node, shapes, limits)
        }

        /// Adds the occurrences of a node that were met inside of the one just written, if that is
        /// the outermost one.
        mutating func addPending(
            to node: Int, _ shapes: ShapeInterner, _ limits: TreeLimits
        ) throws {
            guard occurrences.hasPending, isOutermost(node) else { return }
            for occurrence in occurrences.takePending(of: node) {
                try merge(occurrence, shapes, limits)
            }
        }

        /// Returns whether a node that is on the path is there once.
        private func isOutermost(_ node: Int) -> Bool {
            path.firstIndex(of: node) == path.lastIndex(of: node)
        }

        /// Adds the fields of a later occurrence that the ones before it lack.
        private mutating func merge(
            _ occurrence: Occurrence, _ shapes: ShapeInterner, _ limits: TreeLimits
        ) throws {
            guard let known = tree.filledPart(ofTypeAt: occurrence.type, at: occurrence.node) else {
                // A model has swallowed the failure of the first occurrence. The write fails.
                return
            }
            tree.noteDifference(occurrence)
            let draft = tree.draft(known, of: lastShapes)
            let rules = traits[occurrence.type].rules?.rules ?? [:]
            guard let merged = try draft.filled(from: occurrence.draft, shapes, by: rules) else {
                return
            }
            tree.remove(known)
            let part = tree.append(
                merged, shape: lastShapes.position(of: merged.shape), type: occurrence.type)
            try count(bytes: part.values.count + part.children.count * 2, limits)
            tree.replacePart(ofTypeAt: occurrence.type, at: occurrence.node, with: part)
            tree.removeUnusedBytes()
        }

        mutating func count(bytes: Int, _ limits: TreeLimits) throws {
            tree.byteCount += bytes
            guard tree.byteCount <= limits.maximumBytes else {
                throw FlattenError.treeTooLarge(limit: limits.maximumBytes)
            }
        }
    }
}
