public import EspalierRecords
public import Foundation

/// Records that a read has fetched so far, and the trees that they make.
///
/// Names have positions, in the order in which the tree met them. A read adds records until it
/// wants no more:
///
/// ```swift
/// let tree = SharedTree(shapes: shapes)
/// let root = tree.position(of: name)
/// var wanted = [root]
/// while true {
///     for (position, record) in try await fetch(wanted.map(tree.name)) {
///         tree.add(record, at: position)
///     }
///     let read = tree.model(Feed.self, at: root, ages: ages)
///     wanted = read.wanted
///     if wanted.isEmpty { return read.result }
/// }
/// ```
///
/// A round fetches a level of the tree: all children of the records that the model was decoded
/// from. Confined to the task that reads.
public final class SharedTree {
    private let source: SharedSource
    private let limits: TreeLimits

    /// Makes a tree without records.
    ///
    /// - Parameters:
    ///   - shapes: The shapes of the records.
    ///   - limits: What a model may contain.
    public init(shapes: SharedShapes, limits: TreeLimits = TreeLimits()) {
        source = SharedSource(shapes)
        self.limits = limits
    }

    /// What a read of a tree has come to.
    public struct Read<Value> {
        /// The value or the reason of the miss. It counts only if nothing is wanted.
        public let result: Result<Value, MissReason>
        /// The positions to look up before the tree is read again.
        public let wanted: [Int]
        /// How old the oldest record that may expire is; nil if none may.
        public let oldestAge: Duration?
        /// Whether a record is older than it may be.
        public let isExpired: Bool
    }

    /// The number of names that the tree has met.
    public var count: Int { source.names.count }

    /// Returns the position of a name, which never changes.
    ///
    /// - Parameter name: The name.
    public func position(of name: SharedName) -> Int { source.position(of: name) }

    /// Returns the name at a position.
    ///
    /// - Parameter position: The position.
    public func name(at position: Int) -> SharedName { source.names[position] }

    /// Returns the record that was added at a position; nil for none.
    ///
    /// - Parameter position: The position.
    public func record(at position: Int) -> SharedRecord? { source.records[position] }

    /// Adds what a look-up has found under a name.
    ///
    /// - Parameters:
    ///   - record: The record; nil if there is none.
    ///   - position: The position of the name.
    public func add(_ record: SharedRecord?, at position: Int) {
        source.add(record, at: position)
    }

    /// All positions, children after the first record that refers to them: the order in which a
    /// read of the tree visits its records.
    public var preOrder: [Int] { source.preOrder }

    /// Returns the children of all records that were added since the last call and are not looked
    /// up yet: the next level.
    ///
    /// A record that several types wrote is left out. The children that only another type needs
    /// might lead anywhere: `model` and `elements` tell what else they need.
    ///
    /// - Parameters:
    ///   - limit: The most positions.
    ///   - ofAll: Whether to return the children of records that several types wrote, too.
    public func nextLevel(limit: Int, ofAll: Bool = false) -> [Int] {
        source.nextLevel(limit: limit, ofAll)
    }

    /// Reads a node or a key.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - position: The position of the name of a node or a key.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    public func model<Model: IdentifiedModel>(
        _ type: Model.Type, at position: Int, ages: SharedAges
    ) -> Read<Model> {
        let name = source.names[position]
        return read(position, ages) { treeReader, handle in
            guard name.kind == .key else {
                return try ModelStorage.decode(
                    type, entry: handle, identifier: name.identifier, of: treeReader)
            }
            return try treeReader.values(entry: handle, identifier: name.identifier, in: .key) {
                try ModelStorage.decode(type, from: &$0)
            }
        }
    }

    /// Reads a collection.
    ///
    /// - Parameters:
    ///   - type: The type of the elements.
    ///   - position: The position of the collection's name.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    public func elements<Model: IdentifiedModel>(
        _ type: Model.Type, at position: Int, ages: SharedAges
    ) -> Read<[Model]> {
        let key = source.names[position].identifier
        return read(position, ages) { treeReader, handle in
            var elements: [Model] = []
            try treeReader.values(entry: handle, identifier: key, in: .collection) { decoder in
                try decoder.decodeElements(numberedFrom: 0) {
                    elements.append(try ModelStorage.decode(type, from: &$0))
                }
            }
            return elements
        }
    }

    /// Writes a node or a collection as JSON.
    ///
    /// - Parameters:
    ///   - position: The position of the name of a node or a collection.
    ///   - form: What the JSON contains.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    public func json(at position: Int, _ form: SharedJSON, ages: SharedAges) -> Read<Data> {
        let name = source.names[position]
        return read(position, ages) { treeReader, handle in
            let writer = JSONTreeWriter(treeReader, form.options, limit: limits.maximumBytes)
            if name.kind == .collection {
                try writer.writeArray { writeElement in
                    try treeReader.values(
                        entry: handle, identifier: name.identifier, in: .collection
                    ) { decoder in
                        try decoder.decodeElements(numberedFrom: 0) { try writeElement(&$0) }
                    }
                }
            } else {
                try treeReader.entry(handle, identifier: name.identifier) {
                    try writer.write(root: &$0)
                }
            }
            return Data(writer.output)
        }
    }

    private func read<Value>(
        _ position: Int, _ ages: SharedAges, _ body: (TreeReader, Handle) throws -> Value
    ) -> Read<Value> {
        switch source.states[position] {
        case .found: break
        case .unknown:
            return Read(
                result: .failure(.notFound), wanted: [position], oldestAge: nil, isExpired: false)
        case .tombstone, .nothing:
            return Read(result: .failure(.notFound), wanted: [], oldestAge: nil, isExpired: false)
        }
        source.wanted = []
        let rule = AgeRule(
            acceptsExpired: ages.acceptsExpired, maxAge: nil, checksAll: source.mayExpire,
            clock: ages)
        let treeReader = TreeReader(source: source, limits: limits, ages: rule)
        let name = source.names[position]
        let result = treeReader.read(name.identifier) {
            try body(treeReader, Handle(UInt64(position) + 1))
        }
        let judged = rule.judge(treeReader.ages)
        return Read(
            result: result, wanted: source.allWanted, oldestAge: judged.oldest,
            isExpired: judged.isExpired)
    }
}

/// What the JSON of a tree of shared records contains.
public struct SharedJSON: Sendable, Hashable {
    let options: JSONTreeOptions

    /// Describes the JSON of a tree.
    ///
    /// - Parameters:
    ///   - depth: How many levels of nodes to write. A node further down is its identifier.
    ///   - paths: Members to leave out, by their names with dots between.
    ///   - includesNulls: Whether a member that is nil is written, as null.
    public init(depth: Int, leavingOut paths: [String], includesNulls: Bool) {
        var options = JSONTreeOptions()
        options.depth = max(0, depth)
        options.excluded = JSONPaths(paths)
        options.writesNulls = includesNulls
        self.options = options
    }
}

/// What a read of shared records accepts, and the time now.
public final class SharedAges: AgeClock {
    let acceptsExpired: Bool
    package let second: UInt64

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - acceptsExpired: Whether the read accepts records that have expired.
    ///   - second: The time now, in seconds since 1970.
    public init(acceptsExpired: Bool, second: UInt64) {
        self.acceptsExpired = acceptsExpired
        self.second = second
    }
}

extension SharedRecord {
    /// Whether one type at most has written the record.
    fileprivate var isOfOneType: Bool { shape.types.count <= 1 }
}

/// The records of a ``SharedTree``, under handles that are positions in it.
private final class SharedSource: RecordSource {
    enum State {
        /// The name was not looked up yet.
        case unknown
        case nothing
        case tombstone
        case found(RecordBuffer)
    }

    private let shapes: SharedShapes
    private var positions: [SharedName: Int] = [:]
    private(set) var names: [SharedName] = []
    private(set) var states: [State] = []
    private(set) var records: [SharedRecord?] = []
    /// The nodes to which each record refers, as handles.
    private var children: [[Handle]] = []
    /// The records whose children `nextLevel` has not returned.
    private var fresh: [Int] = []
    /// Whether a record has a maximum age of its own.
    private(set) var mayExpire = false
    /// Writes one record after the other.
    private var writer = ByteWriter(capacity: 512)
    private var lastShape: (shape: Shape, number: UInt64)?
    /// The records that the last read needed and did not have.
    var wanted: [Int] = []

    init(_ shapes: SharedShapes) { self.shapes = shapes }

    func position(of name: SharedName) -> Int {
        let position = names.count
        let known = positions[name, default: position]
        guard known == position else { return known }
        positions[name] = position
        names.append(name)
        states.append(.unknown)
        records.append(nil)
        children.append([])
        return position
    }

    func add(_ record: SharedRecord?, at position: Int) {
        records[position] = record
        guard let record else {
            states[position] = .nothing
            return
        }
        guard !record.isTombstone else {
            states[position] = .tombstone
            return
        }
        var targets: [Handle] = []
        targets.reserveCapacity(record.children.count)
        for child in record.children {
            targets.append(Handle(UInt64(self.position(of: SharedName(.node, child))) + 1))
        }
        writer.removeAll()
        // Far children and the whole identifier: what a reader is done with fastest.
        let (kind, identifier) = (names[position].kind, names[position].identifier)
        writer.append(kind.rawValue)
        writer.append(varint: kind == .node ? number(of: record.shape) : 0)
        writer.append(varint: UInt64(targets.count))
        for target in targets { writer.append(varint: target.rawValue << 1 | 1) }
        writer.append(value: identifier)
        writer.append(record.values)
        states[position] = .found(writer.copyToBuffer())
        children[position] = targets
        if record.maxAge != nil { mayExpire = true }
        fresh.append(position)
    }

    /// Returns the number of a shape. A record's shape is mostly that of the record before.
    private func number(of shape: Shape) -> UInt64 {
        if let lastShape, lastShape.shape === shape { return lastShape.number }
        let number = shapes.number(of: shape)
        lastShape = (shape, number)
        return number
    }

    var preOrder: [Int] {
        var order: [Int] = []
        order.reserveCapacity(names.count)
        var isTaken = [Bool](repeating: false, count: names.count)
        var stack: [Int] = []
        for root in names.indices where !isTaken[root] {
            stack.append(root)
            while let position = stack.popLast() {
                guard !isTaken[position] else { continue }
                isTaken[position] = true
                order.append(position)
                for child in children[position].reversed() {
                    stack.append(Int(child.rawValue) - 1)
                }
            }
        }
        return order
    }

    func nextLevel(limit: Int, _ ofAll: Bool) -> [Int] {
        var level: [Int] = []
        var isTaken = [Bool](repeating: false, count: names.count)
        for position in fresh where ofAll || records[position].map(\.isOfOneType) ?? false {
            for handle in children[position] where level.count < limit {
                let child = Int(handle.rawValue) - 1
                guard case .unknown = states[child], !isTaken[child] else { continue }
                isTaken[child] = true
                level.append(child)
            }
        }
        fresh = []
        return level
    }

    /// The records that the last read needed and did not have, and the other children of the
    /// records that refer to them: the read needs some of these next.
    var allWanted: [Int] {
        guard !wanted.isEmpty else { return [] }
        let needed = Set(wanted.map { Handle(UInt64($0) + 1) })
        var all = Set(wanted)
        for siblings in children where siblings.contains(where: needed.contains) {
            for handle in siblings {
                let child = Int(handle.rawValue) - 1
                if case .unknown = states[child] { all.insert(child) }
            }
        }
        return all.sorted()
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        let position = Int(handle.rawValue) - 1
        switch states[position] {
        case .found(let buffer): return .found(buffer.reader, owner: buffer)
        case .tombstone: return .tombstone
        case .nothing: return .lost
        case .unknown:
            // As if it were deleted: the read goes on, and finds out what else it needs.
            wanted.append(position)
            return .tombstone
        }
    }

    func shape(_ number: UInt64) throws -> Shape? { shapes.shape(number: number) }

    func times(of handle: Handle) throws -> RecordTimes? {
        records[Int(handle.rawValue) - 1].map {
            RecordTimes(
                writtenAt: $0.version.milliseconds / 1_000, maxAge: $0.maxAge, of: handle...handle)
        }
    }
}
