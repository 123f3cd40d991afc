import EspalierRecords
import EspalierStore

/// Which records `ls` lists.
struct EntryQuery: Sendable {
    /// In the order they are listed in.
    var nameSpaces: [NameSpace] = [.node, .key, .collection]
    var glob: Glob?
    var type: String?
    var limit: Int?

    /// The records by identifier, in the order of the index. Walks only those that begin as the
    /// pattern does, and no further than the limit.
    func summaries(in inspection: Inspection) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        var found: [RecordSummary] = []
        var isDone: Bool { limit.map { found.count >= $0 } ?? false }
        for nameSpace in nameSpaces where !isDone {
            try inspection.forEachEntry(of: nameSpace, startingWith: glob?.literalPrefix ?? "") {
                entry in
                guard matches(entry) else { return true }
                let stored = try inspection.record(of: entry)
                guard matches(stored) else { return true }
                found.append(try reader.summary(of: entry, stored))
                return !isDone && glob?.isLiteral != true
            }
        }
        return found
    }

    private func matches(_ entry: IndexEntry) -> Bool {
        // Of an identifier that is cut off nobody knows whether it matches; it begins as it should.
        guard let glob, entry.isWhole else { return true }
        return glob.matches(entry.identifier)
    }

    private func matches(_ stored: StoredRecord) -> Bool {
        guard let type else { return true }
        guard case .record(let record) = stored else { return false }
        return record.shape.types.contains { $0.hasSameBytes(as: type) }
    }
}
