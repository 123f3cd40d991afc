/// A tree taken apart: one draft per identifier, in the encoder's pre-order. `Sendable`, so that
/// flattening runs off the writer's thread; it knows shapes, not their numbers, and nodes, not
/// their handles.
///
/// What the drafts hold stands in arrays of the tree, one behind the other: a node has no memory of
/// its own but a long identifier, which is what making, passing on and freeing it by the hundred
/// cost most.
package struct FlattenedTree: Sendable {
    /// A node as the tree has it.
    package struct Entry: Sendable {
        package let identifier: String
        /// The projection that was met first, nearly always the only one. The others are in
        /// `others`.
        package internal(set) var first: Part
        /// Found on its own path.
        package internal(set) var isOnCycle = false
    }

    /// A projection as the tree has it: places in its arrays.
    package struct Part: Sendable {
        let type: Int
        /// Among the tree's `shapes`.
        package internal(set) var shape = 0
        var values = 0..<0
        /// Of the tree's `children`.
        package internal(set) var children = 0..<0
        /// It is one case of an enum: what the record has of another is over, whatever the policy.
        var isCase = false
    }

    package internal(set) var entries: [Entry] = []
    var values: [UInt8] = []
    /// The nodes referred to, as indexes into the tree; a child's ordinal is its place in the range
    /// of its parent.
    package internal(set) var children: [Int] = []
    var types: [String] = []
    package internal(set) var shapes: [Shape] = []
    /// In pre-order of their first occurrence, by the node's index.
    var others: [Int: [Part]] = [:]
    package internal(set) var byteCount = 0
    /// Whether a node has more than one projection.
    package var hasProjections: Bool { !others.isEmpty }

    package init() {}

    package var count: Int { entries.count }

    /// The shape of what the first projection of a node says.
    @inline(__always)
    package func shape(at index: Int) -> Shape { shapes[entries[index].first.shape] }

    /// What the first projection of a node says of its fields, one after the other.
    @inline(__always)
    package func values(at index: Int) -> ArraySlice<UInt8> { values[entries[index].first.values] }

    func type(at index: Int) -> String { types[entries[index].first.type] }

    func has(_ projection: Int, at index: Int) -> Bool {
        if entries[index].first.type == projection { return true }
        return !others.isEmpty && others[index]?.contains { $0.type == projection } == true
    }

    func draft(_ part: Part) -> ProjectionDraft {
        ProjectionDraft(
            type: types[part.type], shape: shapes[part.shape], values: Array(values[part.values]),
            children: Array(children[part.children]), isCase: part.isCase)
    }
}

extension FlattenedTree {
    /// The nodes with all they say, each made when it is asked for.
    package var nodes: Nodes { Nodes(tree: self) }

    package struct Nodes: RandomAccessCollection {
        let tree: FlattenedTree
        package var startIndex: Int { 0 }
        package var endIndex: Int { tree.count }

        package subscript(index: Int) -> NodeDraft {
            let entry = tree.entries[index]
            let parts = [entry.first] + (tree.others[index] ?? [])
            return NodeDraft(
                identifier: entry.identifier, projections: parts.map(tree.draft),
                isOnCycle: entry.isOnCycle)
        }
    }
}

/// One node: what each of its projections says, in pre-order of their first occurrence.
package struct NodeDraft: Sendable {
    package let identifier: String
    package let projections: [ProjectionDraft]
    package var first: ProjectionDraft { projections[0] }
    /// Found on its own path.
    package let isOnCycle: Bool
}

/// One type's view of a node.
package struct ProjectionDraft: Sendable {
    package let type: String
    package let shape: Shape
    /// The values of the shape's fields, one after the other.
    package let values: [UInt8]
    /// The nodes referred to, as indexes into the tree; a child's ordinal is its place here.
    package let children: [Int]
    /// It is one case of an enum: what the record has of another is over, whatever the policy.
    let isCase: Bool
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
    /// Nodes of one tree; in reading, every occurrence counts that had to be decoded. Default
    /// 1,000,000.
    public var maximumNodes = 1_000_000
    /// Bytes of all records of one tree. Default 256 MiB; the cache lowers it to its share of the
    /// budget for writes.
    public var maximumBytes = 256 << 20

    public init() {}
}
