/// A tree taken apart: one draft per identifier, in the encoder's pre-order. `Sendable`, so that flattening runs off the
/// writer's thread; it knows shapes, not their numbers, and nodes, not their handles.
package struct FlattenedTree: Sendable {
    package internal(set) var nodes: [NodeDraft] = []
    package internal(set) var byteCount = 0
    /// Whether a node has more than one projection.
    package internal(set) var hasProjections = false

    package init() {}
}

/// One node: what each of its projections says.
package struct NodeDraft: Sendable {
    package let identifier: String
    /// The projection that was met first. Nearly always the only one, which is why it needs no array.
    package internal(set) var first: ProjectionDraft
    /// In pre-order of their first occurrence.
    package internal(set) var others: [ProjectionDraft] = []
    /// Found on its own path.
    package internal(set) var isOnCycle = false

    package var projections: [ProjectionDraft] { [first] + others }

    /// Sets what the first projection says, or the one in `slot` of the others.
    mutating func fill(_ slot: Int?, shape: Shape, values: [UInt8], children: [Int]) {
        if let slot {
            others[slot].fill(shape: shape, values: values, children: children)
        } else {
            first.fill(shape: shape, values: values, children: children)
        }
    }

    mutating func markCase(_ slot: Int?) {
        if let slot { others[slot].isCase = true } else { first.isCase = true }
    }

    func holds(_ projection: String) -> Bool {
        first.type.hasSameBytes(as: projection) || others.contains { $0.type.hasSameBytes(as: projection) }
    }
}

/// One type's view of a node.
package struct ProjectionDraft: Sendable {
    package let type: String
    package internal(set) var shape: Shape
    /// The values of the shape's fields, one after the other.
    package internal(set) var values: [UInt8] = []
    /// The nodes referred to, as indexes into the tree; a child's ordinal is its place here.
    package internal(set) var children: [Int] = []
    /// It is one case of an enum: what the record has of another is over, whatever the policy.
    var isCase = false

    @inline(__always)
    mutating func fill(shape: Shape, values: [UInt8], children: [Int]) {
        // Nearly always the expected one, which stands there already.
        if shape !== self.shape { self.shape = shape }
        self.values = values
        self.children = children
    }
}

/// A value outside a node: what a key names, or an element of a collection.
package struct ValueDraft: Sendable, Equatable {
    package let bytes: [UInt8]
    package let children: [Int]

    package init(bytes: [UInt8], children: [Int]) {
        self.bytes = bytes
        self.children = children
    }
}

/// The limits on one tree, in writing and in reading.
public struct TreeLimits: Sendable, Hashable, Codable {
    /// Levels of nesting, containers and inline values counted. Default 256.
    public var maximumDepth = 256
    /// Nodes of one tree; in reading, every occurrence counts that had to be decoded. Default 1,000,000.
    public var maximumNodes = 1_000_000
    /// Bytes of all records of one tree. Default 256 MiB; the cache lowers it to its share of the budget for writes.
    public var maximumBytes = 256 << 20

    public init() {}
}
