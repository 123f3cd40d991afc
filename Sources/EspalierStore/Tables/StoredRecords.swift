import EspalierConfinement
package import EspalierLMDB
package import EspalierRecords

/// The records of one snapshot: finds the containers and chunks that hold them, and decompresses
/// their blocks unless the process has them in memory.
///
/// A record that stands in a damaged frame can't be told from one that was never there. Both throw
/// a `FormatError`; the state of the handle tells a deleted record from a damaged one.
///
/// Confined to the thread of the transaction, and valid as long as that. A reader of a write
/// transaction is told when records have been written, see `forget`.
package final class StoredRecords {
    // immutable
    private let snapshot: Snapshot
    private let generation: Generation
    private let decoder: FrameDecoder
    /// The number of the commit that the snapshot sees; nil for a transaction under way.
    private let commit: UInt64?
    private let containers: RangeReader
    /// Whether the bytes that were lent stay in place as long as this object.
    private let keepsBlocks: Bool

    private struct State {
        var shapesUnderWay: ((UInt64) -> Shape?)?
        var current: RecordBlock?
        var kept: [RecordBlock] = []
        var shapes: [Shape?]
        /// Shapes that were found in the snapshot and are not in `shapes`.
        var found: [UInt64: Shape] = [:]
    }
    private let confined: Confined<State>
    private var state: State {
        @inline(__always) _read { yield confined.value }
        @inline(__always) _modify { yield &confined.value }
    }

    /// Makes a reader of a snapshot.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to which one frame may be decompressed.
    ///   - keepsBlocks: Whether the bytes that `lend` returns stay in place as long as the reader,
    ///     and not only until the next call.
    package init(
        _ snapshot: Snapshot, _ generation: Generation, limit: Int = FrameDecoder.limit,
        keepsBlocks: Bool = false
    ) throws {
        self.snapshot = snapshot
        self.generation = generation
        self.keepsBlocks = keepsBlocks
        decoder = FrameDecoder(generation, snapshot, limit: limit)
        commit = try snapshot.commitNumber()
        containers = try RangeReader(snapshot, generation.keyspaces.nodes)
        confined = Confined(State(shapes: commit == nil ? [] : generation.shapes.all))
    }

    /// Returns the shape of a number in a transaction under way; nil if the snapshot has all
    /// shapes.
    var shapesUnderWay: ((UInt64) -> Shape?)? {
        get { state.shapesUnderWay }
        set { state.shapesUnderWay = newValue }
    }

    /// The dictionaries that this reader has looked up, by number.
    var foundDictionaries: [UInt64: RecordDictionary] { decoder.foundDictionaries }

    /// Forgets what was looked up last, because the transaction has written.
    func forget() { state.current = nil }

    // MARK: Records

    /// Returns the bytes of a record that stands in a container; nil if it does not. They are lent
    /// until the next call, or as long as this object.
    @inline(__always)
    package func lend(_ handle: Handle) throws -> ByteReader? {
        if let block = state.current, let index = block.index(of: handle) {
            return try block.record(at: index)
        }
        return try block(around: handle)?.record(handle)
    }

    /// Returns the block in which a record stands if it is in a container; nil if there is none.
    package func block(around handle: Handle) throws -> RecordBlock? {
        if let commit, let block = generation.blocks.block(of: handle, in: commit) {
            return keep(block)
        }
        let found = try containers.withValue(around: handle.rawValue) { key, value in
            let value = ByteReader(lent: value)
            guard
                let entry = try Container.entry(around: handle, in: value, key: Handle(key))
            else { return nil as RecordBlock? }
            return try block(value.slice(entry.range), first: entry.first, for: handle)
        }
        guard let block = found ?? nil else { return nil }
        return keep(block)
    }

    private func keep(_ block: RecordBlock) -> RecordBlock {
        if keepsBlocks, state.current !== block { state.kept.append(block) }
        state.current = block
        return block
    }

    /// Returns the block of a frame. `handle` is the record that is looked for.
    func block(_ frame: ByteReader, first: Handle, for handle: Handle) throws -> RecordBlock {
        guard frame.end > RecordLayout.checkSize else { throw FormatError.truncated }
        var tail = frame
        tail.position = frame.end - RecordLayout.checkSize
        let check = try tail.integer(UInt64.self)
        if let block = generation.blocks.block(first: first, check: check) {
            if commit != nil { generation.blocks.insert(block, for: handle, in: commit) }
            return block
        }
        let block = try decoder.block(frame, first: first, shapes: shape)
        generation.blocks.insert(block, for: handle, in: commit)
        return block
    }

    /// Returns the block of a frame, whether or not it is in memory.
    package func decode(_ frame: [UInt8], first: Handle) throws -> RecordBlock {
        try ByteReader.reading(frame) { try decoder.block($0, first: first, shapes: shape) }
    }

    /// Returns the container that has a record, if any has, and its key.
    package func container(around handle: Handle) throws -> (key: Handle, value: [UInt8])? {
        try containers.withValue(around: handle.rawValue) { key, value in
            (Handle(key), [UInt8](copying: value))
        }
    }

    /// Returns the frames of a container: the first handle, the number of records, and the bytes.
    package func frames(
        of container: [UInt8], key: Handle
    ) throws -> [(first: Handle, count: Int, range: Range<Int>)] {
        try ByteReader.reading(container) { value in
            try Container(reading: value, key: key).entries.map { ($0.first, $0.count, $0.range) }
        }
    }

    /// Returns the bytes and the number of records of the frame in which a record stands if it is
    /// in a container, even of a damaged frame; nil if there is none.
    package func frameSize(around handle: Handle) throws -> (byteCount: Int, count: Int)? {
        let size = try containers.withValue(around: handle.rawValue) { key, value in
            try? Container.entry(
                around: handle, in: ByteReader(lent: value), key: Handle(key)
            ).map { ($0.range.count, $0.count) }
        }
        return size ?? nil
    }

    /// Returns the block of a record that stands in chunks; nil if it does not.
    package func longBlock(_ handle: Handle) throws -> RecordBlock? {
        guard let frame = try snapshot.longFrame(generation.keyspaces, handle) else { return nil }
        return try ByteReader.reading(frame) {
            try decoder.block($0, first: handle, shapes: shape)
        }
    }

    /// Returns a record; nil if there is none.
    ///
    /// - Throws: A `FormatError` if it is damaged.
    package func record(_ handle: Handle) throws -> Record? {
        let found: RecordBlock?
        do {
            found = try block(around: handle)
        } catch let error as FormatError {
            // A long record does not stand in the frame before it, which can't be read.
            guard let record = try longRecord(handle) else { throw error }
            return record
        }
        if let block = found, let index = block.index(of: handle) {
            return try Record(
                reading: block.record(at: index), storedAs: block.storedByteCount(at: index),
                handle: handle, shapes: shape)
        }
        return try longRecord(handle)
    }

    private func longRecord(_ handle: Handle) throws -> Record? {
        guard let block = try longBlock(handle) else { return nil }
        guard block.count == 1 else { throw FormatError.malformed("chunks of several records") }
        return try Record(
            reading: block.record(at: 0),
            storedAs: snapshot.longByteCount(generation.keyspaces, handle), isLong: true,
            handle: handle, shapes: shape)
    }

    /// Returns whether a record stands in chunks, readable or not.
    func isLong(_ handle: Handle) throws -> Bool {
        var isThere = false
        try snapshot.forEachKey(
            in: generation.keyspaces.long, from: ChunkKey(handle.rawValue, 0)
        ) { key in
            isThere = ChunkKey(key)?.number == handle.rawValue
            return false
        }
        return isThere
    }

    /// Returns the bytes of a record that stands in chunks; nil if it does not.
    func longRecordBytes(_ handle: Handle) throws -> RecordBuffer? {
        guard let block = try longBlock(handle) else { return nil }
        let record = try block.record(at: 0)
        return withExtendedLifetime(block) { RecordBuffer(record, 0..<record.end) }
    }

    /// Returns whether there are bytes of a record, readable or not.
    package func contains(_ handle: Handle) throws -> Bool {
        do {
            if let block = try block(around: handle), block.index(of: handle) != nil { return true }
        } catch is FormatError {
            return true
        }
        return try isLong(handle)
    }

    /// Returns the handles that a record refers to, none if it can't be read.
    package func children(of handle: Handle) -> [Handle] {
        // A scan of the cache calls this for each record, and needs nothing else of it.
        guard var reader = (try? lend(handle)) ?? nil else {
            return (try? record(handle))??.children ?? []
        }
        var children: [Handle] = []
        do {
            let layout = try RecordLayout(reading: &reader)
            try layout.readChildren(&reader, of: handle, into: &children)
        } catch {
            return []
        }
        return children
    }

    // MARK: Shapes

    /// Returns the shape of a number; nil if there is none.
    @inline(__always)
    package func shape(_ number: UInt64) throws -> Shape? {
        if number < state.shapes.count, let shape = state.shapes[Int(number)] { return shape }
        return try lookUpShape(number)
    }

    private func lookUpShape(_ number: UInt64) throws -> Shape? {
        if let shapes = state.shapesUnderWay { return shapes(number) }
        if let shape = state.found[number] { return shape }
        guard let stored = try snapshot.storedShape(generation.keyspaces, number) else {
            return nil
        }
        state.found[number] = stored.shape
        generation.shapes.add(stored.shape, number: number)
        return stored.shape
    }
}

// MARK: - Walks

extension StoredRecords {
    /// What a walk finds.
    package enum Found {
        case block(RecordBlock)
        /// A record that stands in chunks.
        case long(Handle)
        /// A frame or a container that can't be read, from a handle on.
        case damaged(Handle, FormatError)
    }

    /// Visits the blocks and the long records from a handle on, in the order of their first
    /// handles, until `body` returns false. The first block may begin before `start`.
    package func forEach(from start: Handle = Handle(0), _ body: (Found) throws -> Bool) throws {
        var long = try longHandle(from: start.rawValue)
        /// Visits the long records before a handle.
        func visitLong(before end: Handle?) throws -> Bool {
            while let handle = long, end.map({ handle < $0 }) ?? true {
                long = handle.rawValue < .max ? try longHandle(from: handle.rawValue + 1) : nil
                guard try body(.long(handle)) else { return false }
            }
            return true
        }
        var key = try containers.withValue(around: start.rawValue) { key, _ in key } ?? 0
        while true {
            // Each container is copied, because `body` may look records up.
            var next: (key: UInt64, value: [UInt8])?
            try snapshot.forEach(in: generation.keyspaces.nodes, from: key) { key, value in
                try ByteReader.reading(key) { reader in
                    guard reader.end == 8 else { return }
                    let number = try reader.integer(UInt64.self)
                    let value = ByteReader(lent: value)
                    var writer = ByteWriter(capacity: value.end)
                    value.copy(0..<value.end, into: &writer)
                    next = (number, writer.bytes)
                }
                return next == nil
            }
            guard let container = next else { break }
            for found in blocks(of: container.value, key: Handle(container.key), from: start) {
                guard try visitLong(before: found.first), try body(found) else { return }
            }
            guard container.key < .max else { break }
            key = container.key + 1
        }
        _ = try visitLong(before: nil)
    }

    private func blocks(of container: [UInt8], key: Handle, from start: Handle) -> [Found] {
        ByteReader.reading(container) { value in
            do {
                let parsed = try Container(reading: value, key: key)
                return parsed.entries.indices.compactMap { index in
                    let entry = parsed.entries[index]
                    // The frame ends before `start` if the next one does not begin after it.
                    if index + 1 < parsed.entries.count, parsed.entries[index + 1].first <= start {
                        return nil
                    }
                    do {
                        return .block(
                            try decoder.block(
                                value.slice(entry.range), first: entry.first, shapes: shape))
                    } catch {
                        return .damaged(entry.first, Self.formatError(error))
                    }
                }
            } catch {
                return [.damaged(key, Self.formatError(error))]
            }
        }
    }

    private static func formatError(_ error: any Error) -> FormatError {
        (error as? FormatError) ?? .malformed("\(error)")
    }

    /// Visits the handles of all records that stand in readable frames, or in chunks, from one on,
    /// until `body` returns false. Long records may be damaged.
    package func forEachHandle(
        from start: Handle = Handle(0), _ body: (Handle) throws -> Bool
    ) throws {
        try forEach(from: start) { found in
            for handle in found.handles where handle >= start {
                guard try body(handle) else { return false }
            }
            return true
        }
    }

    /// Returns the first record from a handle on that stands in chunks.
    private func longHandle(from start: UInt64) throws -> Handle? {
        var handle: Handle?
        try snapshot.forEachKey(in: generation.keyspaces.long, from: ChunkKey(start, 0)) { key in
            handle = ChunkKey(key).map { Handle($0.number) }
            return handle == nil
        }
        return handle
    }
}

extension StoredRecords.Found {
    var first: Handle {
        switch self {
        case .block(let block): block.first
        case .long(let handle), .damaged(let handle, _): handle
        }
    }

    /// The handles of the records that were found, none of a damaged frame.
    package var handles: [Handle] {
        switch self {
        case .block(let block): block.handles
        case .long(let handle): [handle]
        case .damaged: []
        }
    }
}

extension ReadableTransaction where Self: ~Copyable {
    /// Returns the frame of a record that stands in chunks; nil if there is none.
    ///
    /// - Throws: A `FormatError` if chunks are missing or damaged.
    package func longFrame(_ keyspaces: Keyspaces, _ handle: Handle) throws -> [UInt8]? {
        let first = ChunkKey(handle.rawValue, 0)
        guard let count = try withValue(keyspaces.long, first, { try Chunks.count($0) }) else {
            return nil
        }
        var writer = ByteWriter()
        for number in 0..<count {
            let key = ChunkKey(handle.rawValue, UInt32(number))
            let found: Void? = try withValue(keyspaces.long, key) { span in
                try ByteReader.reading(span) {
                    try Chunks.join(&$0, number: number, handle: handle, into: &writer)
                }
            }
            guard found != nil else { throw FormatError.truncated }
        }
        return writer.bytes
    }

    /// Returns the chunks under a handle, readable or not.
    package func longChunks(
        _ keyspaces: Keyspaces, _ handle: Handle
    ) throws -> [(number: UInt32, bytes: [UInt8])] {
        var chunks: [(number: UInt32, bytes: [UInt8])] = []
        try forEach(in: keyspaces.long, from: ChunkKey(handle.rawValue, 0)) { key, value in
            guard let key = ChunkKey(key), key.number == handle.rawValue else { return false }
            chunks.append(
                (key.chunk, try ByteReader.reading(value) { try $0.bytes(count: $0.end) }))
            return true
        }
        return chunks
    }

    /// Returns the bytes of all chunks under a handle.
    package func longByteCount(_ keyspaces: Keyspaces, _ handle: Handle) throws -> Int {
        var sum = 0
        try forEach(in: keyspaces.long, from: ChunkKey(handle.rawValue, 0)) { key, value in
            guard ChunkKey(key)?.number == handle.rawValue else { return false }
            sum += value.byteCount
            return true
        }
        return sum
    }
}
