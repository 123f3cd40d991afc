package import EspalierRecords

/// Records in a dictionary: a store without file, transaction or eviction.
///
/// Its tables are open, so that a test can damage what it likes.
package final class DictionaryRecordSource: RecordSource {
    package var records: [Handle: [UInt8]] = [:]
    package var tombstones: Set<Handle> = []
    package var lost: Set<Handle> = []
    package var shapes: [UInt64: Shape] = [:]
    package var index: [Identifier: Handle] = [:]
    /// How often a record was asked for.
    package private(set) var lookups = 0
    private var lastHandle: UInt64 = 0

    package init() {}

    package func record(_ handle: Handle) throws -> RecordLookup {
        lookups += 1
        if tombstones.contains(handle) { return .tombstone }
        if lost.contains(handle) { return .lost }
        guard let record = records[handle] else { return .nothing }
        let buffer = RecordBuffer(record)
        return .found(buffer.reader, owner: buffer)
    }

    package func shape(_ number: UInt64) throws -> Shape? { shapes[number] }

    package func handle(of identifier: String) -> Handle? { index[Identifier(identifier)] }

    package func newHandle() -> Handle {
        lastHandle += 1
        return Handle(lastHandle)
    }

    /// The number of `shape`, given out now if it is new.
    package func number(of shape: Shape) -> UInt64 {
        if let known = shapes.first(where: { $0.value == shape }) { return known.key }
        let number = UInt64(shapes.count + 1)
        shapes[number] = shape
        return number
    }
}
