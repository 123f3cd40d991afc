import EspalierRecords
import EspalierStore

/// A record as `ls` and `top` list it: what it costs, and what needs it.
struct RecordSummary: Sendable, Equatable {
    /// Nil where nothing but the record had it, and the record can't be read.
    var identifier: String?
    var kind: RecordName.Kind
    /// What the index says it is; nil where the index was not asked.
    var nameSpace: NameSpace?
    var types: [String] = []
    /// As stored; a collection's with those of its segments.
    var bytes: Int
    /// The same before compression; nil where a record of it can't be read.
    var rawBytes: Int?
    /// How many records refer to it; nil where that is damaged.
    var references: Int?
    /// How many records it refers to; of a collection, how many elements it has.
    var children: Int?
    /// Accesses and writes, of whatever, since it was last accessed, where that is known.
    var age: Int?
    /// The same in time.
    var time: Duration?
    var isPinned = false
}

extension RecordSummary {
    static let columns: [Report.Column] = [
        .left("identifier"), .left("kind"), .left("types", "type"), .right("bytes", "size"),
        .right("rawBytes", "raw"), .right("references", "refs"),
        .right("children"), .right("age"), .right("ageSeconds", "time"), .left("pinned"),
    ]

    static func report(of summaries: [RecordSummary]) -> Report {
        var report = Report(.list, columns: columns)
        for summary in summaries { report.append(summary.cells) }
        return report
    }

    private var cells: [Cell] {
        [
            identifier.map { .text($0, .name) } ?? .nothing,
            .text(kindShown, kind.isRecord ? .plain : .bad),
            .texts(types), .size(bytes), rawBytes.map(Cell.size) ?? .nothing,
            references.map(Cell.count) ?? .nothing, children.map(Cell.count) ?? .nothing,
            age.map(Cell.count) ?? .nothing, .seconds(time), .mark(isPinned),
        ]
    }

    /// "collection", "damaged collection", "damaged".
    private var kindShown: String {
        guard !kind.isRecord, let nameSpace else { return kind.rawValue }
        return "\(kind.rawValue) \(nameSpace)"
    }
}

extension RecordName.Kind {
    /// Whether there is something to read.
    var isRecord: Bool {
        switch self {
        case .node, .key, .collection, .segment: true
        case .deleted, .lost, .damaged, .nothing: false
        }
    }
}
