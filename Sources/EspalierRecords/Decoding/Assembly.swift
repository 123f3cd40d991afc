/// One read: reassembles a tree from the records of one snapshot, depth first.
///
/// Pure over an abstract source. Not `Sendable`, and of no use once the read has ended: decoders that users kept find
/// `isOpen` false and throw.
@usableFromInline
package final class Assembly {
    let source: any RecordSource
    let bridge = DecodingBridge()
    let limits: TreeLimits

    private var stack = StackSpace()
    private var depth = 0
    private var nodesLeft: Int
    private var bytesLeft: Int
    var trail = Trail()
    private var memo: [MemoKey: Any] = [:]
    @usableFromInline var cuts = 0
    var expectedIdentifier: String?
    /// What stopped the read for good, kept in case a model's initialiser swallows it.
    private var failure: AssemblyFailure?

    /// Records found on their own path: the store flags them.
    package private(set) var onCycle: [Handle] = []
    package private(set) var isOpen = true
    /// Records decoded.
    package private(set) var recordCount = 0

    /// Whether a back reference was left out.
    package var isCut: Bool { cuts > 0 }

    private struct MemoKey: Hashable {
        let handle: Handle
        let type: ObjectIdentifier
    }

    package init(source: any RecordSource, limits: TreeLimits = TreeLimits()) {
        self.source = source
        self.limits = limits
        nodesLeft = limits.maximumNodes
        bytesLeft = limits.maximumBytes
    }

    /// Runs the read. Whatever is thrown comes out as a reason; `entry` stands for a path that names no record.
    package func read<R>(_ entry: String, _ body: () throws -> R) -> Result<R, MissReason> {
        defer { isOpen = false }
        do {
            let value = try body()
            guard let failure else { return .success(value) }
            return .failure(failure.inside(record: entry).reason)
        } catch {
            return .failure((failure ?? AssemblyFailure(error)).inside(record: entry).reason)
        }
    }

    /// The tree of the entry `identifier`, whose record has to name itself so.
    package func assemble<Model>(
        entry handle: Handle, identifier: String, as type: Model.Type,
        _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        expectedIdentifier = identifier
        return try assemble(handle, as: type, make)
    }

    /// The value of the entry `identifier`, which `body` reads as a reference to it: for types known by their strategy only.
    package func entry<Value>(
        _ handle: Handle, identifier: String, _ body: (inout ValueDecoder) throws -> Value
    ) throws -> Value {
        expectedIdentifier = identifier
        defer { expectedIdentifier = nil }
        let first = trail.children.count
        trail.children.append(handle)
        defer { trail.dropChildren(from: first) }
        return try ByteReader.reading(Self.firstChild) { reader in
            var values = ValueDecoder(reader: reader, assembly: self, children: first..<first + 1)
            return try body(&values)
        }
    }

    private static let firstChild = [Wire.fixext1, Wire.Extension.child, 0]

    /// The tree below `handle` as a `Model`, which `make` decodes from its fields.
    ///
    /// Generic only at the rim, which specialises where the model is: the metadata of generic types is looked up wherever
    /// unspecialised code mentions it, and took a sixth of reading a feed.
    @inlinable
    package func assemble<Model>(
        _ handle: Handle, as type: Model.Type, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        // Kept from the second visit on: most nodes are met once, and a look-up costs more than their decoding saves.
        let isRepeated = try visit(handle)
        if isRepeated, let known = remembered(handle, ObjectIdentifier(type)) as? Model { return known }
        let cutsBefore = cuts
        var decoder = try decoder(of: handle)
        let firstChild = decoder.values.children.lowerBound
        let model: Model
        do {
            model = try make(&decoder)
        } catch {
            leave(firstChild)
            throw attribute(error, to: handle)
        }
        leave(firstChild)
        // A subtree with a cut depends on the path it was reached by.
        if isRepeated, cuts == cutsBefore { remember(model, handle, ObjectIdentifier(type)) }
        return model
    }

    /// Whether the record was met before in this read. Throws for one that is being decoded.
    @usableFromInline
    func visit(_ handle: Handle) throws -> Bool {
        guard let isRepeated = trail.visit(handle) else {
            cuts += 1
            onCycle.append(handle)
            throw AssemblyFailure(.cut)
        }
        return isRepeated
    }

    @usableFromInline
    func remembered(_ handle: Handle, _ type: ObjectIdentifier) -> Any? {
        memo[MemoKey(handle: handle, type: type)]
    }

    @usableFromInline
    func remember(_ model: Any, _ handle: Handle, _ type: ObjectIdentifier) {
        memo[MemoKey(handle: handle, type: type)] = model
    }

    /// Steps into the record of `handle`; `leave` steps out again.
    @usableFromInline
    func decoder(of handle: Handle) throws -> RecordDecoder {
        guard nodesLeft > 0 else { throw stop(.tooLarge) }
        nodesLeft -= 1
        let opened = try open(handle)
        var values = opened.values
        do {
            try values.reader.skipValue()
        } catch {
            leave(values.children.lowerBound)
            throw stop(AssemblyFailure(error).cause)
        }
        return RecordDecoder(
            values: ValueDecoder(reader: values.reader, assembly: self, children: values.children), shape: opened.shape)
    }

    /// Steps into a record: checked and taken apart, a reader standing at its identifier.
    func open(_ handle: Handle) throws -> (shape: Shape, values: (reader: ByteReader, children: Range<Int>)) {
        try enter()
        let reader: ByteReader
        let firstChild: Int
        do {
            switch try source.record(handle) {
            case .found(let found, let owner):
                reader = found
                firstChild = trail.enter(handle, owner)
            case .tombstone: throw AssemblyFailure(.deleted)
            case .lost: throw stop(.lost)
            case .nothing: throw stop(.dangling)
            }
        } catch {
            leave()
            throw stopped(error)
        }
        do {
            let opened = try takeApart(reader, handle)
            return (opened.shape, (opened.body, firstChild..<firstChild + opened.childCount))
        } catch {
            leave(firstChild)
            throw stopped(error)
        }
    }

    /// Whatever a source throws is damage, or worse, whatever the model makes of it.
    private func stopped(_ error: any Error) -> AssemblyFailure {
        switch error {
        case let failure as AssemblyFailure: failure
        case let error as FormatError: stop(AssemblyFailure(error).cause)
        default: stop(.unavailable("\(error)"))
        }
    }

    private func takeApart(
        _ record: ByteReader, _ handle: Handle
    ) throws -> (shape: Shape, body: ByteReader, childCount: Int) {
        var reader = record
        bytesLeft -= reader.end
        guard bytesLeft >= 0 else { throw stop(.tooLarge) }
        let layout = try RecordLayout(reading: &reader, handle: handle, children: &trail.children)
        var body = reader.limited(to: layout.payload.upperBound)
        let shape = try Record.shape(of: layout, &body, source.shape)
        try layout.verify(reader, handle: handle, shape: shape.fingerprint)
        guard layout.dictionaryNumber == 0 else { throw FormatError.unknownDictionary(layout.dictionaryNumber) }
        recordCount += 1
        try checkIdentifier(body)
        return (shape, body, layout.childCount)
    }

    /// Steps out of the record whose children stand from `firstChild` on.
    @usableFromInline
    func leave(_ firstChild: Int) {
        trail.leave(firstChild)
        leave()
    }

    /// An index entry that leads to another record is damage.
    private func checkIdentifier(_ body: ByteReader) throws {
        guard let expected = expectedIdentifier else { return }
        expectedIdentifier = nil
        var body = body
        guard let count = try body.takeStringLength(), try body.matches(expected, count: count) else {
            throw stop(.undecodable("the index leads to another record"))
        }
    }

    /// The failure with the record it happened in, which is read again for its name.
    @usableFromInline
    func attribute(_ error: any Error, to handle: Handle) -> any Error {
        let failure = AssemblyFailure(error)
        guard failure.lacksRecord else { return failure }
        let attributed = failure.inside(record: identifier(of: handle) ?? "?")
        // The same failure, now with its path.
        if attributed.isFinal, self.failure?.path.isEmpty == true { self.failure = attributed }
        return attributed
    }

    private func identifier(of handle: Handle) -> String? {
        guard case .found(var reader, let owner)? = try? source.record(handle) else { return nil }
        return withExtendedLifetime(owner) {
            try? Record(reading: &reader, handle: handle, shapes: source.shape).identifier
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
        guard depth < limits.maximumDepth, stack.hasSpace(at: depth) else { throw stop(.tooDeep) }
        depth += 1
    }

    @usableFromInline
    func leave() { depth -= 1 }

    /// Throws unless `levels` more may be entered outside of `nested`: containers of users' code, which recurses by itself.
    func allow(levels: Int) throws {
        guard depth + levels < limits.maximumDepth, stack.hasSpaceNow() else { throw stop(.tooDeep) }
    }

    /// A failure that ends the read even if a model's initialiser swallows it.
    func stop(_ cause: AssemblyFailure.Cause) -> AssemblyFailure {
        let failure = AssemblyFailure(cause, isFinal: true)
        if self.failure == nil { self.failure = failure }
        return failure
    }

    func child(_ ordinal: Int, of run: Range<Int>) throws -> Handle {
        guard ordinal < run.count else { throw FormatError.malformed("a child that is not in the record") }
        return trail.children[run.lowerBound + ordinal]
    }
}
