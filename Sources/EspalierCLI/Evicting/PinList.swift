import EspalierRecords
import EspalierStore

/// What is pinned, and whether something is.
struct PinList {
    private let pins: [IndexEntry]

    init(_ inspection: Inspection) throws { pins = try inspection.pins }

    func contains(_ entry: EntryOptions.Entry) -> Bool {
        let (nameSpace, name): (NameSpace, String) =
            switch entry {
            case .node(let identifier): (.node, identifier)
            case .collection(let key): (.collection, key)
            case .key(let key): (.key, key)
            }
        return pins.contains {
            $0.nameSpace == nameSpace && Identifier($0.identifier) == Identifier(name)
        }
    }

    /// In the order of nodes and collections, each by their names.
    func summaries(in inspection: Inspection) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        return try pins.map { try reader.summary(of: $0, try inspection.record(of: $0)) }
    }
}
