import EspalierLMDB
import EspalierRecords

/// The records of one snapshot of one generation, for one read.
final class SnapshotSource: RecordSource {
    private let snapshot: Snapshot
    private let generation: Generation
    // Consecutive records of a tree alternate among few shapes: remembered here, they cost no lock.
    private var recent: (numbers: [UInt64], shapes: [Shape]) = ([], [])
    private static let remembered = 16

    init(_ snapshot: Snapshot, of generation: Generation) {
        self.snapshot = snapshot
        self.generation = generation
    }

    func withRecord(_ handle: Handle, _ body: (RawSpan) throws -> Void) throws -> RecordPresence {
        if try snapshot.withRecord(generation.keyspaces, handle, body) { return .found }
        guard let state = try snapshot.state(generation.keyspaces, of: handle) else { return .nothing }
        if state.flags.contains(.tombstone) { return .tombstone }
        return state.flags.contains(.lost) ? .lost : .nothing
    }

    func shape(_ number: UInt64) throws -> Shape? {
        if let index = recent.numbers.firstIndex(of: number) { return recent.shapes[index] }
        guard let shape = try lookUp(number) else { return nil }
        if recent.numbers.count < Self.remembered {
            recent.numbers.append(number)
            recent.shapes.append(shape)
        }
        return shape
    }

    private func lookUp(_ number: UInt64) throws -> Shape? {
        if let shape = generation.shapes.shape(number) { return shape }
        guard let stored = try snapshot.storedShape(generation.keyspaces, number) else { return nil }
        generation.shapes.add(stored.shape, number: number)
        return stored.shape
    }
}
