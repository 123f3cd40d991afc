import EspalierLMDB
import EspalierRecords

/// The records of one snapshot of one generation, for one read.
final class SnapshotSource: RecordSource {
    private let snapshot: Snapshot
    private let generation: Generation
    /// The records of a tree stand side by side.
    private let nodes: NearbyReader
    private let shapes: [Shape?]
    private let expander: Expander
    /// Shapes that are not in the table yet.
    private var found: [UInt64: Shape] = [:]

    /// `limit` is of bytes that one record may expand to.
    init(_ snapshot: Snapshot, of generation: Generation, limit: Int = Expander.limit) throws {
        self.snapshot = snapshot
        self.generation = generation
        nodes = try NearbyReader(snapshot, generation.keyspaces.nodes)
        shapes = generation.shapes.all
        expander = Expander(generation, snapshot, limit: limit)
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        var lent: ByteReader?
        var chunkCount: Int?
        _ = try nodes.withValue(handle.rawValue) { span in
            chunkCount = try Chunks.count(span)
            lent = ByteReader(lent: span)
        }
        if let chunkCount {
            // A long record that was deleted is taken away in steps.
            let flags = try snapshot.state(generation.keyspaces, of: handle)?.flags ?? []
            if flags.contains(.dying), !flags.contains(.held) { return .tombstone }
            let buffer = RecordBuffer(
                try snapshot.joinedRecord(generation.keyspaces.nodes, handle, chunkCount: chunkCount))
            return .found(buffer.reader, owner: buffer)
        }
        if let lent { return .found(lent, owner: nil) }
        guard let state = try snapshot.state(generation.keyspaces, of: handle) else { return .nothing }
        if state.flags.contains(.tombstone) { return .tombstone }
        return state.flags.contains(.lost) ? .lost : .nothing
    }

    func expand(_ stored: ByteReader) throws -> ExpandedRecord {
        try RecordLayout.expand(stored, by: expander, in: expander.arena)
    }

    func shape(_ number: UInt64) throws -> Shape? {
        if number < shapes.count, let shape = shapes[Int(number)] { return shape }
        return try lookUp(number)
    }

    private func lookUp(_ number: UInt64) throws -> Shape? {
        if let shape = found[number] { return shape }
        guard let stored = try snapshot.storedShape(generation.keyspaces, number) else { return nil }
        found[number] = stored.shape
        generation.shapes.add(stored.shape, number: number)
        return stored.shape
    }
}
