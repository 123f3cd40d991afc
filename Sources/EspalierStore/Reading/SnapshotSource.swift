import EspalierConfinement
import EspalierLMDB
import EspalierRecords

/// The records of one snapshot of one generation, for one read.
final class SnapshotSource: RecordSource {
    private let snapshot: Snapshot
    private let generation: Generation
    /// The records of a tree stand side by side.
    private let nodes: SequentialReader
    private let shapes: [Shape?]
    private let limit: Int
    /// Made for the first compressed record.
    private let decompressor = Confined<RecordDecompressor?>(nil)
    /// Shapes that are not in the table yet.
    private var found: [UInt64: Shape] = [:]

    /// `limit` is of bytes that one record may expand to.
    init(_ snapshot: Snapshot, of generation: Generation, limit: Int = RecordDecompressor.limit)
        throws
    {
        self.snapshot = snapshot
        self.generation = generation
        nodes = try SequentialReader(snapshot, generation.keyspaces.nodes)
        shapes = generation.shapes.all
        self.limit = limit
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        var lent: ByteReader?
        _ = try nodes.withValue(handle.rawValue) { lent = ByteReader(lent: $0) }
        if let lent {
            return try Chunks.isFirst(lent) ? joined(handle, lent) : .found(lent, owner: nil)
        }
        guard let state = try snapshot.state(generation.keyspaces, of: handle) else {
            return .nothing
        }
        if state.flags.contains(.tombstone) { return .tombstone }
        return state.flags.contains(.lost) ? .lost : .nothing
    }

    /// The long record that begins with the chunk `first`.
    private func joined(_ handle: Handle, _ first: ByteReader) throws -> RecordLookup {
        var first = first
        guard let chunkCount = try Chunks.count(&first) else {
            throw FormatError.malformed("a chunk of nothing")
        }
        // A long record that was deleted is taken away in steps.
        let flags = try snapshot.state(generation.keyspaces, of: handle)?.flags ?? []
        if flags.contains(.pendingRemoval), !flags.contains(.blocked) { return .tombstone }
        let buffer = RecordBuffer(
            try snapshot.joinedRecord(generation.keyspaces.nodes, handle, chunkCount: chunkCount))
        return .found(buffer.reader, owner: buffer)
    }

    func decompress(_ reader: ByteReader, _ layout: RecordLayout) throws -> DecompressedRecord {
        if let decompressor = decompressor.value {
            return try layout.decompress(reader, by: decompressor, in: decompressor.arena)
        }
        let made = RecordDecompressor(generation, snapshot, limit: limit)
        decompressor.value = made
        return try layout.decompress(reader, by: made, in: made.arena)
    }

    func shape(_ number: UInt64) throws -> Shape? {
        if number < shapes.count, let shape = shapes[Int(number)] { return shape }
        return try lookUp(number)
    }

    private func lookUp(_ number: UInt64) throws -> Shape? {
        if let shape = found[number] { return shape }
        guard let stored = try snapshot.storedShape(generation.keyspaces, number) else {
            return nil
        }
        found[number] = stored.shape
        generation.shapes.add(stored.shape, number: number)
        return stored.shape
    }
}
