import EspalierRecords
import EspalierStore

extension EntryOptions.Entry {
    /// What the index has under that name; nil if there is nothing.
    func indexEntry(in inspection: Inspection) throws -> IndexEntry? {
        switch self {
        case .node(let identifier): try inspection.entry(of: identifier, in: .node)
        case .collection(let key): try inspection.entry(of: key, in: .collection)
        case .key(let key):
            try inspection.entry(of: key, in: .key) ?? inspection.entry(of: key, in: .node)
        }
    }
}
