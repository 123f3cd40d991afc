#if CommandLine
import EspalierInspection
import EspalierRecords
import EspalierStore

/// A record as `ls` and `top` list it: its size, its references and its last access.
struct RecordSummary: Sendable, Equatable {
    /// Nil if the record cannot be read and no index entry was given.
    var identifier: String?
    var kind: RecordName.Kind
    /// The name space of the index entry; nil if no entry was given.
    var nameSpace: NameSpace?
    var types: [String] = []
    /// The stored bytes; of a collection, with its segments.
    var bytes: Int
    /// The bytes before compression; nil if a record cannot be read.
    var rawBytes: Int?
    /// The number of records that refer to it; nil if its counts are damaged.
    var references: Int?
    /// The number of records it refers to; of a collection, the number of elements.
    var children: Int?
    /// The number of accesses and writes of any record since its last access, if known.
    var age: Int?
    /// The time since its last access, if known.
    var time: Duration?
    /// Nil if the cache does not know when the record was written.
    var written: RecordAge?
    var isPinned = false

    static let columns: [TableColumn] = [
        .left("identifier"), .left("kind"), .left("types", "type"), .right("bytes", "size"),
        .right("rawBytes", "raw"), .right("references", "refs"),
        .right("children"), .right("age"), .right("ageSeconds", "time"),
        .right("writtenSeconds", "written"), .right("expiresInSeconds", "expires"), .left("pinned"),
    ]

    static func report(of summaries: [RecordSummary]) -> Report {
        var report = Report(.list, columns: columns, rows: summaries.map(\.cells))
        // With all columns, the table would not fit into a terminal of 80 columns.
        let isAny = summaries.contains { $0.written?.untilExpiry != nil }
        if !isAny { report.omitted = ["writtenSeconds", "expiresInSeconds"] }
        return report
    }

    private var cells: [Cell] {
        [
            .text(identifier, .name), .text(kindShown, kind.isRecord ? .plain : .bad),
            .texts(types), .size(bytes), .size(rawBytes), .count(references), .count(children),
            .count(age), .seconds(time), .seconds(written?.sinceWrite), expiry, .mark(isPinned),
        ]
    }

    /// "in 5 min", "expired"; in JSON the seconds, negative after the record has expired.
    var expiry: Cell {
        guard let written, let left = written.untilExpiry else { return .nothing }
        let seconds = Cell.seconds(left)
        return .value(
            seconds.json,
            shown: written.isExpired ? .text("expired", .bad) : .text("in \(seconds.shown)"))
    }

    /// "collection", "damaged collection", "damaged".
    private var kindShown: String {
        guard !kind.isRecord, let nameSpace else { return kind.rawValue }
        return "\(kind.rawValue) \(nameSpace)"
    }
}

extension RecordName.Kind {
    /// Whether there is a record to read.
    var isRecord: Bool {
        switch self {
        case .node, .key, .collection, .segment: true
        case .deleted, .lost, .damaged, .nothing: false
        }
    }
}

/// Creates the summaries of the records of one snapshot.
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
        summary.identifier = entry.shownIdentifier
        summary.nameSpace = entry.nameSpace
        return summary
    }

    private func summary(of handle: Handle, _ stored: StoredRecord) throws -> RecordSummary {
        let state = try inspection.state(of: handle)
        let name = RecordName(stored)
        var summary = RecordSummary(
            identifier: name.kind.isRecord ? name.identifier : nil, kind: name.kind,
            bytes: try bytes(of: handle, stored),
            // A missing record has no reference counts. The page of counts would give it those of
            // a record without references.
            references: name.kind == .nothing ? 0 : state.map { Int(clamping: $0.referenceCount) })
        if let state, state.stamp > .never, state.stamp <= commit {
            summary.age = Int(clamping: commit.rawValue - state.stamp.rawValue)
            summary.time = ages.age(of: state.stamp)
        }
        summary.written = state.flatMap(inspection.age)
        summary.isPinned = name.kind != .nothing && pinned.contains(handle)
        if case .record(let record) = stored {
            summary.types = record.shape.types
            summary.rawBytes = try rawBytes(of: record)
            summary.children = record.elementCount ?? record.children.count
        }
        return summary
    }

    /// Returns the stored bytes of a record; of a collection, with its segments.
    func bytes(of handle: Handle, _ stored: StoredRecord) throws -> Int {
        let own = try inspection.storedByteCount(of: handle) ?? 0
        guard case .record(let record) = stored, record.nameSpace == .collection else { return own }
        return try record.children.reduce(own) {
            try $0 + (inspection.storedByteCount(of: $1) ?? 0)
        }
    }

    /// Returns the bytes before compression, or nil if a segment cannot be read.
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
#endif
