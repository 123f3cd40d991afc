#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// The records of a snapshot as lines, in the order of their handles, which keeps records that are
/// read together close to each other.
struct RecordExport {
    private let inspection: Inspection
    private var names: ReferenceNames
    /// Records that cannot be read, or that have no index entry.
    private var unreadable: Set<Handle> = []
    /// Segments of collections that are left out.
    private var segments: Set<Handle> = []

    init(_ inspection: Inspection) {
        self.inspection = inspection
        names = ReferenceNames(inspection)
    }

    /// The number of damaged records without a line.
    var leftOut: Int { unreadable.subtracting(segments).count }

    /// Visits the line of every node, key and collection, with the number of its references.
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

    /// Returns nil for a record that cannot be read as a whole.
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

/// The names by which an export refers to records. Deleted and lost records are numbered in the
/// order in which the export meets them.
struct ReferenceNames {
    private let inspection: Inspection
    private var known: [Handle: RecordReference] = [:]
    private var deleted: [Handle: Int] = [:]
    private var lost: [Handle: Int] = [:]
    /// The number of names to keep: each costs a read of its record, but all would take too much
    /// memory.
    private static let capacity = 1 << 16

    init(_ inspection: Inspection) { self.inspection = inspection }

    mutating func reference(to handle: Handle) throws -> RecordReference {
        if let reference = known[handle] { return reference }
        let reference = try lookUp(handle)
        if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
        known[handle] = reference
        return reference
    }

    private mutating func lookUp(_ handle: Handle) throws -> RecordReference {
        switch try inspection.record(handle) {
        case .record(let record) where try inspection.isFound(record):
            return .node(record.identifier)
        case .deleted:
            let number = deleted[handle] ?? deleted.count + 1
            deleted[handle] = number
            return .deleted(number)
        default:
            let number = lost[handle] ?? lost.count + 1
            lost[handle] = number
            return .lost(number)
        }
    }
}

extension Inspection {
    /// Returns whether the index leads to the record under its own name. If not, reads do not find
    /// the record either.
    func isFound(_ record: Record) throws -> Bool {
        try handle(of: record.identifier, in: record.nameSpace) == record.handle
    }
}

/// The lines of an export as rows of a table.
enum ExportTable {
    static let columns: [TableColumn] = [
        .left("kind"), .left("identifier"), .left("types"), .right("references"), .left("fields"),
    ]

    /// - Parameter references: The number of references of the record.
    static func row(_ line: RecordLine, references: Int) -> [Cell] {
        let types: [String] = if case .node(let types, _, _) = line.content { types } else { [] }
        return [
            .text(line.kind.rawValue), .text(line.identifier, .name), .texts(types),
            .count(references),
            .text(line.contentJSON.text),
        ]
    }
}
#endif
