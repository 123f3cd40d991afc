import EspalierConfinement

/// One read: reassembles a tree from the records of one snapshot, depth first.
///
/// Pure over an abstract source. Not `Sendable`, and of no use once the read has ended: decoders
/// that users kept find `isOpen` false and throw.
@usableFromInline
package final class TreeReader {
    let source: any RecordSource
    let bridge = DecodingBridge()
    let limits: TreeLimits

    private var stack = StackSpace()
    private let depth = Tally(0)
    private let nodesLeft: Tally
    private let bytesLeft: Tally
    private let confinedPath = Confined(DecodingPath())
    var decodingPath: DecodingPath {
        @inline(__always) _read { yield confinedPath.value }
        @inline(__always) _modify { yield &confinedPath.value }
    }
    private var memo: [MemoKey: Remembered] = [:]
    private let cutTally = Tally(0)
    /// What the entry's record has to name itself; looked at only where `isAtEntry` says so.
    private var expectedIdentifier: String?
    private var expectedNameSpace = NameSpace.node
    private let isAtEntry = Tally(0)
    /// What stopped the read for good, kept in case a model's initialiser swallows it.
    private var failure: ReadFailure?

    /// Records found on their own path: the store flags them.
    package private(set) var onCycle: [Handle] = []
    /// Records whose bytes are broken, and those that are not where a reference leads: the store
    /// looks at them again.
    package private(set) var unreadable: [Handle] = []
    package private(set) var isOpen = true
    /// Records decoded.
    package var recordCount: Int { recordTally.value }
    private let recordTally = Tally(0)

    /// Whether a back reference was left out.
    package var isCut: Bool { cutTally.value > 0 }

    private struct MemoKey: Hashable {
        let handle: Handle
        let type: ObjectIdentifier
    }

    private struct Remembered {
        /// The model; nil where the record counts as deleted.
        let model: Any?
        let anchor: DecodingPath.Anchor
    }

    package init(source: any RecordSource, limits: TreeLimits = TreeLimits()) {
        self.source = source
        self.limits = limits
        nodesLeft = Tally(limits.maximumNodes)
        bytesLeft = Tally(limits.maximumBytes)
    }

    /// Runs the read. Whatever is thrown comes out as a reason; `entry` stands for a path that
    /// names no record.
    package func read<R>(_ entry: String, _ body: () throws -> R) -> Result<R, MissReason> {
        defer { isOpen = false }
        do {
            let value = try body()
            guard let failure else { return .success(value) }
            return .failure(failure.inside(record: entry).reason)
        } catch {
            let thrown = ReadFailure(error)
            // What stopped the read, with its path where that is known by now.
            let failure =
                failure.map { $0.path.isEmpty && thrown.cause == $0.cause ? thrown : $0 } ?? thrown
            return .failure(failure.inside(record: entry).reason)
        }
    }

    /// The value of the entry `identifier`, which `body` reads as a reference to it: for types
    /// known by their strategy only.
    package func entry<Value>(
        _ handle: Handle, identifier: String, _ body: (inout ValueDecoder) throws -> Value
    ) throws -> Value {
        expect(identifier, in: .node)
        let first = decodingPath.children.count
        decodingPath.children.append(handle)
        defer { decodingPath.dropChildren(from: first) }
        return try ByteReader.reading(Self.firstChild) { reader in
            var values = ValueDecoder(reader: reader, treeReader: self, children: first..<first + 1)
            return try body(&values)
        }
    }

    private static let firstChild = [Wire.fixext1, Wire.Extension.child, 0]

    /// The tree below `handle` as a `Model`, which `make` decodes from its fields.
    ///
    /// Generic only at the rim, which specialises where the model is: the metadata of generic types
    /// is looked up wherever unspecialised code mentions it, and took a sixth of reading a feed.
    @inlinable
    package func assemble<Model>(
        _ handle: Handle, as type: Model.Type, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        try visit(handle, ObjectIdentifier(type))
            ? assembleAgain(handle, make) : decode(handle, make)
    }

    /// Kept from the second visit on: most nodes are met once, and a look-up costs more than their
    /// decoding saves.
    @inlinable @inline(never)
    func assembleAgain<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        let type = ObjectIdentifier(Model.self)
        if let known = try remembered(handle, type) as? Model { return known }
        do {
            let model = try decode(handle, make)
            remember(model, handle, type)
            return model
        } catch {
            rememberDeletion(error, handle, type)
            throw error
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

    /// Steps into the record. Whether it was met before in this read; throws where it is being
    /// decoded.
    @usableFromInline
    func visit(_ handle: Handle, _ type: ObjectIdentifier) throws -> Bool {
        switch decodingPath.visit(handle, type) {
        case .first: return false
        case .again: return true
        case .cut:
            cutTally.add(1)
            onCycle.append(handle)
            throw ReadFailure(.cut)
        }
    }

    /// What an earlier decoding of the record stepped into came to, and out of it again; nil if it
    /// has to be decoded.
    @usableFromInline
    func remembered(_ handle: Handle, _ type: ObjectIdentifier) throws -> Any? {
        guard let known = memo[MemoKey(handle: handle, type: type)], decodingPath.use(known.anchor)
        else { return nil }
        guard let model = known.model else { throw ReadFailure(.deleted) }
        return model
    }

    /// Keeps what the record just left came to; no model where it counts as deleted.
    @usableFromInline
    func remember(_ model: Any?, _ handle: Handle, _ type: ObjectIdentifier) {
        guard let anchor = decodingPath.anchorOfLast() else { return }
        memo[MemoKey(handle: handle, type: type)] = Remembered(model: model, anchor: anchor)
    }

    @usableFromInline
    func rememberDeletion(_ error: any Error, _ handle: Handle, _ type: ObjectIdentifier) {
        if (error as? ReadFailure)?.cause == .deleted { remember(nil, handle, type) }
    }

    /// Steps into the record of `handle`; `leave` steps out again.
    @usableFromInline
    func decoder(of handle: Handle) throws -> RecordDecoder {
        nodesLeft.add(-1)
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

    /// Opens the record stepped into: checked and taken apart, a reader standing at its identifier.
    /// Steps out if that fails.
    func open(_ handle: Handle) throws -> (
        shape: Shape, values: (reader: ByteReader, children: Range<Int>)
    ) {
        do {
            try enter()
        } catch {
            decodingPath.turnBack()
            throw error
        }
        let firstChild = decodingPath.children.count
        do {
            guard nodesLeft.value >= 0 else { throw stop(.tooLarge) }
            switch try source.record(handle) {
            case .found(let reader, let owner):
                if let owner { decodingPath.keep(owner) }
                let opened = try takeApart(reader, handle)
                return (opened.shape, (opened.body, firstChild..<firstChild + opened.childCount))
            case .tombstone: throw ReadFailure(.deleted)
            case .lost: throw stop(.lost)
            case .nothing:
                if !isAtNamedEntry { unreadable.append(handle) }
                throw stop(.dangling)
            }
        } catch {
            let failure = stopped(error)
            leave(firstChild)
            throw failure
        }
    }

    /// Whatever a source throws is damage, or worse, whatever the model makes of it.
    private func stopped(_ error: any Error) -> ReadFailure {
        switch error {
        case let failure as ReadFailure: failure
        case is FormatError: failure(of: error)
        default: stop(.unavailable("\(error)"))
        }
    }

    /// Whatever was thrown while a record is being read. Bytes that break the format end the read
    /// even if the model's initialiser makes do without, and are noted as the record's.
    func failure(of error: any Error) -> ReadFailure {
        let failure = ReadFailure(error)
        guard let error = error as? FormatError else { return failure }
        if !error.isNewer, let handle = decodingPath.current { unreadable.append(handle) }
        return stop(failure.cause)
    }

    private func takeApart(
        _ stored: ByteReader, _ handle: Handle
    ) throws -> (shape: Shape, body: ByteReader, childCount: Int) {
        var reader = stored
        try take(bytes: stored.end)
        let layout = try RecordLayout(reading: &reader)
        if layout.childCount > 0 {
            try layout.readChildren(&reader, of: handle, into: &decodingPath.children)
        }
        var dictionary: UInt64 = 0
        if layout.dictionaryNumber != 0 {
            let decompressed = try source.decompress(reader, layout)
            try take(bytes: decompressed.reader.end - stored.end)
            (reader, dictionary) = (decompressed.reader, decompressed.dictionary)
        }
        var body = try layout.payload(reader)
        let shape = try Record.shape(of: layout, &body, source.shape)
        try layout.verify(reader, handle: handle, shape: shape.fingerprint, dictionary: dictionary)
        recordTally.add(1)
        if isAtEntry.value != 0 { try checkName(body, layout.nameSpace) }
        return (shape, body, layout.childCount)
    }

    private func take(bytes count: Int) throws {
        bytesLeft.add(-count)
        guard bytesLeft.value >= 0 else { throw stop(.tooLarge) }
    }

    /// The same for what may be a model's own error, which goes to whoever reads the field as it
    /// is.
    func noted(_ error: any Error) -> any Error {
        error is FormatError ? failure(of: error) : error
    }

    /// Steps out of the record whose children stand from `firstChild` on.
    @usableFromInline
    func leave(_ firstChild: Int) {
        decodingPath.leave(firstChild)
        leave()
    }

    /// The next record has to name itself `identifier`, in that name space.
    func expect(_ identifier: String, in nameSpace: NameSpace) {
        expectedIdentifier = identifier
        expectedNameSpace = nameSpace
        isAtEntry.add(1)
    }

    /// An index entry that leads to another record is damage.
    private func checkName(_ body: ByteReader, _ nameSpace: NameSpace) throws {
        isAtEntry.add(-1)
        guard let expected = expectedIdentifier else { return }
        var body = body
        guard nameSpace == expectedNameSpace, let count = try body.takeStringLength(),
            try body.matches(expected, count: count)
        else {
            throw stop(.damaged("the index leads to another record"))
        }
    }

    /// Whether the record to be opened was found by its name. Segments, which have none, are found
    /// by reference.
    private var isAtNamedEntry: Bool {
        isAtEntry.value != 0 && expectedIdentifier?.isEmpty == false
    }

    /// The failure with the record it happened in, which is read again for its name.
    @usableFromInline
    func attribute(_ error: any Error, to handle: Handle) -> any Error {
        let failure = failure(of: error)
        guard failure.lacksRecord else { return failure }
        let attributed = failure.inside(record: identifier(of: handle) ?? "?")
        // The same failure, now with its path.
        if attributed.isFinal, self.failure?.path.isEmpty == true { self.failure = attributed }
        return attributed
    }

    private func identifier(of handle: Handle) -> String? {
        guard case .found(let stored, let owner)? = try? source.record(handle) else { return nil }
        return withExtendedLifetime(owner) {
            guard let record = try? source.decompressed(stored) else { return nil }
            return try? Record(
                reading: record, storedAs: stored.end, handle: handle, shapes: source.shape
            ).identifier
        }
    }

    /// One level down.
    @inline(__always)
    func nested<R>(_ body: () throws -> R) throws -> R {
        try enter()
        defer { leave() }
        return try body()
    }

    @usableFromInline
    func enter() throws {
        let level = depth.value
        guard level < limits.maximumDepth, !StackSpace.isDue(at: level) || stack.hasSpace() else {
            throw stop(.tooDeep)
        }
        depth.add(1)
    }

    @usableFromInline
    func leave() { depth.add(-1) }

    /// Throws unless `levels` more may be entered outside of `nested`: containers of users' code,
    /// which recurses by itself.
    func allow(levels: Int) throws {
        guard depth.value + levels < limits.maximumDepth, stack.hasSpace() else {
            throw stop(.tooDeep)
        }
    }

    /// A failure that ends the read even if a model's initialiser swallows it.
    func stop(_ cause: ReadFailure.Cause) -> ReadFailure {
        let failure = ReadFailure(cause, isFinal: true)
        if self.failure == nil { self.failure = failure }
        return failure
    }

    func child(_ ordinal: Int, of run: Range<Int>) throws -> Handle {
        guard ordinal < run.count else {
            throw FormatError.malformed("a child that is not in the record")
        }
        return decodingPath.children[run.lowerBound + ordinal]
    }
}
