import EspalierRecords
import EspalierStore

extension RecordLine {
    /// The line of a stored record that is no segment. Throws a `FormatError` when what it holds
    /// can't be read.
    ///
    /// `references` is how a reference is written.
    init(
        _ record: Record, in inspection: Inspection, references: (Handle) throws -> JSONValue
    ) throws {
        func json(_ value: RecordValue, _ children: [Handle]) throws -> JSONValue {
            try ValueNotation.json(value) { ordinal in
                guard children.indices.contains(ordinal) else {
                    throw FormatError.malformed("a child that is not in the record")
                }
                return try references(children[ordinal])
            }
        }
        identifier = record.identifier
        switch record.nameSpace {
        case .node:
            let fields = try record.fields().map { field, value in
                Field(
                    name: field.name, value: try json(value, record.children),
                    declarers: field.declarers)
            }
            let isOnCycle =
                try inspection.state(of: record.handle)?.flags.contains(.onCycle) ?? false
            content = .node(types: record.shape.types, fields: fields, isOnCycle: isOnCycle)
        case .key: content = .key(try json(try record.keyValue(), record.children))
        case .collection:
            content = .collection(
                try inspection.elements(of: record).map { try json($0.value, $0.children) })
        case .segment: throw FormatError.malformed("a segment by itself")
        }
    }
}
