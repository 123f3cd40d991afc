/// One read: reassembles a tree from the records of one snapshot, depth first.
///
/// Pure over an abstract source. Not `Sendable`, and of no use once the read has ended: decoders that users kept find
/// `isOpen` false and throw.
package final class Assembly {
    let source: any RecordSource
    let bridge = DecodingBridge()
    private let limits: TreeLimits
    private var stack = StackSpace()
    private var depth = 0
    private var nodesLeft: Int
    private var bytesLeft: Int
    /// The records being decoded, outermost first.
    private var path: [Handle] = []
    /// The children of the records being decoded, each record's as a run.
    var childHandles: [Handle] = []
    private var visited = HandleSet()
    private var memo: [MemoKey: Any] = [:]
    private var cuts = 0
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
        let first = childHandles.count
        childHandles.append(handle)
        defer { childHandles.removeLast(childHandles.count - first) }
        return try ByteReader.reading(Self.firstChild) { reader in
            var values = ValueDecoder(reader: reader, assembly: self, children: first..<first + 1)
            return try body(&values)
        }
    }

    private static let firstChild = [Wire.fixext1, Wire.Extension.child, 0]

    /// The tree below `handle` as a `Model`, which `make` decodes from its fields.
    package func assemble<Model>(
        _ handle: Handle, as type: Model.Type, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        if path.contains(handle) {
            cuts += 1
            onCycle.append(handle)
            throw AssemblyFailure(.cut)
        }
        if visited.insert(handle) { return try assembleAgain(handle, make) }
        return try decode(handle, make)
    }

    /// Kept from the second visit on: most nodes are met once, and a look-up costs more than their decoding saves. A subtree
    /// with a cut depends on the path it was reached by.
    // Out of line: the metadata of an optional of a generic type costs a look-up wherever it is mentioned.
    @inline(never)
    private func assembleAgain<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        let key = MemoKey(handle: handle, type: ObjectIdentifier(Model.self))
        if let known = memo[key] as? Model { return known }
        let cutsBefore = cuts
        let model = try decode(handle, make)
        if cuts == cutsBefore { memo[key] = model }
        return model
    }

    private func decode<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        guard nodesLeft > 0 else { throw stop(.tooLarge) }
        nodesLeft -= 1
        var model: Model?
        try withRecord(handle) { reader in model = try decode(&reader, handle, make) }
        // Taken, because copying a model retains all of its strings.
        guard let model = model.take() else { throw stop(.dangling) }
        return model
    }

    /// Runs `body` with the record of `handle`, which stands on the path meanwhile.
    func withRecord(_ handle: Handle, _ body: (inout ByteReader) throws -> Void) throws {
        path.append(handle)
        defer { path.removeLast() }
        let presence: RecordPresence
        do {
            presence = try nested {
                try source.withRecord(handle) { span in try ByteReader.reading(span) { try body(&$0) } }
            }
        } catch let failure as AssemblyFailure {
            throw failure
        } catch let error as FormatError {
            throw stop(AssemblyFailure(error).cause)
        } catch {
            throw stop(.unavailable("\(error)"))
        }
        switch presence {
        case .found: break
        case .tombstone: throw AssemblyFailure(.deleted)
        case .lost: throw stop(.lost)
        case .nothing: throw stop(.dangling)
        }
    }

    private func decode<Model>(
        _ reader: inout ByteReader, _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        let firstChild = childHandles.count
        defer { childHandles.removeLast(childHandles.count - firstChild) }
        let opened = try open(&reader, handle)
        let identifierPosition = opened.body.position
        do {
            var body = opened.body
            try body.skipValue()
            let values = ValueDecoder(reader: body, assembly: self, children: opened.children)
            var decoder = RecordDecoder(values: values, shape: opened.shape)
            return try make(&decoder)
        } catch {
            throw attribute(error, to: identifierPosition, in: opened.body)
        }
    }

    /// A record checked and taken apart: its shape, its children, and a reader at its identifier. The children stand on
    /// `childHandles`; whoever opens a record takes them off again.
    func open(
        _ reader: inout ByteReader, _ handle: Handle
    ) throws -> (shape: Shape, children: Range<Int>, body: ByteReader) {
        bytesLeft -= reader.end
        guard bytesLeft >= 0 else { throw stop(.tooLarge) }
        let firstChild = childHandles.count
        do {
            let layout = try RecordLayout(reading: &reader)
            var body = reader.limited(to: layout.payload.upperBound)
            let shape = try Record.shape(of: layout, &body, source.shape)
            try layout.verify(reader, handle: handle, shape: shape.fingerprint)
            guard layout.dictionaryNumber == 0 else { throw FormatError.unknownDictionary(layout.dictionaryNumber) }
            try layout.forEachChild(reader, of: handle) { childHandles.append($0) }
            recordCount += 1
            try checkIdentifier(body)
            return (shape, firstChild..<firstChild + layout.childCount, body)
        } catch let failure as AssemblyFailure {
            throw failure
        } catch {
            // Damage is damage, whatever the model makes of it.
            throw stop(AssemblyFailure(error).cause)
        }
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

    private func attribute(_ error: any Error, to position: Int, in body: ByteReader) -> AssemblyFailure {
        var reader = body
        reader.position = position
        let identifier = (try? reader.takeString()) ?? "?"
        let attributed = AssemblyFailure(error).inside(record: identifier)
        // The same failure, now with its path.
        if attributed.isFinal, failure?.path.isEmpty == true { failure = attributed }
        return attributed
    }

    /// One level down.
    func nested<R>(_ body: () throws -> R) throws -> R {
        guard depth < limits.maximumDepth, stack.hasSpace(at: depth) else { throw stop(.tooDeep) }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

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
        return childHandles[run.lowerBound + ordinal]
    }
}
