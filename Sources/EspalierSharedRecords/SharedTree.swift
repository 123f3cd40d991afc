import EspalierConfinement
public import EspalierRecords
public import Foundation

/// The records that a read has fetched so far, and decodes from.
///
/// Names have positions, in the order in which the tree met them. A read adds records until it
/// wants no more:
///
/// ```swift
/// let tree = SharedTree(shapes: shapes)
/// let root = tree.position(of: name)
/// var wanted = [root]
/// while true {
///     tree.add(try await fetch(wanted.map(tree.name)), at: wanted)
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

    /// A task may resume on another thread, which then owns the contents.
    private func begin() { source.contents.transferToCurrentThread() }

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
    public var count: Int {
        begin()
        return source.contents.value.count
    }

    /// Returns the position of a name, which never changes.
    ///
    /// - Parameter name: The name.
    public func position(of name: SharedName) -> Int {
        begin()
        return source.contents.value.position(of: name)
    }

    /// Returns the name at a position.
    ///
    /// - Parameter position: The position.
    public func name(at position: Int) -> SharedName {
        begin()
        return source.contents.value.name(at: position)
    }

    /// Returns the record that was added at a position; nil for none.
    ///
    /// - Parameter position: The position.
    public func record(at position: Int) -> SharedRecord? {
        begin()
        return source.contents.value.record(at: position)
    }

    /// Adds what a look-up has found under some names.
    ///
    /// - Parameters:
    ///   - records: A record for each name; nil if there is none.
    ///   - positions: The positions of the names.
    public func add(_ records: [SharedRecord?], at positions: [Int]) {
        begin()
        source.contents.value.add(records, at: positions)
    }

    /// All positions, children after the first record that refers to them: the order in which a
    /// read of the tree visits its records.
    public var preOrder: [Int] {
        begin()
        return source.contents.value.preOrder
    }

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
        begin()
        return source.contents.value.nextLevel(limit: limit, ofAll)
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
        let name = name(at: position)
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

    /// Tells which nodes can be read as models of some types, and which can't because they, or
    /// nodes that they require, were deleted.
    ///
    /// - Parameters:
    ///   - nodes: The types, and the positions of the names of the nodes.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    /// - Returns: The positions of both.
    public func states(
        of nodes: [(type: any IdentifiedModel.Type, position: Int)], ages: SharedAges
    ) -> Read<(readable: Set<Int>, deleted: Set<Int>)> {
        var (readable, deleted, wanted) = (Set<Int>(), Set<Int>(), Set<Int>())
        func read<Model: IdentifiedModel>(_ type: Model.Type, _ position: Int) {
            let read = model(type, at: position, ages: ages)
            wanted.formUnion(read.wanted)
            switch read.result {
            case .success: readable.insert(position)
            case .failure(.deleted): deleted.insert(position)
            case .failure:
                if source.contents.value.isTombstone(at: position) { deleted.insert(position) }
            }
        }
        for node in nodes { read(node.type, node.position) }
        return Read(
            result: .success((readable, deleted)), wanted: wanted.sorted(), oldestAge: nil,
            isExpired: false)
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
        let key = name(at: position).identifier
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
        let name = name(at: position)
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
        begin()
        let isFound = source.contents.value.isFound(at: position)
        guard isFound == true else {
            return Read(
                result: .failure(.notFound), wanted: isFound == nil ? [position] : [],
                oldestAge: nil, isExpired: false)
        }
        source.contents.value.beginRead()
        let rule = AgeRule(
            acceptsExpired: ages.acceptsExpired, maxAge: nil,
            checksAll: source.contents.value.mayExpire,
            clock: ages)
        let treeReader = TreeReader(source: source, limits: limits, ages: rule)
        let name = name(at: position)
        let result = treeReader.read(name.identifier) {
            try body(treeReader, Handle(UInt64(position) + 1))
        }
        let judged = rule.judge(treeReader.ages)
        return Read(
            result: result, wanted: source.contents.value.allWanted, oldestAge: judged.oldest,
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

/// The records of a ``SharedTree``, under handles that are positions in it, counted from 1.
private final class SharedSource: RecordSource {
    let contents: Confined<SharedContents>

    init(_ shapes: SharedShapes) { contents = Confined(SharedContents(shapes)) }

    func record(_ handle: Handle) throws -> RecordLookup {
        contents.value.lookUp(at: Int(handle.rawValue) - 1)
    }

    func shape(_ number: UInt64) throws -> Shape? { contents.value.shape(number) }

    func times(of handle: Handle) throws -> RecordTimes? {
        contents.value.record(at: Int(handle.rawValue) - 1).map {
            RecordTimes(
                writtenAt: $0.version.milliseconds / 1_000, maxAge: $0.maxAge, of: handle...handle)
        }
    }
}

/// What a ``SharedTree`` knows: names, their records, and the bytes that a reader reads.
private struct SharedContents: ~Copyable {
    private enum State {
        /// The name was not looked up yet.
        case unknown
        case nothing
        case tombstone
        case found
    }

    /// What is known under a name.
    private struct Entry {
        let name: SharedName
        var state = State.unknown
        var record: SharedRecord?
        /// The positions of the record's children in `children`.
        var children = 0..<0
        /// The number of the buffer that has the record's bytes, and where they stand in it.
        var buffer = 0
        var bytes = 0..<0
    }

    private let shapes: SharedShapes
    /// The shapes of the tree's records, by number.
    private var shapesByNumber: [Shape?] = []
    private var entries: [Entry] = []
    private var table = NodeTable()
    /// The positions of all children, record by record.
    private var children: [Int] = []
    /// The records in the form that a reader reads. Those that were added since the last read are
    /// still in `writer`.
    private var buffers: [RecordBuffer] = []
    private var writer = ByteWriter(capacity: 4_096)
    /// The records whose children `nextLevel` has not returned.
    private var fresh: [Int] = []
    /// Whether a record has a maximum age of its own.
    private(set) var mayExpire = false
    /// The records that the last read needed and did not have.
    private var wanted: [Int] = []

    init(_ shapes: SharedShapes) { self.shapes = shapes }

    var count: Int { entries.count }

    func name(at position: Int) -> SharedName { entries[position].name }

    func record(at position: Int) -> SharedRecord? { entries[position].record }

    mutating func position(of name: SharedName) -> Int {
        position(of: name.identifier, name.kind) { name }
    }

    /// Returns the position of an identifier or a key, which gets one if it has none.
    private mutating func position(
        of identifier: String, _ kind: NameSpace, _ name: () -> SharedName
    ) -> Int {
        let place = table.place(of: identifier) {
            entries[$0].name.kind == kind
                && entries[$0].name.identifier.hasSameBytes(as: identifier)
        }
        if let known = place.node { return known }
        table.insert(entries.count, at: place)
        entries.append(Entry(name: name()))
        return entries.count - 1
    }

    mutating func add(_ records: [SharedRecord?], at positions: [Int]) {
        for (record, position) in zip(records, positions) { add(record, at: position) }
    }

    private mutating func add(_ record: SharedRecord?, at position: Int) {
        entries[position].record = record
        guard let record else {
            entries[position].state = .nothing
            return
        }
        guard !record.isTombstone else {
            entries[position].state = .tombstone
            return
        }
        let firstChild = children.count
        for child in record.children {
            children.append(self.position(of: child, .node) { SharedName(.node, child) })
        }
        let start = writer.count
        write(record, named: entries[position].name, children: children[firstChild...])
        entries[position].state = .found
        entries[position].children = firstChild..<children.count
        entries[position].buffer = buffers.count
        entries[position].bytes = start..<writer.count
        if record.maxAge != nil { mayExpire = true }
        fresh.append(position)
    }

    /// Writes a record as a reader reads it fastest: with far children, see `RecordLayout`, and a
    /// whole identifier.
    private mutating func write(
        _ record: SharedRecord, named name: SharedName, children: ArraySlice<Int>
    ) {
        writer.append(name.kind.rawValue)
        writer.append(varint: name.kind == .node ? number(of: record.shape) : 0)
        writer.append(varint: UInt64(children.count))
        for child in children { writer.append(varint: UInt64(child + 1) << 1 | 1) }
        writer.append(value: name.identifier)
        writer.append(record.values)
    }

    // MARK: Levels

    /// All positions, children after the first record that refers to them.
    var preOrder: [Int] {
        var order: [Int] = []
        order.reserveCapacity(entries.count)
        var isTaken = [Bool](repeating: false, count: entries.count)
        var stack: [Int] = []
        for root in entries.indices where !isTaken[root] {
            stack.append(root)
            while let position = stack.popLast() {
                guard !isTaken[position] else { continue }
                isTaken[position] = true
                order.append(position)
                stack.append(contentsOf: children[entries[position].children].reversed())
            }
        }
        return order
    }

    mutating func nextLevel(limit: Int, _ ofAll: Bool) -> [Int] {
        var level: [Int] = []
        var isTaken = [Bool](repeating: false, count: entries.count)
        for position in fresh
        where ofAll || entries[position].record.map(\.isOfOneType) ?? false {
            for child in children[entries[position].children] where level.count < limit {
                guard entries[child].state == .unknown, !isTaken[child] else { continue }
                isTaken[child] = true
                level.append(child)
            }
        }
        fresh = []
        return level
    }

    // MARK: Reading

    /// Whether there is a living record at a position. Nil if it was not looked up.
    func isFound(at position: Int) -> Bool? {
        switch entries[position].state {
        case .found: true
        case .unknown: nil
        case .nothing, .tombstone: false
        }
    }

    func isTombstone(at position: Int) -> Bool { entries[position].state == .tombstone }

    /// Makes the added records readable.
    mutating func beginRead() {
        wanted = []
        guard writer.count > 0 else { return }
        buffers.append(writer.copyToBuffer())
        writer.removeAll()
    }

    /// The records that the last read needed and did not have, and the other children of the
    /// records that refer to them: the read needs some of these next.
    var allWanted: [Int] {
        guard !wanted.isEmpty else { return [] }
        let needed = Set(wanted)
        var all = needed
        for entry in entries where children[entry.children].contains(where: needed.contains) {
            for child in children[entry.children] where entries[child].state == .unknown {
                all.insert(child)
            }
        }
        return all.sorted()
    }

    mutating func lookUp(at position: Int) -> RecordLookup {
        switch entries[position].state {
        case .found:
            let buffer = buffers[entries[position].buffer]
            return .found(buffer.reader.slice(entries[position].bytes), owner: buffer)
        case .tombstone: return .tombstone
        case .nothing: return .lost
        case .unknown:
            // Reads as deleted, so the read goes on and finds what else it needs.
            wanted.append(position)
            return .tombstone
        }
    }

    // MARK: Shapes

    func shape(_ number: UInt64) -> Shape? {
        guard number < shapesByNumber.count else { return nil }
        return shapesByNumber[Int(number)]
    }

    /// Returns the number of a shape. A tree has few shapes: a search takes less time than the lock
    /// of all shapes.
    private mutating func number(of shape: Shape) -> UInt64 {
        if let known = shapesByNumber.firstIndex(where: { $0 === shape }) { return UInt64(known) }
        let number = Int(shapes.number(of: shape))
        let missing = number + 1 - shapesByNumber.count
        if missing > 0 { shapesByNumber += [Shape?](repeating: nil, count: missing) }
        shapesByNumber[number] = shape
        return UInt64(number)
    }
}
