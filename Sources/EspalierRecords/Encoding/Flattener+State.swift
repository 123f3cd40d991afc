extension Flattener {
    /// What a tree is made of while it is flattened. What touches several of its parts is a method,
    /// which refers to none of them by itself: counting references took a fifth of the time of a
    /// node.
    struct State {
        var tree = FlattenedTree()
        var places = NodeTable()
        /// The nodes being written, from the outermost one.
        var path: [Int] = []
        var depth = 0
        var lastShapes = LastShapes()
        /// One for each node on the path, and one for the value that the path begins in.
        var encoders: [ValueEncoder] = []
        /// Why a node could not be written: the tree has a hole where it stands, even if a model
        /// swallows the error.
        var failure: FlattenError?
        var stack = StackSpace()

        /// Where a projection of a node goes.
        struct Place {
            let node: Int
            let type: Int
            /// The shape that is expected of it.
            let shape: Int
            /// Among the others of the node; nil for its first.
            var slot: Int?
            /// Whether nothing has been written there.
            var isNew = true
        }

        /// Makes room for a tree that is as large as another one was.
        mutating func reserveCapacity(_ size: TreeSizes.Size) {
            tree.entries.reserveCapacity(size.nodes)
            tree.values.reserveCapacity(size.values)
            tree.children.reserveCapacity(size.children)
            places = NodeTable(capacity: size.nodes)
        }

        /// The place of a projection. A new one is taken, and the innermost of the path from here
        /// on.
        mutating func place(of identifier: String, projection: String, _ limits: TreeLimits) throws
            -> Place
        {
            let found = places.place(of: identifier, in: tree.entries)
            let type = lastShapes.place(of: projection)
            var place = Place(
                node: found.node ?? tree.count, type: type, shape: lastShapes.shape(ofTypeAt: type))
            let part = FlattenedTree.Part(type: place.type)
            if let known = found.node {
                if path.contains(known) { tree.entries[known].isOnCycle = true }
                place.isNew = !tree.has(place.type, at: known)
                guard place.isNew else { return place }
                place.slot = tree.others[known, default: []].count
                tree.others[known, default: []].append(part)
            } else {
                guard place.node < limits.maximumNodes else {
                    throw FlattenError.tooManyNodes(limit: limits.maximumNodes)
                }
                places.take(found, for: place.node)
                tree.entries.append(FlattenedTree.Entry(identifier: identifier, first: part))
                try count(bytes: identifier.utf8.count, limits)
            }
            path.append(place.node)
            return place
        }

        /// Puts what `encoder` has into its place.
        mutating func fill(
            _ place: Place, shape: Int, from encoder: ValueEncoder, isCase: Bool,
            _ limits: TreeLimits
        ) throws {
            var part = FlattenedTree.Part(type: place.type, shape: shape)
            part.isCase = isCase
            let (values, children) = (tree.values.count, tree.children.count)
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

        mutating func count(bytes: Int, _ limits: TreeLimits) throws {
            tree.byteCount += bytes
            guard tree.byteCount <= limits.maximumBytes else {
                throw FlattenError.treeTooLarge(limit: limits.maximumBytes)
            }
        }
    }
}
