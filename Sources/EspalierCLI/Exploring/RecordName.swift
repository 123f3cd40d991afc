import EspalierRecords
import EspalierStore

/// What a record is and what it is called.
struct RecordName: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case node, key, collection
        /// A run of a collection's elements, which its collection names.
        case segment
        /// Deleted, and still referred to: it has no identifier any more.
        case deleted
        case lost, damaged
        /// There is no record: a reference to it dangles.
        case nothing = "dangling"
    }

    let kind: Kind
    /// Empty where there is none.
    let identifier: String
}

extension RecordName.Kind {
    init(_ nameSpace: NameSpace) {
        self =
            switch nameSpace {
            case .node: .node
            case .key: .key
            case .collection: .collection
            case .segment: .segment
            }
    }
}

extension RecordName {
    init(_ record: Record) {
        identifier = record.identifier
        kind = Kind(record.nameSpace)
    }

    init(_ stored: StoredRecord) {
        switch stored {
        case .record(let record): self.init(record)
        case .deleted: self.init(kind: .deleted, identifier: "")
        case .lost: self.init(kind: .lost, identifier: "")
        case .damaged: self.init(kind: .damaged, identifier: "")
        case .nothing: self.init(kind: .nothing, identifier: "")
        }
    }

    /// For a person: what stands in place of an identifier is in brackets.
    var shown: String {
        switch kind {
        case .node: identifier
        case .key, .collection: "\(kind.rawValue) \(identifier)"
        case .segment, .deleted, .lost, .damaged, .nothing: "(\(kind.rawValue))"
        }
    }

    var style: TextStyle {
        switch kind {
        case .node, .key, .collection, .segment: .name
        case .deleted: .faint
        case .lost, .damaged, .nothing: .bad
        }
    }

    var cell: Cell { .text(shown, style) }
}

/// The names of records by handle, each looked up once.
struct RecordNames {
    private let inspection: Inspection
    private var known: [Handle: RecordName] = [:]

    init(_ inspection: Inspection) { self.inspection = inspection }

    subscript(handle: Handle) -> RecordName {
        mutating get throws {
            if let name = known[handle] { return name }
            let name = RecordName(try inspection.record(handle))
            known[handle] = name
            return name
        }
    }
}
