import EspalierRecords
import EspalierStore

/// The records of a snapshot as lines, in the order of their handles: what is read together stands
/// together.
struct RecordExport {
    private let inspection: Inspection
    private var names: ReferenceNames
    /// Records that could not be read, or that the index does not lead to.
    private var unreadable: Set<Handle> = []
    /// Segments of collections that are left out themselves.
    private var segments: Set<Handle> = []

    init(_ inspection: Inspection) {
        self.inspection = inspection
        names = ReferenceNames(inspection)
    }

    /// How many records have no line because they are damaged.
    var leftOut: Int { unreadable.subtracting(segments).count }

    /// Visits the line of every node, key and collection, with how often it refers to another
    /// record.
    mutating func forEachLine(_ body: (RecordLine, _ references: Int) throws -> Void) throws {
        try inspection.forEachRecord { handle, stored in
            if case .record(let record) = stored, record.nameSpace == .segment { return true }
            if let (line, references) = try line(of: stored) {
                try body(line, references)
            } else {
                unreadable.insert(handle)
                if case .record(let record) = stored, record.nameSpace == .collection {
                    segments.formUnion(record.children)
                }
            }
            return true
        }
    }

    /// Nil for a record that can't be read as a whole.
    private mutating func line(of stored: StoredRecord) throws -> (RecordLine, references: Int)? {
        guard case .record(let record) = stored, try inspection.isFound(record) else { return nil }
        var count = 0
        do {
            let line = try RecordLine(record, in: inspection) { child in
                count += 1
                return try names.reference(to: child).json
            }
            return (line, count)
        } catch is FormatError {
            return nil
        }
    }
}
