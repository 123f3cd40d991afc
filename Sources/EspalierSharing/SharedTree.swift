public import EspalierRecords

/// Records that a read has fetched so far, and the trees that they make.
///
/// A read adds records until no tree needs another:
///
/// ```swift
/// let tree = SharedTree(shapes: shapes)
/// var wanted = [name]
/// while true {
///     for (name, record) in try await fetch(wanted) { tree.add(name, record) }
///     let read = tree.model(Feed.self, name)
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
        /// The records to look up before the tree is read again.
        public let wanted: [SharedName]
        /// How old the oldest record that may expire is; nil if none may.
        public let oldestAge: Duration?
        /// Whether a record is older than it may be.
        public let isExpired: Bool
    }

    /// The records of the tree, apart from names that were looked up in vain.
    public private(set) var records: [SharedName: SharedRecord] = [:]

    /// Adds what a look-up has found under a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - record: The record; nil if there is none.
    public func add(_ name: SharedName, _ record: SharedRecord?) {
        records[name] = record
        source.add(name, record)
    }

    /// Returns the children of all records that were added since the last call and are not looked
    /// up yet: the next level.
    ///
    /// A record that several types wrote is left out. The children that only another type needs
    /// might lead anywhere: `model` and `elements` tell what else they need.
    ///
    /// - Parameter limit: The most names.
    public func nextLevel(limit: Int) -> [SharedName] { source.nextLevel(limit: limit) }

    /// Reads a node or a key.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - name: The name of a node or a key.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    public func model<Model: IdentifiedModel>(
        _ type: Model.Type, _ name: SharedName, ages: SharedAges
    ) -> Read<Model> {
        read(name, ages) { treeReader, handle in
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
    ///   - key: The key of the collection.
    ///   - ages: Whether expired records are accepted, and the time now in seconds since 1970.
    public func elements<Model: IdentifiedModel>(
        _ type: Model.Type, ofCollection key: String, ages: SharedAges
    ) -> Read<[Model]> {
        read(SharedName(.collection, key), ages) { treeReader, handle in
            var elements: [Model] = []
            try treeReader.values(entry: handle, identifier: key, in: .collection) { decoder in
                try decoder.decodeElements(numberedFrom: 0) {
                    elements.append(try ModelStorage.decode(type, from: &$0))
                }
            }
            return elements
        }
    }

    private func read<Value>(
        _ name: SharedName, _ ages: SharedAges, _ body: (TreeReader, Handle) throws -> Value
    ) -> Read<Value> {
        guard let entry = source.entry(of: name) else {
            return Read(
                result: .failure(.notFound), wanted: [name], oldestAge: nil, isExpired: false)
        }
        switch source.states[entry] {
        case .found: break
        case .tombstone, .nothing, .unknown:
            let isUnknown = if case .unknown = source.states[entry] { true } else { false }
            return Read(
                result: .failure(.notFound), wanted: isUnknown ? [name] : [], oldestAge: nil,
                isExpired: false)
        }
        source.wanted = []
        let rule = AgeRule(
            acceptsExpired: ages.acceptsExpired, maxAge: nil, checksAll: true, clock: ages)
        let treeReader = TreeReader(source: source, limits: limits, ages: rule)
        let result = treeReader.read(name.identifier) {
            try body(treeReader, Handle(UInt64(entry) + 1))
        }
        let judged = rule.judge(treeReader.ages)
        return Read(
            result: result, wanted: source.wantedNames, oldestAge: judged.oldest,
            isExpired: judged.isExpired)
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

/// The records of a ``SharedTree``, under handles that are positions in it.
private final class SharedSource: RecordSource {
    enum State {
        /// Nobody has looked the name up.
        case unknown
        case nothing
        case tombstone
        case found(RecordBuffer, writtenAt: UInt64, maxAge: UInt64?)
    }

    private let shapes: SharedShapes
    private var handles: [SharedName: Int] = [:]
    private(set) var names: [SharedName] = []
    private(set) var states: [State] = []
    /// The nodes to which each record refers, as positions.
    private var children: [[Int]] = []
    /// The records whose children `nextLevel` has not returned.
    private var fresh: [Int] = []
    /// The records that the last read needed and did not have.
    var wanted: [Int] = []

    init(_ shapes: SharedShapes) { self.shapes = shapes }

    func entry(of name: SharedName) -> Int? { handles[name] }

    private func position(of name: SharedName) -> Int {
        if let known = handles[name] { return known }
        let position = names.count
        handles[name] = position
        names.append(name)
        states.append(.unknown)
        children.append([])
        return position
    }

    func add(_ name: SharedName, _ record: SharedRecord?) {
        let position = position(of: name)
        guard let record else {
            states[position] = .nothing
            return
        }
        guard !record.isTombstone else {
            states[position] = .tombstone
            return
        }
        let targets = record.children.map { self.position(of: SharedName(.node, $0)) }
        children[position] = targets
        let isNode = name.kind == .node
        var writer = ByteWriter(capacity: record.values.count + name.identifier.utf8.count + 32)
        RecordLayout.write(
            Handle(UInt64(position) + 1), nameSpace: name.kind,
            shape: isNode ? .number(shapes.number(of: record.shape), record.shape) : .none,
            children: targets.map { Handle(UInt64($0) + 1) }, identifier: name.identifier,
            values: record.values[...], to: &writer)
        states[position] = .found(
            writer.copyToBuffer(), writtenAt: record.version.milliseconds / 1_000,
            maxAge: record.maxAge)
        if record.shape.types.count <= 1 { fresh.append(position) }
    }

    func nextLevel(limit: Int) -> [SharedName] {
        var level: [SharedName] = []
        var seen: Set<Int> = []
        for position in fresh {
            for child in children[position] where level.count < limit {
                guard case .unknown = states[child], seen.insert(child).inserted else { continue }
                level.append(names[child])
            }
        }
        fresh = []
        return level
    }

    /// The names of the records that the last read needed and did not have, and those of the other
    /// children of the records that refer to them: the read needs some of them next.
    var wantedNames: [SharedName] {
        guard !wanted.isEmpty else { return [] }
        let needed = Set(wanted)
        var all = needed
        for siblings in children where siblings.contains(where: needed.contains) {
            for child in siblings { if case .unknown = states[child] { all.insert(child) } }
        }
        return all.sorted().map { names[$0] }
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        let position = Int(handle.rawValue) - 1
        switch states[position] {
        case .found(let buffer, _, _): return .found(buffer.reader, owner: buffer)
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
        guard case .found(_, let writtenAt, let maxAge) = states[Int(handle.rawValue) - 1]
        else { return nil }
        return RecordTimes(writtenAt: writtenAt, maxAge: maxAge)
    }
}
