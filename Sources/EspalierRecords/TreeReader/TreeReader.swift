import EspalierConfinement

/// One read: reassembles a tree from the records of one snapshot, depth first.
///
/// The reader is pure over an abstract ``RecordSource``. It is not `Sendable` and serves one read.
@usableFromInline
package final class TreeReader {
    // immutable
    let source: any RecordSource
    let limits: TreeLimits
    let bridge = DecodingBridge()
    let missingFieldRule: MissingFieldRule
    private let cancellation: ReadCancellation?
    /// Keeps the models of the read; nil if the read keeps none.
    @usableFromInline package let recorder: TreeRecorder?
    /// How ages are judged; nil if they do not count.
    let ageRule: AgeRule?
    /// Whether the ages of all records count, whatever their types say.
    @usableFromInline let checksAllAges: Bool
    package let notesFollowed: Bool

    // confined to the thread that reads; no access lasts while a model decodes itself
    private let confined: Confined<State>

    var state: State {
        @inline(__always) _read { yield confined.value }
        @inline(__always) _modify { yield &confined.value }
    }

    var path: DecodingPath {
        @inline(__always) _read { yield confined.value.path }
        @inline(__always) _modify { yield &confined.value.path }
    }

    struct State {
        var path = DecodingPath()
        var depth = 0
        /// The deepest level so far.
        var deepest = 0
        /// The nodes that may still be decoded: the smaller of what the two limits on nodes leave.
        /// A decoded node counts for both, so that the path of every node has one counter. A
        /// repeated subtree lowers it only once `repeatedNodes` make the limit on logical nodes the
        /// smaller one.
        var nodesLeft: Int
        /// The value that `nodesLeft` would have if no node had been decoded.
        var nodeCeiling: Int
        /// The nodes in the models that were used again instead of decoded.
        var repeatedNodes = 0
        var bytesLeft: Int
        var recordCount = 0
        var isCut = false
        var stack = StackSpace()
        /// Whether the next record opened is an entry, which has to name itself as expected.
        var isAtEntry = false
        var entryIdentifier = ""
        var entryNameSpace = NameSpace.node
        var memo: [MemoKey: Memo] = [:]
        /// The first failure that ends the read, kept in case a model's initialiser swallows it.
        var failure: ReadFailure?
        var onCycle: [Handle] = []
        var unreadable: [Handle] = []
        var missing = MissingFields()
        var lacksField = false
        /// The model of a record that the read has made before, on its way to the caller.
        var memoized: Any?
        /// The date now, once the read has asked for it.
        var now: UInt64?
        /// When the entry was written; `.some(nil)` if it has no date, nil if the read has not
        /// looked.
        var entryDate: UInt64??
        /// The entry, until its record has named itself as expected, and how old it may be.
        var uncheckedEntry: (handle: Handle, maxAge: Duration?)?
        var ages = TreeAges()
        /// The first and the last handle of records that are fresh, whatever their type, and whose
        /// age is in `ages`.
        var fresh: (Handle, Handle)?
        var expired: [Handle] = []
        /// The records whose references the read has followed.
        var followed: [Handle] = []
    }

    struct MemoKey: Hashable {
        let handle: Handle
        let type: ObjectIdentifier
    }

    struct Memo {
        /// The model; nil where the record counts as deleted.
        let model: Any?
        let anchor: DecodingPath.Anchor
        /// The nodes of the subtree, each counted as often as it occurs.
        let nodes: Int
        /// Where the recorder, if there is one, has the nodes of the subtree.
        let place: Int
    }

    /// The records that the read found on their own path. The store flags them.
    package var onCycle: [Handle] { state.onCycle }

    /// The records whose bytes are broken or that are missing where a reference leads. The store
    /// examines them again.
    package var unreadable: [Handle] { state.unreadable }

    /// The number of records decoded.
    package var recordCount: Int { state.recordCount }

    /// The records whose references the read has followed to a record, once or more often each;
    /// empty unless the read was asked to note them.
    package var followed: [Handle] { state.followed }

    /// Whether the read left a back reference out.
    package var isCut: Bool { state.isCut }

    /// Whether the read ended because a record lacks a required field.
    package var lacksField: Bool { state.lacksField }

    /// The fields that records lack, in a read that collects them.
    package var missingFields: [MissingField] { state.missing.all }

    package init(
        source: any RecordSource, limits: TreeLimits = TreeLimits(),
        missingFields rule: MissingFieldRule = .stop, cancellation: ReadCancellation? = nil,
        recorder: TreeRecorder? = nil, ages: AgeRule? = nil, notesFollowed: Bool = false
    ) {
        self.source = source
        self.limits = limits
        missingFieldRule = rule
        self.cancellation = cancellation
        self.recorder = recorder
        ageRule = ages
        checksAllAges = ages?.checksAll == true
        self.notesFollowed = notesFollowed
        let nodes = min(limits.maximumNodes, limits.maximumLogicalNodes)
        confined = Confined(
            State(nodesLeft: nodes, nodeCeiling: nodes, bytesLeft: limits.maximumBytes))
        // Such a read meets all elements of the arrays above the change.
        if recorder?.olderTree != nil { state.path.visited.firstTable = 256 }
    }

    // MARK: Reads

    /// Runs the read and turns every error into a reason. `entry` stands in for the record in the
    /// path of a failure that names none.
    package func read<R>(_ entry: String, _ body: () throws -> R) -> Result<R, MissReason> {
        var value: R?
        let reason = reason(forMissing: entry) { value = try body() }
        guard let value, reason == nil else {
            return .failure(reason ?? .notFound)
        }
        return .success(value)
    }

    /// Runs the read, which is not generic, and returns why it failed; nil if it did not.
    package func reason(forMissing entry: String, _ body: () throws -> Void) -> MissReason? {
        do {
            try body()
            return state.failure?.inside(record: entry).reason
        } catch {
            let thrown = ReadFailure(error)
            // The failure that stopped the read comes first, with its path if that is known by now.
            let failure =
                state.failure.map { $0.path.isEmpty && thrown.cause == $0.cause ? thrown : $0 }
                ?? thrown
            state.lacksField = failure.lacksValue
            return failure.inside(record: entry).reason
        }
    }

    /// Decodes the node `identifier` at `handle`. `body` receives a decoder that stands at a
    /// reference to the node, because the strategy of the model's type decodes references.
    package func entry<Value>(
        _ handle: Handle, identifier: String, _ body: (inout ValueDecoder) throws -> Value
    ) throws -> Value {
        expectEntry(identifier, in: .node)
        let first = path.children.count
        path.children.append(handle)
        defer { path.dropChildren(from: first) }
        return try ByteReader.reading(Self.firstChild) { reader in
            var values = ValueDecoder(reader: reader, treeReader: self, children: first..<first + 1)
            return try body(&values)
        }
    }

    private static let firstChild = [Wire.fixext1, Wire.Extension.child, 0]

    /// Decodes the values of a key, a collection or a segment, whose record has no fields and has
    /// to name itself `identifier` in that name space.
    package func values<R>(
        entry handle: Handle, identifier: String, in nameSpace: NameSpace,
        _ body: (inout ValueDecoder) throws -> R
    ) throws -> R {
        expectEntry(identifier, in: nameSpace)
        if checksAllAges { try checkAge(of: handle, nil) }
        path.enter(handle)
        recorder?.depend(on: handle)
        let opened = try open(handle)
        defer { leave(opened.values.children.lowerBound) }
        var values = ValueDecoder(
            reader: opened.values.reader, treeReader: self, children: opened.values.children)
        do {
            try values.skipValue()
            return try body(&values)
        } catch {
            throw failure(of: error)
        }
    }

    /// Returns the segments of a collection that has to name itself `identifier`.
    package func children(entry handle: Handle, identifier: String) throws -> [Handle] {
        try values(entry: handle, identifier: identifier, in: .collection) { decoder in
            Array(path.children[decoder.children])
        }
    }

    /// More elements than a segment can have, so that the sum of all counts does not overflow.
    package static var mostElements: Int { 1 << 32 }

    /// Returns the segments of a collection that has to name itself `identifier`, each with the
    /// number of its elements.
    package func segments(
        entry handle: Handle, identifier: String
    ) throws -> [(handle: Handle, count: Int)] {
        try values(entry: handle, identifier: identifier, in: .collection) { decoder in
            var counts: [Int] = []
            try decoder.decodeElements { counts.append(try $0.decodeInteger()) }
            let handles = path.children[decoder.children]
            guard handles.count == counts.count,
                counts.allSatisfy({ (0...Self.mostElements).contains($0) })
            else {
                throw FormatError.malformed("a collection's counts")
            }
            return zip(handles, counts).map { (handle: $0, count: $1) }
        }
    }

    /// Requires the next record opened to name itself `identifier` in `nameSpace`.
    private func expectEntry(_ identifier: String, in nameSpace: NameSpace) {
        state.entryIdentifier = identifier
        state.entryNameSpace = nameSpace
        state.isAtEntry = true
    }

    // MARK: Models

    /// Decodes the tree below `handle` as a `Model`, which `make` decodes from its fields.
    ///
    /// Only the rim is generic, and it is specialised where the model is. Unspecialised code looks
    /// the metadata of generic types up wherever it mentions them, which took a sixth of reading a
    /// feed.
    ///
    /// - Parameters:
    ///   - isCacheable: Returns whether reads may share a model of the type.
    ///   - maxAge: Returns how old a record of the type may be.
    @inlinable
    package func decodeModel<Model>(
        at handle: Handle, as type: Model.Type, isCacheable: @autoclosure () -> Bool = true,
        maxAge: @autoclosure () -> Duration? = nil,
        _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        if let maxAge = maxAge() {
            try checkAge(of: handle, maxAge)
        } else if checksAllAges {
            try checkAge(of: handle, nil)
        }
        if let recorder {
            if recorder.keepsModels { return try record(handle, in: recorder, isCacheable, make) }
            recorder.note(handle, as: ObjectIdentifier(type), isCacheable)
        }
        return try visit(handle, ObjectIdentifier(type))
            ? decodeRepeated(handle, make) : decode(handle, make)
    }

    /// Returns the model of an earlier decoding, or decodes it and keeps it.
    ///
    /// Models are kept from the second visit on: most nodes are met once, and a look-up costs more
    /// than it saves.
    @inlinable @inline(never)
    func decodeRepeated<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        let type = ObjectIdentifier(Model.self)
        if let known = try memoized(handle, type) as? Model { return known }
        let before = logicalNodes
        let missing = startCollecting(at: handle, Model.self)
        do {
            let model = try decode(handle, make)
            memoize(model, handle, type, nodes: logicalNodes - before)
            return model
        } catch {
            memoizeDeletion(error, handle, type, nodes: logicalNodes - before)
            throw collected(error, since: missing)
        }
    }

    // The model is returned where it is made: a copy would retain all of its strings.
    @inlinable
    func decode<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        var decoder = try decoder(of: handle)
        let firstChild = decoder.values.children.lowerBound
        defer { leave(firstChild) }
        do {
            return try make(&decoder)
        } catch {
            throw attribute(error, to: handle)
        }
    }

    /// Steps into the record and returns whether the read has met it before. Throws if the record
    /// is being decoded.
    @usableFromInline
    func visit(_ handle: Handle, _ type: ObjectIdentifier) throws -> Bool {
        if notesFollowed, let parent = path.current, state.followed.last != parent {
            state.followed.append(parent)
        }
        switch path.visit(handle, type) {
        // Names of types are needed for missing fields, and kept on the path of repeated records.
        case .first: return missingFieldRule == .collect
        case .again: return true
        case .cut:
            state.isCut = true
            state.onCycle.append(handle)
            recorder?.noteCut()
            throw ReadFailure(.cut)
        }
    }

    /// Returns the model that an earlier decoding of the record stepped into gave, and steps out of
    /// the record; nil if the record has to be decoded.
    @usableFromInline
    func memoized(_ handle: Handle, _ type: ObjectIdentifier) throws -> Any? {
        guard let known = state.memo[MemoKey(handle: handle, type: type)] else { return nil }
        guard let recorder, recorder.keepsModels else {
            return path.use(known.anchor) ? try repeated(known) : nil
        }
        guard recorder.mayRepeat(known.place), path.use(known.anchor) else { return nil }
        recorder.addRepeat(handle, isCut: known.anchor.hasCuts, isLeaf: known.nodes <= 1)
        return try repeated(known)
    }

    private func repeated(_ known: Memo) throws -> Any {
        try countRepeated(known.nodes)
        guard let model = known.model else { throw ReadFailure(.deleted) }
        return model
    }

    /// Keeps the model of the record just left, or nil where the record counts as deleted.
    @usableFromInline
    func memoize(
        _ model: Any?, _ handle: Handle, _ type: ObjectIdentifier, nodes: Int, at place: Int = 0
    ) {
        guard let anchor = path.anchorOfLast() else { return }
        state.memo[MemoKey(handle: handle, type: type)] = Memo(
            model: model, anchor: anchor, nodes: nodes, place: place)
    }

    @usableFromInline
    func memoizeDeletion(
        _ error: any Error, _ handle: Handle, _ type: ObjectIdentifier, nodes: Int,
        at place: Int = 0
    ) {
        guard (error as? ReadFailure)?.cause == .deleted else { return }
        memoize(nil, handle, type, nodes: nodes, at: place)
    }

    /// The nodes of the tree so far, each counted as often as it occurs.
    @usableFromInline var logicalNodes: Int {
        state.nodeCeiling - state.nodesLeft + state.repeatedNodes
    }

    /// Counts the nodes of a subtree that is used again. A diamond doubles them at every level
    /// without another record being decoded.
    private func countRepeated(_ nodes: Int) throws {
        // No sum overflows: `nodes` is at most the limit, as `repeatedNodes` was before.
        guard nodes <= limits.maximumLogicalNodes - state.repeatedNodes else {
            throw stop(.tooLarge)
        }
        state.repeatedNodes += nodes
        let ceiling = min(
            limits.maximumNodes, limits.maximumLogicalNodes - state.repeatedNodes)
        state.nodesLeft -= state.nodeCeiling - ceiling
        state.nodeCeiling = ceiling
        guard state.nodesLeft >= 0 else { throw stop(.tooLarge) }
    }

    // MARK: Records

    /// Opens the record stepped into and returns a decoder of its fields; `leave` steps out again.
    @usableFromInline
    func decoder(of handle: Handle) throws -> RecordDecoder {
        state.nodesLeft -= 1
        let opened = try open(handle)
        var values = opened.values
        do {
            guard try values.reader.skipString() else {
                throw FormatError.malformed("a record without an identifier")
            }
        } catch {
            let failure = failure(of: error)
            leave(values.children.lowerBound)
            throw failure
        }
        return RecordDecoder(
            values: ValueDecoder(
                reader: values.reader, treeReader: self, children: values.children),
            shape: opened.shape)
    }

    /// Opens the record stepped into: parses it, and returns a reader that stands at its
    /// identifier. Steps out of the record if that fails.
    private func open(_ handle: Handle) throws -> (
        shape: Shape, values: (reader: ByteReader, children: Range<Int>)
    ) {
        do {
            try enter()
        } catch {
            path.turnBack()
            throw error
        }
        let firstChild = path.children.count
        do {
            guard state.nodesLeft >= 0 else { throw stop(.tooLarge) }
            if let cancellation, cancellation.isSet { throw stop(.cancelled) }
            let (reader, owner) = try lookUp(handle)
            if let owner { path.keep(owner) }
            let opened = try parse(reader, handle)
            if opened.shape.isDeletion { throw ReadFailure(.deleted) }
            return (opened.shape, (opened.body, firstChild..<firstChild + opened.childCount))
        } catch {
            let failure = sourceFailure(of: error)
            leave(firstChild)
            throw failure
        }
    }

    /// Returns the stored bytes of a record, and what keeps them in place.
    @inline(__always)
    func lookUp(_ handle: Handle) throws -> (bytes: ByteReader, owner: RecordBuffer?) {
        switch try source.record(handle) {
        case .found(let bytes, let owner): return (bytes, owner)
        case .tombstone: throw ReadFailure(.deleted)
        case .lost: throw stop(.lost)
        case .nothing:
            // Segments have no name and are found by reference.
            let isFoundByName = state.isAtEntry && !state.entryIdentifier.isEmpty
            if !isFoundByName { state.unreadable.append(handle) }
            throw stop(.dangling)
        }
    }

    /// Finds the shape, the body and the children of a record.
    private func parse(
        _ stored: ByteReader, _ handle: Handle
    ) throws -> (shape: Shape, body: ByteReader, childCount: Int) {
        var reader = stored
        try countBytes(stored.end)
        let layout = try RecordLayout(reading: &reader)
        if layout.childCount > 0 {
            try layout.readChildren(&reader, of: handle, into: &path.children)
        }
        let shape = try Record.shape(of: layout, &reader, source.shape)
        state.recordCount += 1
        if state.isAtEntry {
            try checkName(reader, layout)
            if let entry = state.uncheckedEntry.take() {
                try checkAge(of: entry.handle, entry.maxAge)
            }
        }
        return (shape, reader, layout.childCount)
    }

    private func countBytes(_ count: Int) throws {
        state.bytesLeft -= count
        guard state.bytesLeft >= 0 else { throw stop(.tooLarge) }
    }

    /// Throws unless the entry's record names itself as expected. The index holds only the
    /// beginnings of names, so it may lead to the record of another name.
    private func checkName(_ body: ByteReader, _ layout: RecordLayout) throws {
        state.isAtEntry = false
        var body = body
        guard layout.nameSpace == state.entryNameSpace,
            try layout.matchIdentifier(state.entryIdentifier, &body)
        else {
            throw stop(.notFound)
        }
    }

    /// Steps out of the record whose children start at `firstChild`.
    @usableFromInline
    func leave(_ firstChild: Int) {
        path.leave(firstChild)
        leave()
    }

    /// Returns the handle of a child. `run` holds the children of the record, as positions among
    /// those of the path.
    func child(_ ordinal: Int, of run: Range<Int>) throws -> Handle {
        guard ordinal < run.count else {
            throw FormatError.malformed("a child that is not in the record")
        }
        return path.children[run.lowerBound + ordinal]
    }

    // MARK: Failures

    /// Returns a failure that ends the read even if a model's initialiser swallows it.
    func stop(_ cause: ReadFailure.Cause) -> ReadFailure {
        let failure = ReadFailure(cause, isFinal: true)
        if state.failure == nil { state.failure = failure }
        return failure
    }

    /// Returns the failure for an error thrown while a record was read. Bytes that break the format
    /// are reported as the record's, and end the read whatever the model's initialiser does.
    func failure(of error: any Error) -> ReadFailure {
        let failure = ReadFailure(error)
        guard let error = error as? FormatError else { return failure }
        if !error.isNewer, let handle = path.current { state.unreadable.append(handle) }
        return stop(failure.cause)
    }

    /// Returns the failure for an error that the source threw, which ends the read.
    private func sourceFailure(of error: any Error) -> ReadFailure {
        switch error {
        case let failure as ReadFailure: failure
        case is FormatError: failure(of: error)
        default: stop(.unavailable("\(error)"))
        }
    }

    /// Returns the failure for bytes that break the format; any other error, which may be a model's
    /// own, as it is.
    func failureOrModelError(_ error: any Error) -> any Error {
        error is FormatError ? failure(of: error) : error
    }

    /// Returns the failure with the identifier of the record it happened in, which is read again
    /// for that.
    @usableFromInline
    func attribute(_ error: any Error, to handle: Handle) -> any Error {
        let failure = failure(of: error)
        guard failure.lacksRecord else { return failure }
        let attributed = failure.inside(record: identifier(of: handle) ?? "?")
        // The same failure, now with its path.
        if attributed.isFinal, state.failure?.path.isEmpty == true { state.failure = attributed }
        return attributed
    }

    /// Returns the identifier in a record, which is read again for that; nil if it can't be read.
    package func identifier(of handle: Handle) -> String? { parsedRecord(handle)?.identifier }

    /// Returns the name of a record, which is read for that; nil if it has none or can't be read.
    package func name(of handle: Handle) -> (nameSpace: NameSpace, identifier: String)? {
        guard let record = parsedRecord(handle), record.nameSpace != .segment else { return nil }
        return (record.nameSpace, record.identifier)
    }

    /// Reads a record again, as a whole; nil if it can't be read.
    func parsedRecord(_ handle: Handle) -> Record? {
        guard case .found(let stored, let owner)? = try? source.record(handle) else { return nil }
        return withExtendedLifetime(owner) {
            try? Record(reading: stored, handle: handle, shapes: source.shape)
        }
    }

    // MARK: Depth

    /// Runs `body` one level down.
    @inline(__always)
    func nested<R>(_ body: () throws -> R) throws -> R {
        try enter()
        defer { leave() }
        return try body()
    }

    @usableFromInline
    func enter() throws {
        let level = state.depth
        guard level < limits.maximumDepth, !StackSpace.isDue(at: level) || state.stack.hasSpace()
        else {
            throw stop(.tooDeep)
        }
        state.depth = level + 1
        if level >= state.deepest { state.deepest = level + 1 }
    }

    @usableFromInline
    func leave() { state.depth -= 1 }

    /// Throws unless the read may go `levels` deeper without `nested`: containers of a model's own
    /// code recurse by themselves.
    func checkDepth(adding levels: Int) throws {
        guard state.depth + levels < limits.maximumDepth, state.stack.hasSpace() else {
            throw stop(.tooDeep)
        }
        state.deepest = max(state.deepest, state.depth + levels)
    }
}
