import EspalierRecords
import EspalierStore

/// What handles of a snapshot lead to, as an export names it. What is gone is numbered in the order
/// it is met.
struct ReferenceNames {
    private let inspection: Inspection
    private var known: [Handle: RecordReference] = [:]
    private var deleted: [Handle: Int] = [:]
    private var lost: [Handle: Int] = [:]
    /// Names cost a look at their record each, and more memory than a cache should take.
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
    /// Whether the index leads to the record under its own name. Where it does not, readers don't
    /// find it either.
    func isFound(_ record: Record) throws -> Bool {
        try handle(of: record.identifier, in: record.nameSpace) == record.handle
    }
}
