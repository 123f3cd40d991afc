/// One read: reassembles a tree from the records of one snapshot, depth first.
///
/// Pure over an abstract source. Not `Sendable`, and of no use once the read has ended: decoders that users kept find
/// `isOpen` false and throw.
package final class Assembly {
    let source: any RecordSource
    private let limits: TreeLimits
    private var stack = StackSpace()
    private var depth = 0
    private var nodesLeft: Int
    private var bytesLeft: Int
    /// The records being decoded, outermost first.
    private var path: [Handle] = []
    /// The children of the records being decoded, each record's as a run.
    private(set) var childHandles: [Handle] = []
    private var visited = HandleSet()
    private var memo: [MemoKey: Any] = [:]
    private var cuts = 0
    private var expectedIdentifier: String?
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

    /// The tree below `handle` as a `Model`, which `make` decodes from its fields.
    package func assemble<Model>(
        _ handle: Handle, as type: Model.Type, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        if path.contains(handle) {
            cuts += 1
            onCycle.append(handle)
            throw AssemblyFailure(.cut)
        }
        let key = MemoKey(handle: handle, type: ObjectIdentifier(type))
        let isRepeated = visited.insert(handle)
        if isRepeated, let known = memo[key] as? Model { return known }
        guard nodesLeft > 0 else { throw stop(.tooLarge) }
        nodesLeft -= 1
        let cutsBefore = cuts
        let model = try decode(handle, make)
        // Kept from the second visit on: most nodes are met once, and a look-up costs more than their decoding saves. A
        // subtree with a cut depends on the path it was reached by.
        if isRepeated, cuts == cutsBefore { memo[key] = model }
        return model
    }

    private func decode<Model>(
        _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        path.append(handle)
        defer { path.removeLast() }
        var model: Model?
        let presence = try nested {
            try source.withRecord(handle) { span in
                try ByteReader.reading(span) { reader in
                    model = try decode(&reader, handle, make)
                }
            }
        }
        switch presence {
        case .found: break
        case .tombstone: throw AssemblyFailure(.deleted)
        case .lost: throw stop(.lost)
        case .nothing: throw stop(.dangling)
        }
        guard let model else { throw stop(.dangling) }
        return model
    }

    private func decode<Model>(
        _ reader: inout ByteReader, _ handle: Handle, _ make: (inout RecordDecoder) throws -> Model
    ) throws -> Model {
        bytesLeft -= reader.end
        guard bytesLeft >= 0 else { throw stop(.tooLarge) }
        let firstChild = childHandles.count
        defer { childHandles.removeLast(childHandles.count - firstChild) }
        let layout: RecordLayout
        let shape: Shape
        var body: ByteReader
        do {
            layout = try RecordLayout(reading: &reader)
            body = reader.limited(to: layout.payload.upperBound)
            shape = try Record.shape(of: layout, &body, source.shape)
            try layout.verify(reader, handle: handle, shape: shape.fingerprint)
            guard layout.dictionaryNumber == 0 else { throw FormatError.unknownDictionary(layout.dictionaryNumber) }
            try layout.forEachChild(reader, of: handle) { childHandles.append($0) }
        } catch {
            // Damage is damage, whatever the model makes of it.
            throw stop(AssemblyFailure(error).cause)
        }
        recordCount += 1
        let identifierPosition = body.position
        try checkIdentifier(body)
        do {
            try body.skipValue()
            let values = ValueDecoder(
                reader: body, assembly: self, children: firstChild..<firstChild + layout.childCount)
            var decoder = RecordDecoder(values: values, shape: shape)
            return try make(&decoder)
        } catch {
            throw attribute(error, to: identifierPosition, in: body)
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
