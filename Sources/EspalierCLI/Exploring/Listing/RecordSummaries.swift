import EspalierRecords
import EspalierStore

/// Makes the summaries of the records of one snapshot.
struct RecordSummaries {
    let inspection: Inspection
    private let commit: Stamp
    private let ages: AccessAges
    private let pinned: Set<Handle>

    init(_ inspection: Inspection) throws {
        self.inspection = inspection
        commit = try inspection.commit
        ages = try inspection.accessAges
        pinned = Set(try inspection.pins.map(\.handle))
    }

    func summary(of handle: Handle) throws -> RecordSummary {
        try summary(of: handle, try inspection.record(handle))
    }

    func summary(of entry: IndexEntry, _ stored: StoredRecord) throws -> RecordSummary {
        var summary = try summary(of: entry.handle, stored)
        summary.identifier = entry.isWhole ? entry.identifier : entry.identifier + "…"
        summary.nameSpace = entry.nameSpace
        return summary
    }

    private func summary(of handle: Handle, _ stored: StoredRecord) throws -> RecordSummary {
        let state = try inspection.state(of: handle)
        let name = RecordName(stored)
        var summary = RecordSummary(
            identifier: name.kind.isRecord ? name.identifier : nil, kind: name.kind,
            bytes: try bytes(of: handle, stored),
            // What is not there has no state, and that of a record without one would be taken for
            // it.
            references: name.kind == .nothing ? 0 : state.map { Int(clamping: $0.referenceCount) })
        if let state, state.stamp > .never, state.stamp <= commit {
            summary.age = Int(clamping: commit.rawValue - state.stamp.rawValue)
            summary.time = ages.age(of: state.stamp)
        }
        summary.isPinned = name.kind != .nothing && pinned.contains(handle)
        if case .record(let record) = stored {
            summary.types = record.shape.types
            summary.rawBytes = try rawBytes(of: record)
            summary.children = record.elementCount ?? record.children.count
        }
        return summary
    }

    /// The bytes of a record as stored; a collection's with those of its segments.
    func bytes(of handle: Handle, _ stored: StoredRecord) throws -> Int {
        let own = try inspection.storedByteCount(of: handle) ?? 0
        guard case .record(let record) = stored, record.nameSpace == .collection else { return own }
        return try record.children.reduce(own) {
            try $0 + (inspection.storedByteCount(of: $1) ?? 0)
        }
    }

    /// The same before compression; nil where a segment can't be read.
    private func rawBytes(of record: Record) throws -> Int? {
        guard record.nameSpace == .collection else { return record.rawByteCount }
        var bytes = record.rawByteCount
        for segment in record.children {
            guard case .record(let segment) = try inspection.record(segment) else { return nil }
            bytes += segment.rawByteCount
        }
        return bytes
    }
}
