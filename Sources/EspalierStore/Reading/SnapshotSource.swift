import EspalierLMDB
import EspalierRecords

/// The records of one snapshot of one generation, for one read.
final class SnapshotSource: RecordSource {
    private let snapshot: Snapshot
    private let generation: Generation
    private let nodes: Keyspace
    // The records of a tree alternate among few shapes: remembered here, they cost no lock.
    private var recent: [(number: UInt64, shape: Shape)] = []
    private static let remembered = 16

    init(_ snapshot: Snapshot, of generation: Generation) {
        self.snapshot = snapshot
        self.generation = generation
        nodes = generation.keyspaces.nodes
    }

    func record(_ handle: Handle) throws -> RecordLookup {
        var lent: ByteReader?
        var chunkCount: Int?
        _ = try snapshot.withValue(nodes, handle.rawValue) { span in
            chunkCount = try Chunks.count(span)
            lent = ByteReader(lent: span)
        }
        if let chunkCount {
            let buffer = RecordBuffer(try snapshot.joinedRecord(nodes, handle, chunkCount: chunkCount))
            return .found(buffer.reader, owner: buffer)
        }
        if let lent { return .found(lent, owner: nil) }
        guard let state = try snapshot.state(generation.keyspaces, of: handle) else { return .nothing }
        if state.flags.contains(.tombstone) { return .tombstone }
        return state.flags.contains(.lost) ? .lost : .nothing
    }

    func shape(_ number: UInt64) throws -> Shape? {
        for entry in recent where entry.number == number { return entry.shape }
        guard let shape = try lookUp(number) else { return nil }
        if recent.count < Self.remembered { recent.append((number, shape)) }
        return shape
    }

    private func lookUp(_ number: UInt64) throws -> Shape? {
        if let shape = generation.shapes.shape(number) { return shape }
        guard let stored = try snapshot.storedShape(generation.keyspaces, number) else { return nil }
        generation.shapes.add(stored.shape, number: number)
        return stored.shape
    }
}
