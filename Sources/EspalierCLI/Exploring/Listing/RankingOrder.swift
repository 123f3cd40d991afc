import ArgumentParser
import EspalierRecords
import EspalierStore

/// What `top` ranks records by.
enum RankingOrder: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// The largest first, collections with their segments.
    case size
    /// Those that most records refer to first; those that nothing refers to are left out.
    case refs
    /// Roots, in the order in which they would be evicted.
    case age

    func summaries(in inspection: Inspection, limit: Int) throws -> [RecordSummary] {
        let reader = try RecordSummaries(inspection)
        return try handles(reader, limit: limit).map(reader.summary)
    }

    private func handles(_ reader: RecordSummaries, limit: Int) throws -> [Handle] {
        let inspection = reader.inspection
        guard self != .age else {
            var handles: [Handle] = []
            try inspection.forEachRoot { handle, _ in
                handles.append(handle)
                return handles.count < limit
            }
            return handles
        }
        var ranking = Ranking(limit: limit)
        try inspection.forEachRecord { handle, stored in
            if case .record(let record) = stored, record.nameSpace == .segment { return true }
            if self == .size {
                ranking.add(handle, score: try reader.bytes(of: handle, stored))
            } else {
                let count = Int(clamping: try inspection.state(of: handle)?.referenceCount ?? 0)
                if count > 0 { ranking.add(handle, score: count) }
            }
            return true
        }
        return ranking.handles
    }
}
