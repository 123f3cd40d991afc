/// A flattened tree: one draft for each identifier, in the encoder's pre-order.
///
/// A tree is `Sendable`, so that flattening runs off the writer's thread. It knows shapes but not
/// their numbers, and nodes but not their handles.
///
/// The drafts are ranges of a few arrays of the tree: a node has no memory of its own except a long
/// identifier. Making, passing on and freeing that memory by the hundred was the largest cost.
package struct FlattenedTree: Sendable {
    /// A node of the tree.
    package struct Entry: Sendable {
        package let identifier: String
        /// The projection that was met first, and nearly always the only one. `others` has the
        /// rest.
        package internal(set) var first: Part
        /// Whether the node was met inside itself.
        package internal(set) var isOnCycle = false
    }

    /// A projection of a node, as positions in the tree's arrays.
    package struct Part: Sendable {
        let type: Int
        package internal(set) var shape = 0
        var values = 0..<0
        package internal(set) var children = 0..<0
        /// Whether the projection is one case of an enum. The record then loses the fields of
        /// another case, whatever the policy.
        var isCase = false

        /// Adjusts the positions of a part that was copied into another tree.
        mutating func move(values valueOffset: Int, children childOffset: Int) {
            values = values.lowerBound + valueOffset..<values.upperBound + valueOffset
            children = children.lowerBound + childOffset..<children.upperBound + childOffset
        }
    }

    package internal(set) var entries: [Entry] = []
    var values: [UInt8] = []
    /// The nodes referred to, as indexes of the tree's nodes. The ordinal of a child is its
    /// position in the range of its parent.
    package internal(set) var children: [Int] = []
    var types: [String] = []
    package internal(set) var shapes: [Shape] = []
    /// The projections after the first, by the node's index, in pre-order.
    var others: [Int: [Part]] = [:]
    /// Whether every node merges, whatever its type says.
    package internal(set) var mergesAll = false
    /// Which types merge, by their positions. Empty if every node merges, or none.
    var mergingTypes: [Bool] = []
    /// Whether any node merges.
    package internal(set) var merges = false
    /// The nodes whose occurrences differ and refer to other nodes. The flattener has put their
    /// records together, and some of the nodes referred to may have been left out.
    var mixed: Set<Int> = []
    /// The slots of the fields that are explicit nulls, by the position at which the values of
    /// their projection begin. Records have nil there.
    var explicitNulls: [Int: Set<Int>] = [:]
    /// The rules of types, by the positions of the types. Empty if no type that merges has rules.
    var rules: [TypeRules?] = []
    /// How old records of the types may be in seconds, by the positions of the types. Empty if no
    /// type says so.
    var maxAges: [UInt64?] = []
    /// How old the records of this write may be in seconds, in place of what their types say; nil
    /// if the types decide.
    package internal(set) var maxAge: UInt64?
    /// Stored nodes to which values outside of the tree refer by name. They are no part of the
    /// tree, and stay as they are. In the children of a ``ValueDraft`` their numbers follow those
    /// of the tree's nodes.
    package var storedNodes: [String] = []
    /// The number of later occurrences of nodes of which something is not stored, because the
    /// first occurrence counts. A node that merges is counted only where it stands below an
    /// occurrence that is not stored. The number is a lower bound: a tree with many times more
    /// occurrences than nodes is not compared as a whole.
    package internal(set) var contradictions = 0
    /// Whether every occurrence of a node was walked, and nodes occurred again no more than 1,024
    /// times, and four times for each node. Values that share their children may have exponentially
    /// many occurrences, and a comparison of two such values would take as long.
    package internal(set) var hasFewOccurrences = false
    /// Whether a later occurrence of a node that merges differs from the first one. A field that
    /// one of them lacks is a difference, too.
    package internal(set) var hasDifferences = false
    package internal(set) var byteCount = 0
    /// How many levels its values are nested at most. May be too high after a copy.
    package internal(set) var levels = 0
    /// Nodes whose stored records must not be written: the read from which the tree comes may have
    /// left out references to nodes above them.
    package var keptNodes: Set<Int> = []
    /// The nodes as an earlier tree has them, by their indexes; empty if there is none.
    package internal(set) var earlierNodes: [EarlierTree.Node] = []
    /// Whether a node has more than one projection.
    package var hasProjections: Bool { !others.isEmpty }
    /// Whether the tree may have a node to which no other node of it refers, and which is no entry.
    package var mayLoseChildren: Bool { hasProjections || !mixed.isEmpty || !rules.isEmpty }

    package init() {}

    package var count: Int { entries.count }

    /// Whether a node was met inside itself.
    package var hasCycles: Bool { entries.contains(where: \.isOnCycle) }

    /// Whether a record of the tree may expire.
    package var expires: Bool { maxAge != nil || !maxAges.isEmpty }

    /// Returns whether nodes of a type merge.
    @inline(__always)
    func merges(typeAt type: Int) -> Bool {
        mergesAll || !mergingTypes.isEmpty && mergingTypes[type]
    }

    /// Returns how old the record of a node may be, in seconds; nil if it does not expire. Of
    /// several types of the node, the one that allows least counts.
    package func maxAge(at index: Int) -> UInt64? {
        if maxAge != nil || maxAges.isEmpty { return maxAge }
        let first = maxAges[entries[index].first.type]
        guard !others.isEmpty, let rest = others[index] else { return first }
        return ([first] + rest.map { maxAges[$0.type] }).compactMap(\.self).min()
    }

    /// Returns the shape of a node's first projection.
    @inline(__always)
    package func shape(at index: Int) -> Shape { shapes[entries[index].first.shape] }

    /// Returns the values of a node's first projection, one after the other.
    @inline(__always)
    package func values(at index: Int) -> ArraySlice<UInt8> { values[entries[index].first.values] }

    func type(at index: Int) -> String { types[entries[index].first.type] }

    func has(_ projection: Int, at index: Int) -> Bool {
        if entries[index].first.type == projection { return true }
        return !others.isEmpty && others[index]?.contains { $0.type == projection } == true
    }

    /// Whether an occurrence of a node refers to other nodes.
    package func hasChildren(at index: Int) -> Bool {
        if !entries[index].first.children.isEmpty { return true }
        return others[index]?.contains { !$0.children.isEmpty } ?? false
    }

    /// Returns whether the record of a node is put together from occurrences that refer to other
    /// nodes: it may close a cycle that no walk has met.
    package func isMixed(at index: Int) -> Bool { !mixed.isEmpty && mixed.contains(index) }

    fileprivate func draft(_ part: Part) -> ProjectionDraft {
        var draft = draft(part, type: types[part.type], shape: shapes[part.shape])
        draft.merges = merges(typeAt: part.type)
        if draft.merges, !rules.isEmpty { draft.rules = rules[part.type] }
        return draft
    }

    /// Returns the draft of a part of a tree that is not finished.
    func draft(_ part: Part, of known: LastShapes) -> ProjectionDraft {
        draft(part, type: known.types[part.type], shape: known.shapes[part.shape])
    }

    private func draft(_ part: Part, type: String, shape: Shape) -> ProjectionDraft {
        ProjectionDraft(
            type: type, shape: shape, values: Array(values[part.values]),
            children: Array(children[part.children]), isCase: part.isCase,
            explicitNulls: explicitNulls(of: part))
    }

    func explicitNulls(of part: Part) -> Set<Int> {
        guard !explicitNulls.isEmpty, !part.values.isEmpty else { return [] }
        return explicitNulls[part.values.lowerBound] ?? []
    }

    /// Returns the nodes that another tree has with the same values and children.
    package func nodes(equalTo other: FlattenedTree) -> Set<Int> {
        let places = Dictionary(
            zip(other.entries.map { Identifier($0.identifier) }, 0...),
            uniquingKeysWith: { first, _ in first })
        return Set(
            entries.indices.filter { index in
                guard let place = places[Identifier(entries[index].identifier)] else {
                    return false
                }
                let (mine, theirs) = (parts(at: index), other.parts(at: place))
                return mine.count == theirs.count
                    && zip(mine, theirs).allSatisfy { isEqual($0, to: $1, of: other) }
            })
    }

    private func parts(at index: Int) -> [Part] { [entries[index].first] + (others[index] ?? []) }

    private func isEqual(_ part: Part, to theirs: Part, of other: FlattenedTree) -> Bool {
        types[part.type].hasSameBytes(as: other.types[theirs.type])
            && shapes[part.shape] == other.shapes[theirs.shape]
            && values[part.values] == other.values[theirs.values]
            && part.children.count == theirs.children.count
            && zip(part.children, theirs.children).allSatisfy {
                entries[children[$0]].identifier.hasSameBytes(
                    as: other.entries[other.children[$1]].identifier)
            }
    }

    /// The nodes with all their projections. Each draft is made when it is asked for.
    package var nodes: Nodes { Nodes(tree: self) }

    package struct Nodes: RandomAccessCollection {
        fileprivate let tree: FlattenedTree
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

/// One node with its projections, in pre-order of their first occurrence.
package struct NodeDraft: Sendable {
    package let identifier: String
    package let projections: [ProjectionDraft]
    package var first: ProjectionDraft { projections[0] }
    /// Whether the node was met inside itself.
    package let isOnCycle: Bool
}

/// One type's view of a node.
package struct ProjectionDraft: Sendable {
    package let type: String
    package let shape: Shape
    /// The values of the shape's fields, one after the other.
    package let values: [UInt8]
    /// The nodes referred to, as indexes of the tree's nodes. The ordinal of a child is its
    /// position here.
    package let children: [Int]
    /// Whether the projection is one case of an enum. The record then loses the fields of another
    /// case, whatever the policy.
    let isCase: Bool
    /// The slots of the fields that are known to be nil. Other fields that are nil were not
    /// fetched.
    let explicitNulls: Set<Int>
    /// Whether the fields that are nil keep the values that the record has.
    var merges = false
    /// The rules of the type in a node that merges; nil if it has none.
    var rules: TypeRules?
}

/// A value outside a node: the entry of a key, or an element of a collection.
package struct ValueDraft: Sendable, Equatable {
    package let bytes: [UInt8]
    package let children: [Int]

    package init(bytes: [UInt8], children: [Int]) {
        self.bytes = bytes
        self.children = children
    }

    /// A reference to one node.
    package init(node: Int) {
        var writer = ByteWriter()
        writer.append(child: 0)
        self.init(bytes: writer.bytes, children: [node])
    }
}

/// The limits on one tree, in writing and in reading.
///
/// A write of a tree beyond a limit fails with a ``FlattenError``; a read is a miss.
public struct TreeLimits: Sendable, Hashable, Codable {
    /// The most levels of nesting, containers and inline values included. Default 256.
    public var maximumDepth = 256
    /// The most nodes of one tree. A read counts each occurrence that it has to decode. Default
    /// 1,000,000.
    public var maximumNodes = 1_000_000
    /// The most nodes of a tree that a read returns, counting a node as often as it occurs. Default
    /// 4,000,000.
    ///
    /// A read decodes a repeated subtree once or twice and then uses the model again, so that
    /// ``maximumNodes`` does not count it. Code that walks the tree meets it at each place: 41
    /// records that each refer twice to the next one are a tree of 2,199,023,255,551 nodes, which
    /// no code can print, compare or change. The default allows a tree of as many nodes as
    /// `maximumNodes` in which each node contains three that other nodes contain, too.
    ///
    /// A write walks a node that it replaces once, and such nodes do not have the limit. It walks
    /// each occurrence of a node that it merges, because a later one may have fields that the first
    /// lacks: the limit is on the occurrences after the first. The same object of a class counts
    /// once.
    public var maximumLogicalNodes = 4_000_000
    /// The most bytes of all records of one tree. Default 256 MiB; for writes the cache lowers it
    /// to the share of its budget that one write may take.
    public var maximumBytes = 256 << 20

    /// Makes the default limits.
    public init() {}

    /// Decodes limits. A limit that the encoder lacks, because a former version of this library
    /// wrote it, has its default.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: A `DecodingError` if a limit is not an integer.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        maximumDepth =
            try values.decodeIfPresent(Int.self, forKey: .maximumDepth) ?? maximumDepth
        maximumNodes =
            try values.decodeIfPresent(Int.self, forKey: .maximumNodes) ?? maximumNodes
        maximumLogicalNodes =
            try values.decodeIfPresent(Int.self, forKey: .maximumLogicalNodes)
            ?? maximumLogicalNodes
        maximumBytes =
            try values.decodeIfPresent(Int.self, forKey: .maximumBytes) ?? maximumBytes
    }
}

/// The reason why a model can't be flattened. The write that the model belongs to fails, and the
/// cache stays as it was.
public enum FlattenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A model's identifier is the empty string. A model without identity returns nil instead.
    case emptyIdentifier(type: String)
    /// The tree is nested deeper than ``TreeLimits/maximumDepth`` allows, or than the thread's
    /// stack has room for.
    case tooDeep(limit: Int)
    /// The tree has more nodes than ``TreeLimits/maximumNodes``.
    case tooManyNodes(limit: Int)
    /// Nodes that merge occur again more often than
    /// ``TreeLimits/maximumLogicalNodes``.
    case tooManyOccurrences(limit: Int)
    /// The tree takes more bytes than ``TreeLimits/maximumBytes``.
    case treeTooLarge(limit: Int)
    /// The type is neither a `NormalizedModel` nor `Codable`.
    case notStorable(type: String)
    /// A model encodes two fields under one name.
    case duplicateField(type: String, field: String)
    /// The model's own `encode` threw an error.
    case modelFailed(type: String, reason: String)

    /// The message: what went wrong, and what to do about it.
    public var description: String {
        switch self {
        case .emptyIdentifier(let type):
            "A model of type \(type) has an empty identifier. "
                + "Return nil for a model without identity."
        case .tooDeep(let limit):
            "The tree is nested deeper than \(limit) levels. "
                + "Raise Configuration.limits.maximumDepth or flatten the model."
        case .tooManyNodes(let limit):
            "The tree has more than \(limit) nodes. "
                + "Store it in parts, or raise Configuration.limits.maximumNodes."
        case .tooManyOccurrences(let limit):
            "The nodes of the tree occur again more than \(limit) times, and a merge walks each "
                + "occurrence. Store the tree in parts, make models that many places share final "
                + "classes, or raise Configuration.limits.maximumLogicalNodes."
        case .treeTooLarge(let limit):
            "The tree takes more than \(limit) bytes, the most that one write may. "
                + "Store it in parts or raise the budget."
        case .notStorable(let type):
            "\(type) can't be stored. Conform it to NormalizedModel or Codable."
        case .duplicateField(let type, let field):
            "\(type) encodes the field \(field) twice."
        case .modelFailed(let type, let reason):
            "Encoding \(type) failed: \(reason)"
        }
    }
}

// MARK: - Comparison with stored records

/// What a stored record and a node of a tree have in common.
package enum Likeness {
    /// The record is another's, or only a closer comparison can tell.
    case none
    /// The identifier, but not all of the rest.
    case identifier
    /// Everything except the children, of which there are as many.
    case content

    // Patterns, because `==` would be a call.
    package var isNone: Bool { if case .none = self { true } else { false } }
    package var isContent: Bool { if case .content = self { true } else { false } }
}

extension FlattenedTree {
    /// Compares the first projection of a node with a stored record, value by value and without
    /// making a ``Record``. Appends the record's children, which the caller compares, to
    /// `children`.
    ///
    /// `shapeNumber` is the number of the node's shape; nil where the shape has none.
    package func likeness(
        of record: ByteReader, at handle: Handle, to index: Int, shapeNumber: UInt64?,
        children: inout [Handle]
    ) throws(FormatError) -> Likeness {
        var body = record
        let layout = try RecordLayout(reading: &body)
        guard layout.nameSpace == .node, !layout.hasOwnShape else { return .none }
        try layout.readChildren(&body, of: handle, into: &children)
        guard try layout.matchIdentifier(entries[index].identifier, &body) else { return .none }
        let part = entries[index].first
        guard layout.shapeNumber == shapeNumber, layout.childCount == part.children.count,
            body.matchesRest(values, part.values)
        else { return .identifier }
        return .content
    }
}

extension FlattenedTree {
    /// Returns whether a write of this tree leaves nothing of a write of another one before it:
    /// neither merges, and this tree has every node of the other, as the same types see it.
    ///
    /// - Complexity: O(*n*), the nodes of both trees.
    package func overwrites(_ other: FlattenedTree) -> Bool {
        guard !merges, !other.merges else { return false }
        var indexes: [Identifier: Int] = [:]
        indexes.reserveCapacity(count)
        for (index, entry) in entries.enumerated() {
            indexes[Identifier(entry.identifier)] = index
        }
        return other.entries.indices.allSatisfy { index in
            guard let own = indexes[Identifier(other.entries[index].identifier)] else {
                return false
            }
            let types = types(at: own)
            return other.types(at: index).allSatisfy(types.contains)
        }
    }

    private func types(at index: Int) -> [Identifier] {
        ([entries[index].first] + (others[index] ?? [])).map { Identifier(types[$0.type]) }
    }
}
